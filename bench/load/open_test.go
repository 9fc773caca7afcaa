package load

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// virtual is a clock that only waiting and answering move, and the target that answers. With one client, an open loop
// over it is computed and not measured, however long it is.
type virtual struct {
	now     time.Duration
	service func(n int) time.Duration // of the n-th query that is sent
	fail    func(n int) error
	n       int
	sent    []int // queries, if keep is set
	keep    bool
	kept    map[int]error
	keeping time.Duration // what keeping an answer takes
}

func newVirtual(service func(int) time.Duration) *virtual {
	return &virtual{service: service, kept: map[int]error{}}
}

func fixed(d time.Duration) func(int) time.Duration { return func(int) time.Duration { return d } }

func (v *virtual) clock() time.Duration     { return v.now }
func (v *virtual) wait(until time.Duration) { v.now = max(v.now, until) }

func (v *virtual) Do(_, query int) error {
	v.now += v.service(v.n)
	if v.keep {
		v.sent = append(v.sent, query)
	}
	v.n++
	if v.fail != nil {
		return v.fail(v.n - 1)
	}
	return nil
}

func (v *virtual) Keep(_, query int, _ time.Duration, err error) {
	v.kept[query] = err
	v.now += v.keeping
}

// open runs o with one client over v.
func (v *virtual) open(t testing.TB, o Open) *Block {
	t.Helper()
	o.Clients, o.Clock, o.Wait = 1, v.clock, v.wait
	if o.Order == nil {
		o.Order = []int{0}
	}
	b, err := RunOpen(context.Background(), v, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestOpenByArithmetic(t *testing.T) {
	// Arrivals every 10 ms, answers after 4 ms, except that the third takes 25 ms: the fourth waits 15 ms, the fifth 9,
	// the sixth 3, and the seventh does not wait.
	v := newVirtual(func(n int) time.Duration {
		if n == 2 {
			return 25 * time.Millisecond
		}
		return 4 * time.Millisecond
	})
	v.keep = true
	b := v.open(t, Open{Rate: 100, Arrivals: Constant, Order: []int{3, 1, 2}, Start: 1, MinTime: 75 * time.Millisecond, Slack: 4 * time.Millisecond})
	if want := []int{1, 2, 3, 1, 2, 3, 1, 2}; !slices.Equal(v.sent, want) {
		t.Errorf("sent %v, want %v", v.sent, want)
	}
	if b.Samples != 8 || b.Errors != 0 || b.Dropped != 0 || b.Late != 2 || b.Waited != 5 || b.Overslept != 0 {
		t.Errorf("%+v", b)
	}
	if b.Total != 80*time.Millisecond || b.ServiceTotal != 53*time.Millisecond || b.Longest != 25*time.Millisecond {
		t.Errorf("latency %v, service %v, longest %v", b.Total, b.ServiceTotal, b.Longest)
	}
	if b.Wall != 75*time.Millisecond || math.Abs(b.QPS()-8/0.075) > 1e-9 || b.Rate != 100 {
		t.Errorf("wall %v, %v a second at %v", b.Wall, b.QPS(), b.Rate)
	}
	if b.Next != 0 || !b.Covered || b.Service.TotalCount() != 8 || b.Histogram.TotalCount() != 8 {
		t.Errorf("%+v", b)
	}
}

// reference is an open loop with one client as one would write it down, over the same arrivals.
type reference struct {
	samples, dropped, late   int64
	total, service, end      time.Duration
	longest, worst, last, at time.Duration
}

func simulate(o Open, service func(int) time.Duration) reference {
	var r reference
	free, sent := time.Duration(0), 0
	for at := range Schedule(o.Arrivals, o.Rate, o.Seed) {
		if r.at = at; at >= o.Warmup+o.MinTime && (!o.EachOnce || r.samples-r.dropped >= int64(len(o.Order))) {
			return r
		}
		recorded := at >= o.Warmup
		start := max(free, at)
		if recorded {
			r.samples++
			r.last = at
		}
		if recorded && (start-at > o.Slack || start-at > o.MaxWait) {
			r.late++
		}
		if start-at > o.MaxWait {
			if recorded {
				r.dropped++
				r.worst = max(r.worst, start-at)
			}
			continue
		}
		took := service(sent)
		sent, free = sent+1, start+took
		if recorded {
			r.total, r.service = r.total+free-at, r.service+took
			r.longest, r.end = max(r.longest, free-at), free
		}
	}
	return r
}

func TestOpenIsAQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		times := rapid.SliceOfN(rapid.Int64Range(0, int64(50*time.Millisecond)), 1, 20).Draw(t, "service")
		service := func(n int) time.Duration { return time.Duration(times[n%len(times)]) }
		o := Open{
			Rate:     rapid.Float64Range(1, 500).Draw(t, "rate"),
			Arrivals: rapid.SampledFrom([]Arrivals{Poisson, Constant}).Draw(t, "arrivals"),
			Seed:     rapid.Uint64().Draw(t, "seed"),
			MaxWait:  time.Duration(rapid.Int64Range(1, int64(time.Second)).Draw(t, "most")),
			Slack:    time.Duration(rapid.Int64Range(1, int64(100*time.Millisecond)).Draw(t, "slack")),
			Order:    Order(rapid.IntRange(1, 100).Draw(t, "queries"), 1),
			Warmup:   time.Duration(rapid.Int64Range(0, int64(time.Second)).Draw(t, "warmup")),
			MinTime:  time.Duration(rapid.Int64Range(1, int64(2*time.Second)).Draw(t, "time")),
			EachOnce: rapid.Bool().Draw(t, "each once"),
			Keeper:   NewKeeper(100), Clients: 1,
		}
		v := newVirtual(service)
		o.Clock, o.Wait = v.clock, v.wait
		b, err := RunOpen(context.Background(), v, o)
		if err != nil {
			t.Fatal(err)
		}
		r := simulate(o, service)
		if b.Samples != r.samples || b.Dropped != r.dropped || b.Late != r.late || b.ServiceTotal != r.service {
			t.Fatalf("%+v, want %+v", b, r)
		}
		worst := max(r.longest, r.worst)
		if b.Longest != worst || b.Total != r.total+time.Duration(r.dropped)*worst || b.Histogram.TotalCount() != r.samples {
			t.Fatalf("longest %v, total %v, want %+v", b.Longest, b.Total, r)
		}
		if r.dropped > 0 && b.Longest < o.MaxWait {
			t.Fatalf("an arrival was dropped after %v, before %v", b.Longest, o.MaxWait)
		}
		until := o.Warmup + o.MinTime
		if r.last >= until {
			until = r.at
		}
		if want := max(until, r.end) - o.Warmup; r.samples > 0 && b.Wall != want {
			t.Fatalf("wall %v, want %v", b.Wall, want)
		}
		sent := r.samples - r.dropped
		if b.Service.TotalCount() != sent || b.Next != int(sent)%len(o.Order) || b.Covered != (sent >= int64(len(o.Order))) {
			t.Fatalf("%d were sent, want %d; next %d, covered %v", b.Service.TotalCount(), sent, b.Next, b.Covered)
		}
		if want := min(len(o.Order), int(sent)); len(v.kept) != want || (o.EachOnce && !b.Covered) {
			t.Fatalf("%d of %d answers were kept; covered: %v", len(v.kept), want, b.Covered)
		}
	})
}

