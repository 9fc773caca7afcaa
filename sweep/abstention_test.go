package sweep

import (
	"testing"

	"frontier/datasets"
	"frontier/results/arrowfile"
)

// scoring gives every question one result with a score; 0 stands for no result.
func scoring(scores ...float32) []arrowfile.Answer {
	answers := make([]arrowfile.Answer, len(scores))
	for i, s := range scores {
		if s != 0 {
			answers[i] = arrowfile.Answer{IDs: []int64{0}, Scores: []float32{s}}
		}
	}
	return answers
}

func newAbstaining(t *testing.T, unanswerable ...bool) *madeUp {
	m := newMadeUp(t, arrowfile.Chunk{Doc: 0, Start: 0, End: 20})
	for i, none := range unanswerable {
		if id := string(rune('a' + i)); none {
			m.ask(id)
		} else {
			m.ask(id, unit(0, 0, 5))
		}
	}
	return m
}

func TestAbstention(t *testing.T) {
	m := newAbstaining(t, false, false, false, false, true, true, true)
	m.measure.WithheldMax = 0.25
	row, queries := m.score(scoring(9, 8, 7, 2, 3, 0, 7.5)...)
	// Below 7 are one of four that can be answered, and two of three that cannot, one of them without any result.
	wantValues(t, row, map[string]float64{
		"abstain_threshold": 7, "abstention_precision": 2.0 / 3, "abstention_recall": 2.0 / 3, "withheld_rate": 0.25,
	})
	_, answered := queries[4].Metrics["withheld_rate"]
	if row["abstain_chosen_on"] != "all" || queries[3].Metrics["withheld_rate"] != 1 || queries[5].Metrics["abstention_recall"] != 1 || answered {
		t.Errorf("chosen on %v; %v", row["abstain_chosen_on"], queries)
	}
	m.measure.WithheldMax = 0
	row, _ = m.score(scoring(9, 8, 7, 2, 3, 0, 7.5)...)
	wantValues(t, row, map[string]float64{"abstain_threshold": 2, "abstention_precision": 1, "withheld_rate": 0})
}

// A threshold that was chosen on one part is judged on the other.
func TestAbstentionOnASplit(t *testing.T) {
	m := newAbstaining(t, false, true, false, true)
	for i := range m.cases {
		m.cases[i].Split = []string{"dev", "dev", "release", "release"}[i]
	}
	row, queries := m.score(scoring(5, 4, 3, 9)...)
	wantValues(t, row, map[string]float64{"abstain_threshold": 5, "abstention_recall": 0, "withheld_rate": 1, "abstention_precision": 0})
	if _, ok := queries[0].Metrics["withheld_rate"]; ok || row["abstain_chosen_on"] != "dev" {
		t.Errorf("chosen on %v", row["abstain_chosen_on"])
	}
}

func TestNoAbstentionWithoutBothKinds(t *testing.T) {
	m := newAbstaining(t, false, false)
	m.cases = append(m.cases, datasets.Case{ID: "not judged"})
	m.units = append(m.units, nil)
	row, _ := m.score(scoring(5, 4, 3)...)
	if row["abstain_threshold"] != nil || row["withheld_rate"] != nil {
		t.Errorf("threshold %v", row["abstain_threshold"])
	}
	failing := newAbstaining(t, false, true)
	row, _ = failing.score(scoring(0, 4)...)
	if row["abstain_threshold"] != nil {
		t.Errorf("all that can be answered is withheld, and the threshold is %v", row["abstain_threshold"])
	}
}
