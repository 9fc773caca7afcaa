package sweep

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"frontier/sweep/file"
)

func TestEstimateBuild(t *testing.T) {
	history := []buildSize{
		{Engine: "graph", Params: "M=8", Values: 1000, Peak: 5000},
		{Engine: "graph", Params: "M=8", Values: 1000, Peak: 6000}, // of two, the larger
		{Engine: "graph", Params: "M=64", Values: 1000, Peak: 20000},
		{Engine: "graph", Params: "M=8", Values: 10, Peak: 10000}, // mostly what every build takes
		{Engine: "tiny", Params: "", Values: 10, Peak: 10000},
		{Engine: "empty", Params: "", Values: 0, Peak: 10000},
	}
	for name, c := range map[string]struct {
		b          buildSize
		valueBytes int64
		want       int64
		learned    bool
	}{
		"same parameters":      {buildSize{Engine: "graph", Params: "M=8", Values: 2000}, 4, 12000, true},
		"other parameters":     {buildSize{Engine: "graph", Params: "M=16", Values: 2000}, 4, 40000, true},
		"ten times larger":     {buildSize{Engine: "graph", Params: "M=8", Values: 10000}, 4, 60000, true},
		"too large to compare": {buildSize{Engine: "graph", Params: "M=8", Values: 10001}, 4, guessBase + 3*4*10001, false},
		"never seen":           {buildSize{Engine: "new", Values: 1000}, 4, guessBase + 3*4*1000, false},
		"text":                 {buildSize{Engine: "new", Values: 1000}, 1, guessBase + 3*1000, false},
		"only tiny ones":       {buildSize{Engine: "tiny", Values: 1000}, 4, guessBase + 3*4*1000, false},
		"nothing in it":        {buildSize{Engine: "empty", Values: 1000}, 4, guessBase + 3*4*1000, false},
	} {
		if got := estimateBuild(c.b, c.valueBytes, history); got.bytes != c.want || (got.basis != "") != c.learned {
			t.Errorf("%s: %d bytes by %q, want %d", name, got.bytes, got.basis, c.want)
		}
	}
}

func TestAdmissionBudget(t *testing.T) {
	for name, c := range map[string]struct {
		free, limit int64
		jobs        int
		want        int64
	}{
		"free memory alone": {1000, 0, 2, 800},
		"limit is less":     {1000, 100, 2, 200},
		"limit is more":     {1000, 900, 2, 800},
		"unknown":           {0, 0, 2, 0},
		"only the limit":    {0, 100, 3, 300},
	} {
		if got := newAdmission(c.free, c.limit, c.jobs).total; got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}

func TestAdmission(t *testing.T) {
	for name, c := range map[string]struct {
		free, limit int64
		e           estimate
		wantLimit   int64
		refused     bool
	}{
		"fits":                         {1000, 0, estimate{700, "seen"}, 0, false},
		"known not to fit":             {1000, 0, estimate{900, "seen"}, 0, true},
		"guessed not to fit":           {1000, 0, estimate{900, ""}, 800, false},
		"bounded by the limit":         {1000, 300, estimate{900, "seen"}, 300, false},
		"limit beyond what is free":    {1000, 5000, estimate{900, "seen"}, 0, true},
		"guess, limit beyond":          {1000, 5000, estimate{900, ""}, 800, false},
		"nothing is known of the room": {0, 0, estimate{1 << 50, "seen"}, 0, false},
	} {
		limit, release, err := newAdmission(c.free, c.limit, 1).admit(t.Context(), c.e)
		var failed *cellError
		if errors.As(err, &failed) != c.refused || !c.refused && err != nil || limit != c.wantLimit {
			t.Errorf("%s: limit %d, error %v", name, limit, err)
		}
		if err == nil {
			release()
		}
	}
}

// However builds come, those that run together never need more than there is, and all of them run.
func TestAdmissionNeverExceedsTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdmission(1000, 0, 8)
		var taken, most, together, mostTogether atomic.Int64
		var group sync.WaitGroup
		var ran atomic.Int64
		for i := range 200 {
			need := int64(i%8+1) * 100
			group.Go(func() {
				_, release, err := a.admit(t.Context(), estimate{need, "seen"})
				if err != nil {
					t.Error(err)
					return
				}
				defer release()
				ran.Add(1)
				raise(&most, taken.Add(need))
				raise(&mostTogether, together.Add(1))
				time.Sleep(time.Second)
				taken.Add(-need)
				together.Add(-1)
			})
		}
		group.Wait()
		if ran.Load() != 200 || most.Load() > a.total || mostTogether.Load() < 2 {
			t.Errorf("%d builds ran, %d at once, with at most %d of %d bytes", ran.Load(), mostTogether.Load(), most.Load(), a.total)
		}
	})
}

func raise(most *atomic.Int64, v int64) {
	for old := most.Load(); v > old && !most.CompareAndSwap(old, v); old = most.Load() {
	}
}

func TestAdmissionEndsWithItsContext(t *testing.T) {
	a := newAdmission(1000, 0, 2)
	_, release, err := a.admit(t.Context(), estimate{800, "seen"})
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := a.admit(ctx, estimate{1, "seen"}); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting for room ended with %v", err)
	}
}

// A build is estimated from those in the cache, and one that cannot fit is not begun.
func TestBuildThatCannotFitIsARow(t *testing.T) {
	needsProc(t)                                                                                        // memory of builds is read there
	p := newPlace(t, strings.Replace(vectorSweep, "{engine: flat}", "{engine: hoard, bytes: 4096}", 1)) // 600 x 16 values: 37.5 MiB
	if s := p.run(); s.Failed != 0 {
		t.Fatalf("summary %+v", s)
	}
	p.yaml = strings.Replace(p.yaml, "n: 600", "n: 1200", 1) // 75 MiB
	for _, c := range []struct {
		free int64
		want string
	}{{60 << 20, "was not begun: it needs about"}, {200 << 20, ""}} {
		free, want := c.free, c.want
		p.write("sweep.yaml", p.yaml)
		f, err := file.Read(p.dir+"/sweep.yaml", testRegistry(), nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := newRunner(f, Options{Out: t.TempDir(), Cache: p.cache, Jobs: 1, Registry: testRegistry(), Command: testCommand})
		if err != nil {
			t.Fatal(err)
		}
		r.available = func() int64 { return free }
		if err := errors.Join(r.run(t.Context()), r.cache.Close()); err != nil {
			t.Fatal(err)
		}
		p.out = r.opt.Out
		for _, row := range p.rows() {
			text, _ := row["error"].(string)
			if want == "" && text != "" || !strings.Contains(text, want) || want != "" && !strings.Contains(text, "limits.memory") {
				t.Errorf("with %d MiB free: status %v, error %q", free>>20, row["status"], text)
			}
		}
	}
}