// Every percentile is at least that of the same arrivals without any drop cut off at the longest wait: what was not
// answered does not make it better.
func TestDropsDoNotFlatter(t *testing.T) {
	o := Open{Rate: 150, Arrivals: Poisson, Seed: 5, MinTime: 20 * time.Second, MaxWait: 100 * time.Millisecond}
	service := fixed(10 * time.Millisecond)
	with := newVirtual(service).open(t, o)
	patient := o
	patient.MaxWait = time.Hour
	without := newVirtual(service).open(t, patient)
	if with.Dropped < 500 || without.Dropped != 0 || with.Samples != without.Samples {
		t.Fatalf("%d of %d dropped, and %d of %d", with.Dropped, with.Samples, without.Dropped, without.Samples)
	}
	for q := 1.0; q <= 100; q++ {
		got, all := with.Histogram.ValueAtQuantile(q), without.Histogram.ValueAtQuantile(q)
		if share := 100 * float64(with.Dropped) / float64(with.Samples); q > 100-share && got < int64(o.MaxWait) {
			t.Errorf("p%v is %v, but %.0f%% were dropped after %v", q, time.Duration(got), share, o.MaxWait)
		}
		if q > 50 && all < int64(o.MaxWait) {
			t.Fatalf("p%v without drops is %v: the test has no overload", q, time.Duration(all))
		}
	}
	if got := time.Duration(with.Histogram.ValueAtQuantile(100 - 100*float64(with.Dropped)/float64(with.Samples) + 0.1)); got < with.Longest*999/1000 {
		t.Errorf("a drop ranks at %v, before an answer that took %v", got, with.Longest)
	}
	if got, want := with.QPS(), 100.0; math.Abs(got-want) > 1 {
		t.Errorf("%v answers a second, want what the target can do, %v", got, want)
	}
}

