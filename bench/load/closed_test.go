package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// fake is a clock that only its own queries move, and the target that moves it. With one client, everything that is
// measured follows by arithmetic.
type fake struct {
	now  atomic.Int64
	took func(query int) time.Duration
	fail func(query int) error

	mu   sync.Mutex
	sent []int
	kept map[int][]time.Duration
	errs map[int]error
}

func newFake(took func(int) time.Duration) *fake {
	return &fake{took: took, kept: map[int][]time.Duration{}, errs: map[int]error{}}
}

func (f *fake) clock() time.Duration { return time.Duration(f.now.Load()) }

func (f *fake) Do(_, query int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sent = append(f.sent, query)
	f.now.Add(int64(f.took(query)))
	if f.fail != nil {
		return f.fail(query)
	}
	return nil
}

func (f *fake) Keep(_, query int, took time.Duration, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept[query] = append(f.kept[query], took)
	f.errs[query] = err
	f.now.Add(int64(time.Hour)) // must not be part of any latency
}

func milliseconds(query int) time.Duration { return time.Duration(query+1) * time.Millisecond }

func TestClosedByArithmetic(t *testing.T) {
	f := newFake(milliseconds)
	// Queries take 1, 2, 3, 4 ms. Warm-up of 5 ms sends 0, 1, 2 and ends at 6 ms. Recorded are 3, 0, 1, 2, 3: after
	// the first four 10 ms have passed, of 11.
	b, err := RunClosed(context.Background(), f, Closed{
		Clients: 1, Order: []int{0, 1, 2, 3}, Warmup: 5 * time.Millisecond, MinTime: 11 * time.Millisecond, Clock: f.clock,
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{0, 1, 2, 3, 0, 1, 2, 3}; !slices.Equal(f.sent, want) {
		t.Errorf("sent %v, want %v", f.sent, want)
	}
	if b.Samples != 5 || b.Errors != 0 || b.Wall != 14*time.Millisecond || b.Total != 14*time.Millisecond || b.Longest != 4*time.Millisecond {
		t.Errorf("%+v", b)
	}
	if b.Next != 0 || !b.Covered || b.Clients != 1 {
		t.Errorf("next %d, covered %v, clients %d", b.Next, b.Covered, b.Clients)
	}
	if got, want := b.QPS(), 5/0.014; math.Abs(got-want) > 1e-9 {
		t.Errorf("%v queries a second, want %v", got, want)
	}
	if got, want := b.Mean(), 0.014/5; math.Abs(got-want) > 1e-12 {
		t.Errorf("mean %v, want %v", got, want)
	}
	for q, want := range map[float64]time.Duration{1: 1e6, 50: 3e6, 100: 4e6} {
		got := time.Duration(b.Histogram.ValueAtQuantile(q))
		if diff := got - want; diff < -want/1000 || diff > want/1000 {
			t.Errorf("p%v is %v, want %v", q, got, want)
		}
	}
	if b.Histogram.TotalCount() != b.Samples {
		t.Errorf("the histogram holds %d of %d", b.Histogram.TotalCount(), b.Samples)
	}
}

func TestClosedKeepsFirstAnswersOnly(t *testing.T) {
	f := newFake(milliseconds)
	failure := errors.New("no answer")
	f.fail = func(q int) error {
		if q == 2 {
			return fmt.Errorf("query: %w", failure)
		}
		return nil
	}
	keeper := NewKeeper(5)
	c := Closed{
		Clients: 1, Order: []int{4, 2, 0, 1}, MinTime: time.Millisecond, Warmup: time.Millisecond,
		EachOnce: true, Keeper: keeper, Clock: f.clock,
	}
	for range 3 {
		b, err := RunClosed(context.Background(), f, c)
		if err != nil || !b.Covered {
			t.Fatal(b, err)
		}
		c.Start = b.Next
	}
	if keeper.Left() != 1 {
		t.Errorf("%d queries are left, want only query 3, which is not in the order", keeper.Left())
	}
	for _, q := range c.Order {
		if got := f.kept[q]; len(got) != 1 || got[0] != milliseconds(q) {
			t.Errorf("query %d was kept with %v", q, got)
		}
		if (f.errs[q] != nil) != (q == 2) {
			t.Errorf("query %d was kept with the error %v", q, f.errs[q])
		}
	}
}

func TestClosedCountsFailures(t *testing.T) {
	f := newFake(milliseconds)
	f.fail = func(q int) error {
		switch q {
		case 1:
			return fmt.Errorf("asking: %w", context.DeadlineExceeded)
		case 2:
			return errors.New("broken")
		}
		return nil
	}
	b, err := RunClosed(context.Background(), f, Closed{Clients: 1, Order: []int{0, 1, 2, 3}, EachOnce: true, Clock: f.clock})
	if err != nil {
		t.Fatal(err)
	}
	if b.Samples != 4 || b.Errors != 2 || b.TimedOut != 1 || b.Histogram.TotalCount() != 4 {
		t.Errorf("%+v", b)
	}
	if !errors.Is(b.FirstError, context.DeadlineExceeded) {
		t.Errorf("first error %v", b.FirstError)
	}
	if got, want := b.QPS(), 2/0.010; math.Abs(got-want) > 1e-9 {
		t.Errorf("%v queries a second, want %v: failures are no answers", got, want)
	}
}

func TestClosedMaxTime(t *testing.T) {
	f := newFake(func(int) time.Duration { return time.Second })
	b, err := RunClosed(context.Background(), f, Closed{
		Clients: 1, Order: Order(100, 1), MinTime: time.Second, MaxTime: 3 * time.Second, EachOnce: true, Clock: f.clock,
	})
	if err != nil || b.Samples != 3 || b.Covered || b.Next != 3 {
		t.Errorf("%+v, %v", b, err)
	}
}

func TestClosedClips(t *testing.T) {
	f := newFake(func(int) time.Duration { return 11 * time.Minute })
	b, err := RunClosed(context.Background(), f, Closed{Clients: 1, Order: []int{0}, EachOnce: true, Clock: f.clock})
	if err != nil || b.Clipped != 1 || b.Longest != 11*time.Minute || b.Histogram.TotalCount() != 1 {
		t.Errorf("%+v, %v", b, err)
	}
}

func TestClosedStops(t *testing.T) {
	cause := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	f := newFake(func(q int) time.Duration {
		if q == 2 {
			cancel(cause)
		}
		if ctx.Err() != nil {
			time.Sleep(time.Millisecond) // lets the flag be set before an hour of queries has passed
		}
		return time.Second
	})
	b, err := RunClosed(ctx, f, Closed{Clients: 1, Order: []int{0, 1, 2, 3, 4}, MinTime: time.Hour, Clock: f.clock})
	if !errors.Is(err, cause) || b == nil || b.Samples < 3 || b.Samples == 3600 {
		t.Errorf("%+v, %v", b, err)
	}
	again, err := RunClosed(ctx, f, Closed{Clients: 1, Order: []int{0}, MinTime: time.Hour, Warmup: time.Hour, Clock: f.clock})
	if !errors.Is(err, cause) || again.Samples != 0 {
		t.Errorf("already cancelled: %+v, %v", again, err)
	}
}

// Two clients that look at the end of a pass at the same time do not both go past it.
func TestClosedEachOnceIsOnePass(t *testing.T) {
	order := Order(50, 3)
	for range 2000 {
		b, err := RunClosed(context.Background(), nothing{}, Closed{Clients: 4, Order: order, EachOnce: true})
		if err != nil || b.Samples != 50 || b.Next != 0 || !b.Covered {
			t.Fatalf("%+v, %v", b, err)
		}
	}
}

// Whatever the clients do to each other, every query is sent as often as any other, give or take one round, the
// histogram holds them all, and each first answer is kept once.
func TestClosedManyClients(t *testing.T) {
	f := newFake(func(int) time.Duration { return time.Microsecond })
	order := Order(500, 7)
	keeper := NewKeeper(500)
	b, err := RunClosed(context.Background(), f, Closed{
		Clients: 8, Order: order, Start: -3, MinTime: 2 * time.Millisecond, EachOnce: true, Keeper: keeper, Clock: f.clock,
	})
	if err != nil {
		t.Fatal(err)
	}
	if b.Samples != int64(len(f.sent)) || b.Samples < 500 || !b.Covered || keeper.Left() != 0 || len(f.kept) != 500 {
		t.Errorf("%d samples, %d sent, %d left, %d kept", b.Samples, len(f.sent), keeper.Left(), len(f.kept))
	}
	if want := mod(-3+len(f.sent), 500); b.Next != want {
		t.Errorf("next is %d, want %d", b.Next, want)
	}
	counts := map[int]int{}
	for _, q := range f.sent {
		counts[q]++
	}
	for q, n := range counts {
		if least := len(f.sent) / 500; n < least || n > least+1 {
			t.Errorf("query %d was sent %d times, want %d or one more", q, n, least)
		}
		if len(f.kept[q]) != 1 {
			t.Errorf("query %d was kept %d times", q, len(f.kept[q]))
		}
	}
}

func TestClosedRealClock(t *testing.T) {
	b, err := RunClosed(context.Background(), nothing{}, Closed{Clients: 2, Order: Order(10, 1), MinTime: 5 * time.Millisecond})
	if err != nil || b.Wall < 5*time.Millisecond || b.Samples < 100 {
		t.Errorf("%+v, %v", b, err)
	}
	if got := Overhead(); got <= 0 || got > time.Millisecond {
		t.Errorf("an overhead of %v cannot be right", got)
	}
}

func TestClosedValidates(t *testing.T) {
	good := Closed{Clients: 1, Order: []int{0, 1}, MinTime: 1}
	for name, change := range map[string]func(*Closed){
		"clients":       func(c *Closed) { c.Clients = 0 },
		"no queries":    func(c *Closed) { c.Order = nil },
		"negative time": func(c *Closed) { c.Warmup = -1 },
		"least time":    func(c *Closed) { c.MinTime = 0 },
		"less than":     func(c *Closed) { c.MinTime, c.MaxTime = 2, 1 },
		"holds query 1": func(c *Closed) { c.Keeper = NewKeeper(1) },
		"query -1":      func(c *Closed) { c.Order = []int{-1} },
	} {
		c := good
		change(&c)
		if _, err := RunClosed(context.Background(), nothing{}, c); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type panicking struct{ nothing }

func (panicking) Do(int, int) error { panic("the index is broken") }

func TestClosedDiesOfPanics(t *testing.T) {
	if os.Getenv("FRONTIER_TEST_PANIC") != "" {
		_, err := RunClosed(context.Background(), panicking{}, Closed{Clients: 2, Order: []int{0}, EachOnce: true})
		t.Log("survived", err)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestClosedDiesOfPanics$")
	cmd.Env = append(os.Environ(), "FRONTIER_TEST_PANIC=1")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || !strings.Contains(string(out), "panic: the index is broken") {
		t.Errorf("%v: %s", err, out)
	}
}

// Ten times the queries must not cost one allocation more.
func TestClosedAllocatesNothingPerQuery(t *testing.T) {
	run := func(queries int) float64 {
		order, keeper := Order(queries, 1), NewKeeper(queries)
		clock := Monotonic()
		return testing.AllocsPerRun(5, func() {
			b := Closed{Clients: 1, Order: order, EachOnce: true, Keeper: keeper, Clock: clock}.run(context.Background(), nothing{})
			if b.Samples != int64(queries) {
				t.Fatalf("%d samples", b.Samples)
			}
		})
	}
	if few, many := run(1000), run(100_000); many-few > 1 {
		t.Errorf("%v allocations for 1,000 queries and %v for 100,000", few, many)
	}
	c := client{shared: &shared{Closed: Closed{Clients: 1, Order: Order(10, 1), EachOnce: true, Keeper: NewKeeper(10), Clock: Monotonic()}, target: nothing{}}, block: Block{Histogram: newHistogram()}}
	if n := testing.AllocsPerRun(100, func() {
		c.first = c.next.Load()
		c.measure()
	}); n != 0 {
		t.Errorf("%v allocations for ten queries", n)
	}
}

func TestOrder(t *testing.T) {
	a := Order(100, 5)
	if !slices.Equal(a, Order(100, 5)) || slices.Equal(a, Order(100, 6)) {
		t.Error("the order does not follow the seed")
	}
	sorted := slices.Sorted(slices.Values(a))
	for i, q := range sorted {
		if q != i {
			t.Fatalf("not a permutation: %v", a)
		}
	}
	if len(Order(0, 1)) != 0 || len(Order(-1, 1)) != 0 {
		t.Error("an order of nothing holds something")
	}
}
