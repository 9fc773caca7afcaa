package gate

import (
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// A gate against a recorded baseline decides as one against the run itself, from files of every kind.
func TestRecordedBaselineDecidesAlike(t *testing.T) {
	p := parse(t, wide)
	base, next := newSample("base"), newSample("next")
	next.point("hnsw64").lose(30)
	next.point("hnsw16").lose(3)
	next.point("flat").slower(1.3)
	next.dropped["bleve"] = true
	baseDir, nextDir := base.write(t), next.write(t)
	decide := func(base, next string) *Result {
		t.Helper()
		r, err := judgeSides(p, read(t, base, p), read(t, next, p))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	want := decide(baseDir, nextDir)
	if want.Verdict != Fail || len(want.Residue) != 0 {
		t.Fatalf("%s, residue %v", want.Verdict, want.Residue)
	}
	for _, name := range []string{"baseline.json", "baseline.json.gz"} {
		path := filepath.Join(t.TempDir(), name)
		warnings, err := Record(path, p, read(t, baseDir, p))
		if err != nil || len(warnings) != 0 {
			t.Fatal(warnings, err)
		}
		got := decide(path, nextDir)
		if len(got.Residue) != 0 || len(got.Warnings) != len(want.Warnings) {
			t.Errorf("%s: residue %v, warnings %q", name, got.Residue, got.Warnings)
		}
		if len(got.Decisions) != len(want.Decisions) {
			t.Fatalf("%s: %d decisions, want %d", name, len(got.Decisions), len(want.Decisions))
		}
		for i := range want.Decisions {
			a, b := want.Decisions[i], got.Decisions[i]
			if a.Point != b.Point || a.Outcome != b.Outcome || a.Verdict != b.Verdict || a.Why != b.Why || a.Cases != b.Cases || !reflect.DeepEqual(a.Lost, b.Lost) ||
				!alike(a.Base, b.Base) || !alike(a.Low, b.Low) || !alike(a.High, b.High) || !alike(a.P, b.P) || !alike(a.PHolm, b.PHolm) {
				t.Errorf("%s: %+v, want %+v", name, b, a)
			}
		}
	}
	// A glob, and the table of a folder, read as the folder does.
	for _, path := range []string{filepath.Join(filepath.Dir(nextDir), "*"), filepath.Join(nextDir, "results.parquet")} {
		if got := decide(baseDir, path); len(found(got, Fail)) != len(found(want, Fail)) || got.Decisions[0].Cases != 185 {
			t.Errorf("%s: %v", path, found(got, Fail))
		}
	}
	// A policy that asks for more than was recorded says so.
	path := filepath.Join(t.TempDir(), "small.json")
	if _, err := Record(path, parse(t, "rules: [{metric: index_bytes, max_rise: 1%}]"), read(t, baseDir, p)); err != nil {
		t.Fatal(err)
	}
	if _, err := judgeSides(p, read(t, path, p), read(t, nextDir, p)); err == nil || !strings.Contains(err.Error(), "record it again with this policy") {
		t.Errorf("error %v", err)
	}
}

func alike(a, b float64) bool { return a == b || a != a && b != b }

func TestRecordRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "b.json")
	s := newSample("base")
	var fault *Error
	if _, err := Record(path, parse(t, "match: [engine]\nrules: [{metric: mrr, min: 0.1}]"), s.side()); !errors.As(err, &fault) || !strings.Contains(err.Error(), "ef_search") {
		t.Errorf("points that match does not tell apart: %v", err)
	}
	s.point("flat").row["status"] = "crashed"
	warnings, err := Record(path, parse(t, "rules: [{metric: mrr, min: 0.1}]"), s.side())
	if err != nil || len(warnings) != 2 || !strings.Contains(warnings[0], "1 points failed") || !strings.Contains(warnings[1], "mrr has no value") {
		t.Errorf("%q, %v", warnings, err)
	}
	for _, p := range s.points {
		p.row["status"] = "crashed"
	}
	if _, err := Record(path, parse(t, "rules: [{metric: mrr, min: 0.1}]"), s.side()); err == nil || !strings.Contains(err.Error(), "no point was measured") {
		t.Errorf("error %v", err)
	}
}
