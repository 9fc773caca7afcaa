package sweep

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"frontier/indexes"
	"frontier/indexes/engines"
	"frontier/internal/param"

	"golang.org/x/sys/unix"
)

// witnessEnv names a file to which the engines of a test write when they build, are loaded and are closed.
const witnessEnv = "FRONTIER_TEST_WITNESS"

// testEngines are all engines, one that fails in the way that its parameter says, one that
// takes memory to build, and one that can be slowed down.
func testEngines() []indexes.Engine {
	all := append(engines.All(), badEngine(), hoardEngine(), slowEngine(), leakyEngine(), wildEngine())
	if path := os.Getenv(witnessEnv); path != "" {
		for i := range all {
			watch(&all[i], path)
		}
	}
	return all
}

func badEngine() indexes.Engine {
	bad := *indexes.Find(engines.All(), "flat")
	bad.Name = "bad"
	bad.Params = []param.Spec{{Name: "how", Type: param.String, Default: "error", Doc: "How building fails."}}
	bad.Check = nil
	bad.Describe = func(param.Values) (string, string, map[string]int64) { return "bad", "bad", nil }
	bad.Build = func(_ context.Context, _ indexes.Input, build param.Values) (indexes.Built, error) {
		return indexes.Built{}, fail(build.Str("how"))
	}
	return bad
}

// wildEngine answers with a row that is not there.
func wildEngine() indexes.Engine {
	wild := *indexes.Find(engines.All(), "flat")
	wild.Name = "wild"
	inner := wild.Load
	wild.Load = func(ctx context.Context, dir string, in indexes.Input, params param.Values) (indexes.Index, error) {
		x, err := inner(ctx, dir, in, params)
		return wildIndex{x}, err
	}
	return wild
}

type wildIndex struct{ indexes.Index }

func (x wildIndex) Search(q indexes.Query, k int, dst []indexes.Hit) ([]indexes.Hit, error) {
	hits, err := x.Index.Search(q, k, dst)
	if len(hits) > 0 {
		hits[0].ID = int64(x.Len())
	}
	return hits, err
}

func fail(how string) error {
	switch how {
	case "panic":
		panic("the engine broke")
	case "exit":
		os.Exit(2) // what a crash in C++ looks like
	case "fault":
		page, err := unix.Mmap(-1, 0, 4096, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			return err
		}
		fmt.Fprintln(os.Stderr, "last words of the engine")
		page[0] = 1 // no recover helps
	case "shout":
		fmt.Fprintln(os.Stderr, strings.Repeat("the engine shouts. ", 10_000))
		panic(strings.Repeat("the engine broke. ", 1000))
	case "eat":
		for hoard := [][]byte{}; ; {
			hoard = append(hoard, touched(1<<20))
		}
	case "leap": // more at once than the guard could stop in time
		_, err := unix.Mmap(-1, 0, 16<<30, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			return fmt.Errorf("allocate as malloc does: %w", err)
		}
	case "sleep":
		time.Sleep(time.Hour)
	case "block":
		for { // in the kernel, as C code would be; a signal of Go's scheduler ends the wait
			_, _ = unix.Select(0, nil, nil, nil, &unix.Timeval{Sec: 3600})
		}
	case "spin":
		for turns := 1; turns > 0; turns = turns&1023 + 1 { // what C code that hangs does
		}
	}
	return fmt.Errorf("the engine said no")
}

// touched is memory that is really there.
func touched(n int) []byte {
	block := make([]byte, n)
	for i := 0; i < len(block); i += 4096 {
		block[i] = 1
	}
	return block
}

