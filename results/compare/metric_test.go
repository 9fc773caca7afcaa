package compare

import (
	"strings"
	"testing"

	"frontier/results"
)

// What is a mean over questions, or counts what they were answered with, depends on the questions and their judgements.
func TestMeansOverQuestionsAreQuality(t *testing.T) {
	n := 0
	for _, c := range results.Columns() {
		m, err := LookupMetric(strings.Replace(c.Name, "_at_K", "_at_10", 1))
		if err != nil {
			continue // no metric
		}
		n++
		if want := m.PerQuery() || c.Group == "filter" || c.Group == "ann" || c.Group == "abstention"; m.Quality() != want {
			t.Errorf("%s is quality: %v, want %v", m.Name, m.Quality(), want)
		}
	}
	if n < 40 {
		t.Errorf("%d metrics", n)
	}
}