// A pass over the queries is whole even if most arrivals are dropped.
func TestOpenEachOnceUnderOverload(t *testing.T) {
	v := newVirtual(fixed(10 * time.Millisecond))
	v.keep = true
	order := Order(50, 1)
	b := v.open(t, Open{Rate: 1000, Arrivals: Constant, Order: order, EachOnce: true, MaxWait: 10 * time.Millisecond, Keeper: NewKeeper(50)})
	if !slices.Equal(v.sent, order) || !b.Covered || len(v.kept) != 50 || b.Dropped < 400 {
		t.Errorf("%d dropped, sent %v", b.Dropped, v.sent)
	}
	stopped := newVirtual(fixed(10*time.Millisecond)).open(t, Open{Rate: 1000, Arrivals: Constant, Order: Order(500, 1), EachOnce: true, MaxTime: 100 * time.Millisecond, MaxWait: time.Second})
	if stopped.Covered || stopped.Samples != 100 || stopped.Wall != time.Second {
		t.Errorf("%+v", stopped)
	}
}

func TestOpenWarmup(t *testing.T) {
	v := newVirtual(fixed(time.Millisecond))
	v.keep = true
	b := v.open(t, Open{Rate: 100, Arrivals: Constant, Order: []int{0, 1, 2, 3}, Start: 1, Warmup: 55 * time.Millisecond, MinTime: 30 * time.Millisecond})
	if want := []int{0, 3, 2, 1, 0, 3, 1, 2, 3}; !slices.Equal(v.sent, want) {
		t.Errorf("sent %v, want %v", v.sent, want)
	}
	if b.Samples != 3 || b.Next != 0 || b.Covered || b.Wall != 30*time.Millisecond {
		t.Errorf("%+v", b)
	}
}

func TestTimeouts(t *testing.T) {
	// Closed: queries take 1, 2, 3, 4 ms.
	f := newFake(milliseconds)
	f.fail = func(q int) error {
		if q == 3 {
			return errors.New("its own failure, too late")
		}
		return nil
	}
	b, err := RunClosed(context.Background(), f, Closed{Clients: 1, Order: []int{0, 1, 2, 3}, EachOnce: true, Timeout: 2 * time.Millisecond, Keeper: NewKeeper(4), Clock: f.clock})
	if err != nil || b.Samples != 4 || b.Errors != 2 || b.TimedOut != 2 || b.Total != 10*time.Millisecond {
		t.Errorf("%+v, %v", b, err)
	}
	for q := range 4 {
		if errors.Is(f.errs[q], context.DeadlineExceeded) != (q >= 2) {
			t.Errorf("query %d was kept with %v", q, f.errs[q])
		}
	}
	if !strings.Contains(b.FirstError.Error(), "2ms") {
		t.Errorf("%v does not name the timeout", b.FirstError)
	}

	// Open: arrivals every ms and answers after 3 ms, so that latencies are 3, 5, 7, 9 ms.
	v := newVirtual(fixed(3 * time.Millisecond))
	b = v.open(t, Open{Rate: 1000, Arrivals: Constant, Order: []int{0, 1, 2, 3}, MinTime: 4 * time.Millisecond, Timeout: 5 * time.Millisecond, Keeper: NewKeeper(4)})
	if b.Samples != 4 || b.Errors != 2 || b.TimedOut != 2 || b.Total != 24*time.Millisecond {
		t.Errorf("%+v", b)
	}
	for q := range 4 {
		if errors.Is(v.kept[q], context.DeadlineExceeded) != (q >= 2) {
			t.Errorf("query %d was kept with %v", q, v.kept[q])
		}
	}
}

