package sweep

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"frontier/bench/machine"
	"frontier/chunkers"
	"frontier/embedders"
	"frontier/results"
	"frontier/sweep/cell"
	"frontier/sweep/file"
)

// TestMain lets the test binary be the child process of the sweeps that the tests run.
func TestMain(m *testing.M) {
	if os.Getenv(cell.Env) != "" {
		os.Exit(cell.Serve(os.NewFile(cell.RequestFD, "request"), os.NewFile(cell.ReplyFD, "reply"),
			cell.Registry{Engines: testEngines(), Embedders: embedders.Kinds()}, os.Exit))
	}
	if request := os.Getenv(parentEnv); request != "" {
		os.Exit(serveParent(request, os.Stdout, os.Stderr))
	}
	os.Exit(withOwnLock(m.Run))
}

// withOwnLock lets the sweeps of these tests measure beside those of others: no test asserts a time.
func withOwnLock(run func() int) int {
	dir, err := os.MkdirTemp("", "frontier-lock-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := os.Setenv(machine.LockDirEnv, dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return run()
}

func testRegistry() file.Registry {
	return file.Registry{Chunkers: chunkers.Kinds(), Embedders: embedders.Kinds(), Engines: testEngines()}
}

// place is a sweep file with folders of its own.
type place struct {
	t               testing.TB
	dir, out, cache string
	fresh           bool
	jobs            int
	sets            []string
	yaml            string
	ctx             context.Context // nil means that of the test
	progress        func(Event)
}

func newPlace(t testing.TB, yaml string) *place {
	t.Helper()
	dir := t.TempDir()
	return &place{t: t, dir: dir, out: filepath.Join(dir, "out"), cache: filepath.Join(dir, "cache"), jobs: 2, yaml: yaml}
}

func (p *place) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// try runs the sweep as the command does, up to its error.
func (p *place) try() (Summary, error) {
	p.t.Helper()
	p.write("sweep.yaml", p.yaml)
	reg := testRegistry()
	f, err := file.Read(filepath.Join(p.dir, "sweep.yaml"), reg, p.sets)
	if err != nil {
		return Summary{}, err
	}
	f.DropAbsent(reg)
	ctx := p.ctx
	if ctx == nil {
		ctx = p.t.Context()
	}
	return Run(ctx, f, Options{
		Out: p.out, Cache: p.cache, Jobs: p.jobs, Fresh: p.fresh, Registry: reg, Progress: p.progress,
		Command: testCommand,
	})
}

func (p *place) run() Summary {
	p.t.Helper()
	s, err := p.try()
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

func (p *place) rows() []results.Row {
	p.t.Helper()
	rows, err := results.ReadRows(p.t.Context(), p.out)
	if err != nil {
		p.t.Fatal(err)
	}
	return rows
}

func (p *place) queries() []results.QueryRow {
	p.t.Helper()
	rows, err := results.ReadQueries(p.t.Context(), p.out)
	if err != nil {
		p.t.Fatal(err)
	}
	return rows
}

// writeText makes a small corpus with questions whose answers are known: each document is about one animal.
func (p *place) writeText() {
	animals := []string{"albatross", "badger", "chameleon", "dolphin", "elephant", "flamingo", "gorilla", "hedgehog", "iguana", "jaguar"}
	corpus, golden := "", ""
	for i, a := range animals {
		text := fmt.Sprintf("The %s lives far away. Everybody likes the %s.\\n\\nIts favourite number is %d and nothing else matters.\\n\\nZoos keep records of all %ss since long ago.", a, a, 100+i, a)
		corpus += fmt.Sprintf("{\"_id\": %q, \"title\": \"About the %s\", \"text\": \"%s\"}\n", a, a, text)
		golden += fmt.Sprintf("{\"id\": \"q%d\", \"query\": \"where does the %s live\", \"gold_evidence\": [{\"document_id\": %q, \"text\": \"lives far away\"}], \"scenario\": \"exact_entity\"}\n", i, a, a)
	}
	golden += "{\"id\": \"none\", \"query\": \"how to bake bread\", \"answerability\": \"unanswerable\", \"scenario\": \"unanswerable\"}\n"
	p.write("corpus.jsonl", corpus)
	p.write("golden.jsonl", golden)
}

const textSweep = `version: 1
name: animals
seed: 7
build_threads: 1
dataset: {corpus: corpus.jsonl, queries: golden.jsonl}
chunkers:
  - {kind: fixed, unit: words, size: [8, 12], overlap: [0, 25%]}
embedders:
  - {kind: hash, dim: 64}
indexes:
  - {engine: flat}
  - {engine: bleve}
  - {engine: hybrid, of: [bleve, flat], fusion: [{rrf: [10, 60]}]}
measure: {k: [1, 3], depth: 5, rounds: 2, min_time: 5ms, warmup: 1ms, max_time: 300ms}
objectives: [recall_at_3:max, latency_p50_seconds:min]
`

const vectorSweep = `version: 1
name: synthetic
build_threads: 1
vectors: {synthetic: {n: 600, dim: 16, clusters: 5, spread: 0.5, queries: 40}, metric: l2}
indexes:
  - {engine: flat}
measure: {k: [1, 10], rounds: 2, min_time: 5ms, warmup: 1ms, load: [{closed: [1, 2]}]}
`

// exactColumns is a row without what may differ between two runs of the same sweep.
func exactColumns(row results.Row) results.Row {
	exact := results.Row{}
	for name, v := range row {
		if c, ok := results.Lookup(name); ok && c.Exact {
			exact[name] = v
		}
	}
	return exact
}

// leaveToFullRun leaves out, with -short, a test that sweeps a text several times: under the race detector, for which
// -short is, that takes most of a minute. The full run has it.
func leaveToFullRun(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out with -short: it sweeps a text over and over")
	}
}
