// Package examples holds sweep files to start from. Its tests check what those files refer to.
package examples

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"frontier/datasets"
)

const goldenFile = "quickstart/golden.jsonl"

// scenarios are the kinds of questions of the quick start, with how many of each there must be, so that a slice says
// something.
var scenarios = map[string]int{
	"exact_entity": 12, "paraphrase": 12, "how_to": 12, "multi_document": 12, "negation": 12, "typo": 12,
	"long_section": 12, "version_or_deprecation": 12, "comparison": 12, "unanswerable": 15,
}

func readGolden(t *testing.T) *datasets.Golden {
	t.Helper()
	golden, err := datasets.ReadGolden(goldenFile, "")
	if err != nil {
		t.Fatal(err)
	}
	return golden
}

// Every symbol that the golden set names is one that the documentation of the running Go has, and has words about.
func TestGoldenEvidenceExists(t *testing.T) {
	golden := readGolden(t)
	corpus, err := datasets.OpenCorpus(datasets.GodocStd)
	if err != nil {
		t.Fatal(err)
	}
	resolver := datasets.NewResolver(golden)
	var texts [][]rune
	for d, err := range corpus.Documents(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if err := resolver.Add(len(texts), d); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, []rune(d.Text))
	}
	units, err := resolver.Finish()
	if err != nil {
		t.Fatal(err)
	}
	if len(units) != len(golden.Cases) {
		t.Fatalf("%d cases were resolved, want %d", len(units), len(golden.Cases))
	}
	for i, c := range golden.Cases {
		if len(units[i]) != len(c.Evidence) {
			t.Errorf("%s: %d units from %d pieces of evidence", c.ID, len(units[i]), len(c.Evidence))
			continue
		}
		for j, u := range units[i] {
			e := c.Evidence[j]
			if u.Whole || len(u.Spans) == 0 {
				t.Errorf("%s: %s#%s is not a section", c.ID, e.DocumentID, e.SectionID)
			}
			for _, s := range u.Spans {
				text := strings.TrimSpace(string(texts[s.Doc][s.Start:s.End]))
				name := e.SectionID[strings.LastIndexByte(e.SectionID, '.')+1:]
				if e.SectionID == datasets.OverviewSection {
					name = "package "
				}
				if !strings.Contains(text, name) {
					t.Errorf("%s: the section %s#%s does not contain %q: %q", c.ID, e.DocumentID, e.SectionID, name, text)
				}
			}
		}
	}
}

// The set is large and varied enough for what the documentation says of it.
func TestGoldenCoverage(t *testing.T) {
	golden := readGolden(t)
	if n := len(golden.Cases); n < 120 {
		t.Errorf("%d questions, want at least 120", n)
	}
	ids := map[string]bool{}
	inScenario := map[string]int{}
	inPackage := map[string]int{}
	for _, c := range golden.Cases {
		if ids[c.ID] {
			t.Errorf("id %s is repeated", c.ID)
		}
		ids[c.ID] = true
		inScenario[c.Scenario]++
		if _, ok := scenarios[c.Scenario]; !ok {
			t.Errorf("%s: unknown scenario %q", c.ID, c.Scenario)
		}
		if !slices.Contains([]string{"easy", "medium", "hard"}, c.Difficulty) {
			t.Errorf("%s: unknown difficulty %q", c.ID, c.Difficulty)
		}
		if c.Unanswerable != (c.Scenario == "unanswerable") {
			t.Errorf("%s: scenario %s, but unanswerable is %v", c.ID, c.Scenario, c.Unanswerable)
		}
		packages := evidencePackages(t, c)
		for p := range packages {
			inPackage[p]++
		}
		if c.Scenario == "multi_document" && len(packages) < 2 {
			t.Errorf("%s: a multi_document question has evidence in %d packages", c.ID, len(packages))
		}
	}
	for name, least := range scenarios {
		if inScenario[name] < least {
			t.Errorf("%d questions of scenario %s, want at least %d", inScenario[name], name, least)
		}
	}
	if len(inPackage) < 45 {
		t.Errorf("evidence in %d packages, want at least 45", len(inPackage))
	}
	for p, n := range inPackage {
		if n > 12 {
			t.Errorf("package %s is in %d questions, want at most 12, so that none dominates", p, n)
		}
	}
}