// A client is busy while it keeps an answer: what comes meanwhile waits, or is dropped.
func TestOpenIsBusyKeeping(t *testing.T) {
	v := newVirtual(fixed(time.Millisecond))
	v.keeping = 54 * time.Millisecond
	b := v.open(t, Open{Rate: 100, Arrivals: Constant, MinTime: 100 * time.Millisecond, MaxWait: 20 * time.Millisecond, Keeper: NewKeeper(1)})
	// The first is kept until 55 ms. Those due at 10, 20 and 30 ms are dropped, and those at 40 and 50 ms wait 15 and 6.
	if b.Dropped != 3 || b.Late != 5 || b.Waited != 5 || b.ServiceTotal != 7*time.Millisecond || b.Longest != 45*time.Millisecond || b.Wall != 100*time.Millisecond {
		t.Errorf("%+v", b)
	}
}

func TestOpenCountsFailures(t *testing.T) {
	v := newVirtual(fixed(time.Millisecond))
	v.fail = func(n int) error {
		if n == 1 {
			return errors.New("broken")
		}
		return nil
	}
	b := v.open(t, Open{Rate: 100, Arrivals: Constant, MinTime: 40 * time.Millisecond})
	if b.Samples != 4 || b.Errors != 1 || b.TimedOut != 0 || b.FirstError == nil || math.Abs(b.QPS()-75) > 1e-9 {
		t.Errorf("%+v", b)
	}
}

func TestOpenStops(t *testing.T) {
	cause := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	v := newVirtual(fixed(time.Millisecond))
	v.keep = true
	waits := 0
	// The wait for an arrival that is due in some 1,000 s is cut into pieces, and is over a few pieces after the second.
	b, err := RunOpen(ctx, v, Open{
		Rate: MinRate, Clients: 1, Order: []int{0}, MinTime: 24 * time.Hour, Clock: v.clock,
		Wait: func(until time.Duration) {
			if waits++; waits >= 2 {
				cancel(cause)
				time.Sleep(time.Millisecond) // lets the flag be set
			}
			v.wait(until)
		},
	})
	if !errors.Is(err, cause) || b.Samples != 0 || v.sent != nil {
		t.Errorf("%+v, %v, after %v", b, err, v.now)
	}
	if !math.IsNaN(b.QPS()) {
		t.Errorf("%v a second", b.QPS())
	}
	if b, err := RunOpen(ctx, v, Open{Rate: 1, Clients: 3, Order: []int{0}, MinTime: time.Hour}); !errors.Is(err, cause) || b.Samples != 0 {
		t.Errorf("already cancelled: %+v, %v", b, err)
	}
}

func TestOpenValidates(t *testing.T) {
	good := Open{Rate: 10, Clients: 1, Order: []int{0, 1}, MinTime: 1}
	for name, change := range map[string]func(*Open){
		"the rate":      func(o *Open) { o.Rate = 0 },
		"NaN":           func(o *Open) { o.Rate = math.NaN() },
		"+Inf":          func(o *Open) { o.Rate = math.Inf(1) },
		"bursts":        func(o *Open) { o.Arrivals = "bursts" },
		"slack -1":      func(o *Open) { o.Slack = -1 },
		"at most -1":    func(o *Open) { o.MaxWait = -1 },
		"belong":        func(o *Open) { o.Clock = Monotonic() },
		"clients":       func(o *Open) { o.Clients = 0 },
		"no queries":    func(o *Open) { o.Order = nil },
		"timeout -1":    func(o *Open) { o.Timeout = -1 },
		"least time":    func(o *Open) { o.MinTime = 0 },
		"less than":     func(o *Open) { o.MinTime, o.MaxTime = 2, 1 },
		"holds query 1": func(o *Open) { o.Keeper = NewKeeper(1) },
	} {
		o := good
		change(&o)
		if _, err := RunOpen(context.Background(), nothing{}, o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
