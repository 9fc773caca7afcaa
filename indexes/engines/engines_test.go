package engines

import (
	"context"
	"strings"
	"testing"

	"frontier/indexes"
	"frontier/internal/param"
)

func TestEveryEngineIsComplete(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range All() {
		t.Run(e.Name, func(t *testing.T) {
			if e.Name == "" || seen[e.Name] {
				t.Errorf("the name %q is empty or taken", e.Name)
			}
			seen[e.Name] = true
			if e.Doc == "" || e.Version == nil || e.Check == nil || e.Describe == nil || e.Build == nil || e.Load == nil {
				t.Fatal("something is missing from the description")
			}
			if e.Lexical == (len(e.Metrics) > 0) && e.Name != "hybrid" {
				t.Errorf("lexical %v with the metrics %v", e.Lexical, e.Metrics)
			}
			if (e.Version() == "") != (e.Absent != "") {
				t.Errorf("version %q, absent %q", e.Version(), e.Absent)
			}
			for _, specs := range [][]param.Spec{e.Params, e.Search} {
				checkSpecs(t, specs)
			}
		})
	}
}

// checkSpecs fails for a default that its own range refuses, and for what help could not print.
func checkSpecs(t *testing.T, specs []param.Spec) {
	for _, s := range specs {
		if s.Doc == "" || !strings.HasSuffix(s.Doc, ".") {
			t.Errorf("%s: doc is %q", s.Name, s.Doc)
		}
		if s.Default == nil {
			continue
		}
		if got, err := s.Check(s.Default); err != nil || got != s.Default {
			t.Errorf("%s: the default %v becomes %v, %v", s.Name, s.Default, got, err)
		}
	}
}

// A binary without an engine still checks sweep files that use it, and says how to get it when it has to build.
func TestAbsentEnginesStillCheck(t *testing.T) {
	for _, e := range All() {
		given := param.Values{}
		if param.Find(e.Params, "factory") != nil {
			given["factory"] = "IVF16,Flat"
		}
		build, err := param.Complete(e.Params, given)
		if err != nil {
			t.Fatal(err)
		}
		search, err := param.Complete(e.Search, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Check(build, search, -1, -1); err != nil {
			t.Errorf("%s: nothing known yet: %v", e.Name, err)
		}
		if err := e.Check(build, search, 10000, 64); err != nil {
			t.Errorf("%s: 10000 rows of 64: %v", e.Name, err)
		}
		if kind, spec, _ := e.Describe(build); kind == "" || spec == "" {
			t.Errorf("%s: kind %q, spec %q", e.Name, kind, spec)
		}
		if e.Absent == "" {
			continue
		}
		if _, err := e.Build(context.Background(), indexes.Input{}, build); err == nil || !strings.Contains(err.Error(), "install") {
			t.Errorf("%s: building gives %v", e.Name, err)
		}
	}
}

func TestFind(t *testing.T) {
	all := All()
	if e := indexes.Find(all, "bleve"); e == nil || e.Name != "bleve" {
		t.Errorf("found %v", e)
	}
	if e := indexes.Find(all, "annoy"); e != nil {
		t.Errorf("found %v", e.Name)
	}
}
