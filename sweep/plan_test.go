package sweep

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"frontier/sweep/file"
)

func parse(t testing.TB, yaml string) *file.File {
	t.Helper()
	f, err := file.Parse("sweep.yaml", []byte(yaml), testRegistry(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestPlanCountsStages(t *testing.T) {
	p := newPlace(t, textSweep)
	p.writeText()
	p.write("sweep.yaml", textSweep)
	f, err := file.Read(filepath.Join(p.dir, "sweep.yaml"), testRegistry(), nil)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := MakePlan(f, testRegistry(), p.cache)
	if err != nil {
		t.Fatal(err)
	}
	// C = 4, C*E = 4, builds: flat on 4 and bleve on 4, of which the hybrids are made too.
	if plan.Chunkings != 4 || plan.Embeddings != 4 || plan.Builds != 8 || plan.Cells != 12 || plan.Points != 16 || plan.StageRuns != 4+4+8+16 {
		t.Errorf("plan %+v", plan)
	}
}

// A grid that nobody can run is counted up to the largest int, and not beyond into numbers that look small.
func TestHugePlan(t *testing.T) {
	const part = "{engine: coder, M: {from: 2, to: 2048, steps: 2047}, search: {ef_search: {from: 1, to: 10000, steps: 10000}}}"
	f := parse(t, "version: 1\nvectors: {synthetic: {n: 100, dim: 4, clusters: 2, spread: 1, queries: 5}, metric: l2}\n"+
		"indexes: [{engine: hybrid, of: ["+part+", "+part+"], fusion: [{convex: {from: 0, to: 1, steps: 10000}}]}, {engine: flat}]\n"+
		"measure: {load: [{closed: [1, 2, 3]}]}\n")
	plan, err := MakePlan(f, testRegistry(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if plan.Points != math.MaxInt || plan.NaiveStages != math.MaxInt || plan.Cells != 2047*2047+1 || plan.Builds != plan.Cells || plan.MeasureTime <= 0 {
		t.Errorf("plan %+v", plan)
	}
}

// What the plan says is what the run does.
func TestPlanIsWhatIsRun(t *testing.T) {
	leaveToFullRun(t)
	for name, yaml := range map[string]string{"text": textSweep, "vectors": vectorSweep} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, yaml)
			p.writeText()
			s := p.run()
			f, err := file.Read(filepath.Join(p.dir, "sweep.yaml"), testRegistry(), nil)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := MakePlan(f, testRegistry(), p.cache)
			if err != nil {
				t.Fatal(err)
			}
			if plan.Points != s.Points {
				t.Errorf("planned %d points, measured %d", plan.Points, s.Points)
			}
			if plan.VectorBytes == 0 {
				t.Error("after a run the plan knows how much the vectors take")
			}
		})
	}
}

func TestPlanTellsExpressions(t *testing.T) {
	yaml := strings.Replace(vectorSweep, "{engine: flat}", "{engine: faiss, factory: \"IVF{nlist},Flat\", nlist: sqrt(n), search: {nprobe: 1}}", 1)
	plan, err := MakePlan(parse(t, yaml), testRegistry(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	// sqrt(600) is 24.49
	if len(plan.Expressions) != 1 || plan.Expressions[0].Value != "24" || plan.Expressions[0].N != 600 || plan.Expressions[0].Pos.Line == 0 {
		t.Errorf("expressions %+v", plan.Expressions)
	}
}

// hundredThousand is a sweep of 100,000 points: 10 M x 10 efConstruction x 1,000 efSearch.
const hundredThousand = `version: 1
vectors: {synthetic: {n: 100000, dim: 128, clusters: 10, spread: 1, queries: 10}, metric: l2}
indexes:
  - engine: hnswlib
    M: {from: 4, to: 40, steps: 10}
    ef_construction: {from: 100, to: 1000, steps: 10}
    search: {ef_search: {from: 10, to: 1009, steps: 1000}}
`

// BenchmarkPlan times what users wait for: reading the file and counting the points.
func BenchmarkPlan(b *testing.B) {
	for b.Loop() {
		plan, err := MakePlan(parse(b, hundredThousand), testRegistry(), b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		if plan.Points != 100_000 {
			b.Fatalf("%d points", plan.Points)
		}
	}
}