// evidencePackages are the packages with evidence for c. It checks the grades on the way: 2 answers the question, and
// something must.
func evidencePackages(t *testing.T, c datasets.Case) map[string]bool {
	t.Helper()
	packages := map[string]bool{}
	seen := map[string]bool{}
	best := 0
	for _, e := range c.Evidence {
		id := e.DocumentID + "#" + e.SectionID
		if seen[id] {
			t.Errorf("%s: %s is named twice", c.ID, id)
		}
		seen[id] = true
		if e.Relevance < 0 || e.Relevance > 2 {
			t.Errorf("%s: %s has grade %d, want 0 to 2", c.ID, id, e.Relevance)
		}
		if e.Relevance > 0 {
			packages[e.DocumentID] = true
		}
		best = max(best, e.Relevance)
	}
	if !c.Unanswerable && best != 2 {
		t.Errorf("%s: no evidence answers the question (best grade %d)", c.ID, best)
	}
	return packages
}

// No two questions are near-duplicates: the Jaccard similarity of their lower-cased 5-character shingles is below 0.8.
func TestGoldenHasNoNearDuplicates(t *testing.T) {
	cases := readGolden(t).Cases
	sets := make([]map[string]bool, len(cases))
	for i, c := range cases {
		sets[i] = shingles(c.Query)
		for j := range i {
			if s := jaccard(sets[i], sets[j]); s >= 0.8 {
				t.Errorf("%s and %s are near-duplicates (%.2f): %q, %q", cases[j].ID, c.ID, s, cases[j].Query, c.Query)
			}
		}
	}
}

// The measure of similarity that the test above relies on finds what it should: figures worked out by hand.
func TestJaccard(t *testing.T) {
	reference := shingles("Mars has two moons, Phobos and Deimos.")
	if got, want := jaccard(reference, shingles("Mars has two moons, Phobos and Deimos!")), 33.0/35; got != want {
		t.Errorf("similarity of a changed last character is %v, want %v", got, want)
	}
	if got := jaccard(reference, shingles("Curiosity rover landed on Mars in 2012.")); got != 1.0/68 {
		t.Errorf("similarity of another sentence is %v, want 1/68", got)
	}
}

func shingles(s string) map[string]bool {
	const size = 5
	runes := []rune(strings.ToLower(s))
	set := map[string]bool{}
	for i := range max(1, len(runes)-size+1) {
		set[string(runes[i:min(i+size, len(runes))])] = true
	}
	return set
}

func jaccard(a, b map[string]bool) float64 {
	both := 0
	for s := range a {
		if b[s] {
			both++
		}
	}
	return float64(both) / float64(len(a)+len(b)-both)
}

// Each line holds only fields that a golden set has, so that a misspelt one does not go unnoticed.
func TestGoldenFields(t *testing.T) {
	raw, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	if !utf8.Valid(raw) {
		t.Fatal("the golden set is not UTF-8")
	}
	for i, line := range bytes.Split(bytes.TrimSuffix(raw, []byte("\n")), []byte("\n")) {
		decoder := json.NewDecoder(bytes.NewReader(line))
		decoder.DisallowUnknownFields()
		var c struct {
			ID       string `json:"id"`
			Query    string `json:"query"`
			Evidence []struct {
				Document  string `json:"document_id"`
				Section   string `json:"section_id"`
				Relevance int    `json:"relevance"`
			} `json:"gold_evidence"`
			Scenario      string `json:"scenario"`
			Difficulty    string `json:"difficulty"`
			Answerability string `json:"answerability"`
			Why           string `json:"why_it_matters"`
		}
		if err := decoder.Decode(&c); err != nil {
			t.Errorf("line %d: %v", i+1, err)
			continue
		}
		if c.Answerability != "answerable" && c.Answerability != "unanswerable" {
			t.Errorf("line %d: answerability %q", i+1, c.Answerability)
		}
	}
}
