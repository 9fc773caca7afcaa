package sweep

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"frontier/datasets"
	"frontier/results"
	"frontier/sweep/file"
)

func goldenOf(n int) *datasets.Golden {
	g := &datasets.Golden{}
	for i := range n {
		c := datasets.Case{ID: fmt.Sprint("q", i), Scenario: "common", Split: "dev"}
		if i%10 == 0 {
			c.Scenario, c.Tags = "rare", []string{"smoke"}
		}
		if i%2 == 0 {
			c.Split = "release"
		}
		g.Cases = append(g.Cases, c)
	}
	return g
}

func TestSubsets(t *testing.T) {
	for _, c := range []struct {
		set   file.Dataset
		cases int
		rule  string
	}{
		{file.Dataset{Split: "dev"}, 50, "split: dev"},
		{file.Dataset{Tags: []string{"smoke"}}, 10, "tags: [smoke]"},
		{file.Dataset{Split: "release", Tags: []string{"smoke"}}, 10, "split: release, tags: [smoke]"},
		{file.Dataset{Sample: 30, By: "scenario"}, 30, "sample: 30, by: scenario"},
		{file.Dataset{Sample: 500}, 100, "sample: 500"},
	} {
		g := goldenOf(100)
		s, warnings, err := takeSubset(&file.File{Dataset: &c.set, Seed: 1}, g)
		if err != nil || s.Cases != c.cases || len(g.Cases) != c.cases || s.Of != 100 || s.Rule != c.rule || len(s.IDs) != c.cases {
			t.Errorf("%s: %+v, %d cases, %v", c.rule, s, len(g.Cases), err)
		}
		if want := c.set.Sample > 100; (len(warnings) > 0) != want {
			t.Errorf("%s: warnings %q", c.rule, warnings)
		}
	}
	for _, c := range []struct {
		set  file.Dataset
		want string
	}{
		{file.Dataset{Split: "test"}, "known ones are dev, release"},
		{file.Dataset{Split: "dev", Tags: []string{"smoke"}}, "no case has a tag at all"},
		{file.Dataset{Sample: 5, By: "difficulty"}, "known ones are answerability, scenario, split"},
	} {
		_, _, err := takeSubset(&file.File{Dataset: &c.set}, goldenOf(100))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.set, err, c.want)
		}
	}
}

// A stratified sample has each kind in proportion, is the same for the same seed, and barely changes when cases are added.
func TestSample(t *testing.T) {
	cases := goldenOf(100).Cases
	count := func(sampled []datasets.Case) (rare int) {
		for _, c := range sampled {
			if c.Scenario == "rare" {
				rare++
			}
		}
		return rare
	}
	first := sample(cases, 30, "scenario", 7)
	if count(first) != 3 {
		t.Errorf("%d of 30 cases are of the kind that a tenth is of", count(first))
	}
	if count(sample(cases, 2, "scenario", 7)) != 1 {
		t.Error("a small sample leaves out a kind that there is room for")
	}
	names := func(sampled []datasets.Case) (ids []string) {
		for _, c := range sampled {
			ids = append(ids, c.ID)
		}
		return ids
	}
	if !slices.Equal(names(first), names(sample(cases, 30, "scenario", 7))) || slices.Equal(names(first), names(sample(cases, 30, "scenario", 8))) {
		t.Error("the sample does not follow from the seed")
	}
	same := 0
	grown := names(sample(goldenOf(110).Cases, 30, "scenario", 7))
	for _, id := range names(first) {
		if slices.Contains(grown, id) {
			same++
		}
	}
	if same < 20 {
		t.Errorf("after adding a tenth of cases only %d of 30 are still in the sample", same)
	}
}

func TestSweepOfASubset(t *testing.T) {
	p := newPlace(t, textSweep)
	p.writeText()
	p.sets = []string{"indexes=[{engine: bleve}]", "chunkers=[{kind: none}]"}
	all := p.run()
	p.sets = append(p.sets, "dataset.sample=4", "dataset.by=scenario")
	s := p.run()
	if all.Points != 1 || s.Measured != 1 || s.Reused != 0 {
		t.Errorf("a subset is not a point of its own: %+v", s)
	}
	if !strings.Contains(strings.Join(s.Warnings, "\n"), "the choice of questions was all of them and is sample: 4, by: scenario") {
		t.Errorf("warnings %q", s.Warnings)
	}
	m, err := results.ReadManifest(p.out)
	if err != nil || m.Subset == nil || m.Subset.Cases != 4 || m.Subset.Of != 11 || len(m.Subset.IDs) != 4 || !slices.Contains(m.Subset.IDs, "none") {
		t.Errorf("the manifest has %+v, %v", m.Subset, err)
	}
	if row := p.rows()[0]; row["subset"] != "sample: 4, by: scenario" || row["queries"] != int64(4) || row["split"] != nil {
		t.Errorf("subset %v, %v queries, split %v", row["subset"], row["queries"], row["split"])
	}
}