// hoardEngine is exact search that takes some memory for each value that it builds from.
func hoardEngine() indexes.Engine {
	hoard := *indexes.Find(engines.All(), "flat")
	build := hoard.Build
	hoard.Name = "hoard"
	hoard.Params = []param.Spec{{Name: "bytes", Type: param.Int, Default: int64(0), Min: 0, Max: 1 << 20, Doc: "What building takes for each value."}}
	hoard.Check = nil
	hoard.Describe = func(v param.Values) (string, string, map[string]int64) {
		return "hoard", fmt.Sprintf("hoard %d", v.Int("bytes")), nil
	}
	hoard.Build = func(ctx context.Context, in indexes.Input, v param.Values) (indexes.Built, error) {
		block := touched(int(v.Int("bytes")) * in.Vectors.Len() * in.Vectors.Dim())
		time.Sleep(20 * time.Millisecond) // long enough to be seen
		if len(block) > 0 && block[0] != 1 {
			return indexes.Built{}, fmt.Errorf("the memory is not there")
		}
		return build(ctx, in, param.Values{})
	}
	load := hoard.Load
	hoard.Load = func(ctx context.Context, dir string, in indexes.Input, _ param.Values) (indexes.Index, error) {
		return load(ctx, dir, in, param.Values{})
	}
	return hoard
}

// slowEngine is hnswlib, or exact search where that is absent, of which each search takes some percent longer.
func slowEngine() indexes.Engine {
	slow := *indexes.Find(engines.All(), "flat")
	if h := indexes.Find(engines.All(), "hnswlib"); h.Absent == "" {
		slow = *h
	}
	load, inner := slow.Load, slow.Search
	slow.Name = "slow"
	slow.Search = append(slices.Clone(inner), param.Spec{Name: "percent", Type: param.Int, Default: int64(0), Min: 0, Max: 1e6, Doc: "How much longer a search takes."})
	if check := slow.Check; check != nil {
		slow.Check = func(build, search param.Values, n, dim int) error {
			return check(build, without(search, "percent"), n, dim)
		}
	}
	slow.Load = func(ctx context.Context, dir string, in indexes.Input, v param.Values) (indexes.Index, error) {
		index, err := load(ctx, dir, in, v)
		return &slowIndex{Index: index}, err
	}
	return slow
}

func without(v param.Values, name string) param.Values {
	v = maps.Clone(v)
	delete(v, name)
	return v
}

type slowIndex struct {
	indexes.Index
	percent int64
}

func (s *slowIndex) Set(search param.Values, depth int) (param.Values, []string, error) {
	s.percent = int64(search.Int("percent"))
	effective, warnings, err := s.Index.Set(without(search, "percent"), depth)
	if effective != nil {
		effective = maps.Clone(effective)
		effective["percent"] = s.percent // or two points that differ in it would be one
	}
	return effective, warnings, err
}

func (s *slowIndex) Search(q indexes.Query, k int, dst []indexes.Hit) ([]indexes.Hit, error) {
	begin := time.Now()
	hits, err := s.Index.Search(q, k, dst)
	for end := time.Since(begin) * time.Duration(100+s.percent) / 100; time.Since(begin) < end; {
	}
	return hits, err
}

// deed is a line of the witness: what a process did, and when.
type deed struct {
	what string // build, load or close
	pid  int
	at   int64 // nanoseconds
}

func watch(e *indexes.Engine, path string) {
	build, load := e.Build, e.Load
	e.Build = func(ctx context.Context, in indexes.Input, v param.Values) (indexes.Built, error) {
		testify(path, "build")
		return build(ctx, in, v)
	}
	e.Load = func(ctx context.Context, dir string, in indexes.Input, v param.Values) (indexes.Index, error) {
		testify(path, "load")
		index, err := load(ctx, dir, in, v)
		return watched{index, path}, err
	}
}

type watched struct {
	indexes.Index
	path string
}

func (w watched) Close() error {
	testify(w.path, "close")
	return w.Index.Close()
}

func testify(path, what string) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintln(f, what, os.Getpid(), time.Now().UnixNano()); err != nil { // one write: lines do not mix
		panic(err)
	}
}

func readWitness(t *testing.T, path string) []deed {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var deeds []deed
	for lines := bufio.NewScanner(f); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		pid, err := strconv.Atoi(fields[1])
		if err != nil {
			t.Fatal(err)
		}
		at, err := strconv.ParseInt(fields[2], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		deeds = append(deeds, deed{fields[0], pid, at})
	}
	return deeds
}
