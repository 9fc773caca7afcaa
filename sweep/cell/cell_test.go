package cell

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"frontier/indexes"
	"frontier/indexes/engines"
	"frontier/internal/param"
	"frontier/internal/vector"
	"frontier/results/arrowfile"
)

func TestFramesRoundTrip(t *testing.T) {
	var pipe bytes.Buffer
	want := Request{Build: &BuildRequest{Engine: "flat", Params: param.Values{"a": "b"}, Seed: 1 << 60, Threads: 2}}
	for range 3 {
		if err := WriteFrame(&pipe, want); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		var got Request
		if err := ReadFrame(&pipe, &got); err != nil {
			t.Fatal(err)
		}
		if got.Build.Engine != "flat" || got.Build.Seed != 1<<60 || got.Measure != nil {
			t.Errorf("read %+v", got.Build)
		}
	}
	var none Request
	if err := ReadFrame(&pipe, &none); !errors.Is(err, io.EOF) {
		t.Errorf("the end of the pipe is %v", err)
	}
}

func TestBrokenFramesAreErrors(t *testing.T) {
	huge := binary.LittleEndian.AppendUint32(nil, maxFrame+1)
	for name, raw := range map[string][]byte{
		"half a length": {1, 0},
		"half a body":   {10, 0, 0, 0, '{'},
		"too large":     huge,
		"not JSON":      append([]byte{3, 0, 0, 0}, "abc"...),
	} {
		var r Reply
		if err := ReadFrame(bytes.NewReader(raw), &r); err == nil || errors.Is(err, io.EOF) && name != "half a length" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzReadFrame(f *testing.F) {
	var good bytes.Buffer
	if err := WriteFrame(&good, Reply{Progress: "x"}); err != nil {
		f.Fatal(err)
	}
	f.Add(good.Bytes())
	f.Add([]byte{255, 255, 255, 255})
	f.Fuzz(func(t *testing.T, raw []byte) {
		var r Reply
		if err := ReadFrame(bytes.NewReader(raw), &r); err != nil {
			return
		}
		var again bytes.Buffer
		if err := WriteFrame(&again, r); err != nil {
			t.Errorf("a frame that was read cannot be written: %v", err)
		}
	})
}

// serve runs one request through Serve, as a process would, without being one.
func serve(t *testing.T, req Request) Reply {
	t.Helper()
	in, parent := io.Pipe()
	defer parent.Close()
	go func() {
		if err := WriteFrame(parent, req); err != nil {
			t.Error(err)
		}
	}()
	var out bytes.Buffer
	code := Serve(in, &out, Registry{Engines: engines.All()}, func(int) {})
	if code != 0 {
		t.Fatalf("exit code %d", code)
	}
	for {
		var reply Reply
		if err := ReadFrame(&out, &reply); err != nil {
			t.Fatal(err)
		}
		if reply.Progress == "" {
			return reply
		}
	}
}

func writeVectors(t *testing.T, path string, rows [][]float32) {
	t.Helper()
	w, err := vector.CreateFbin(path, len(rows[0]))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if err := w.Append(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestBuildAndMeasure(t *testing.T) {
	dir := t.TempDir()
	base, queries, index := filepath.Join(dir, "base.fbin"), filepath.Join(dir, "queries.fbin"), filepath.Join(dir, "index")
	if err := os.Mkdir(index, 0o755); err != nil {
		t.Fatal(err)
	}
	writeVectors(t, base, [][]float32{{0, 0}, {1, 0}, {0, 2}, {5, 5}})
	writeVectors(t, queries, [][]float32{{0.9, 0}, {4, 4}})
	source := Source{Vectors: base, Metric: vector.L2}
	reply := serve(t, Request{Build: &BuildRequest{Engine: "flat", Source: source, Threads: 1, Dir: index}})
	if reply.Built == nil {
		t.Fatalf("reply %+v", reply)
	}
	reply = serve(t, Request{Measure: &MeasureRequest{
		Parts: []Part{{Engine: "flat", Source: source, Dir: index}}, QueryVectors: queries, Depth: 2,
		Points: []Point{{ID: "one", Search: []param.Values{{}}, Clients: 1}, {ID: "two", Search: []param.Values{{}}, Clients: 2}},
		Rounds: 3, MinTime: time.Millisecond, Warmup: 100 * time.Microsecond, Seed: 1, Threads: 1, Dir: dir,
	}})
	if reply.Measured == nil || len(reply.Measured.Points) != 2 {
		t.Fatalf("reply %+v", reply)
	}
	for _, p := range reply.Measured.Points {
		if p.Repetitions != 3 || p.Samples < 6 || p.Errors != 0 || p.QPS <= 0 {
			t.Errorf("point %+v", p)
		}
		answers, err := arrowfile.ReadAnswers(p.Answers)
		if err != nil {
			t.Fatal(err)
		}
		want := [][]int64{{1, 0}, {3, 2}}
		for q, a := range answers {
			if len(a.IDs) != 2 || a.IDs[0] != want[q][0] || a.IDs[1] != want[q][1] {
				t.Errorf("query %d got %v, want %v", q, a.IDs, want[q])
			}
		}
	}
}

func TestErrorsAreReplies(t *testing.T) {
	for name, req := range map[string]Request{
		"nothing":        {},
		"no such engine": {Build: &BuildRequest{Engine: "warp"}},
		"no such file":   {Build: &BuildRequest{Engine: "flat", Source: Source{Vectors: "/nowhere.fbin", Metric: vector.L2}}},
		"no queries":     {Measure: &MeasureRequest{}},
	} {
		if reply := serve(t, req); reply.Error == "" {
			t.Errorf("%s: %+v", name, reply)
		}
	}
}

// An end of the request pipe means that the parent is gone.
func TestOrphanExits(t *testing.T) {
	in, parent := io.Pipe()
	exited := make(chan int, 1)
	release := make(chan struct{})
	slow := indexes.Engine{Name: "slow", Build: slowBuild(release)}
	go func() {
		_ = WriteFrame(parent, Request{Build: &BuildRequest{Engine: "slow"}})
		_ = parent.Close()
	}()
	done := make(chan struct{})
	go func() {
		defer close(done)
		Serve(in, io.Discard, Registry{Engines: []indexes.Engine{slow}}, func(code int) { exited <- code })
	}()
	if code := <-exited; code == 0 {
		t.Error("an orphan exits as if all were well")
	}
	close(release)
	<-done
}

func TestAsksForMoreUntilDocumentsAreFound(t *testing.T) {
	// Ten chunks of one document come first; the other two documents follow.
	r := &retriever{depth: 2, documents: 3, docs: []int32{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2}, queries: []string{"x"}}
	r.parts = []indexes.Index{counting(12)}
	r.addClients(1)
	if err := r.Do(0, 0); err != nil {
		t.Fatal(err)
	}
	if c := r.clients[0]; c.asked != 16 || len(c.hits) != 12 {
		t.Errorf("asked for %d, got %d", c.asked, len(c.hits))
	}
	r.documents = 4 // there are only three: asking ends when nothing is left
	if err := r.Do(0, 0); err != nil {
		t.Fatal(err)
	}
	if c := r.clients[0]; c.asked != 16 {
		t.Errorf("asked for %d rows of 12", c.asked)
	}
}
