package show

import (
	"encoding/json"
	"fmt"
	"strings"
)

// goldenCase is a case as golden sets have it.
type goldenCase struct {
	ID       string           `json:"id"`
	Query    string           `json:"query"`
	Evidence []goldenEvidence `json:"gold_evidence"`
	Scenario string           `json:"scenario,omitempty"`
	Tags     []string         `json:"tags"`
	Source   string           `json:"source"`
}

type goldenEvidence struct {
	Document  string `json:"document_id"`
	Start     *int   `json:"start,omitempty"`
	End       *int   `json:"end,omitempty"`
	Relevance int    `json:"relevance"`
}

// ToGolden turns a question that was answered badly into a line of a golden set. The evidence is the chunk at a rank of the
// answer of its first point; with rank 0 it is left for a person to fill in, and the set cannot be read until that is done.
func (r *Report) ToGolden(q *Question, rank int) (string, error) {
	if q.Query == "" {
		return "", fmt.Errorf("the text of question %s is not known: %s", q.ID, r.Warning)
	}
	c := goldenCase{
		ID: q.ID + "-trace", Query: q.Query, Evidence: []goldenEvidence{}, Scenario: q.Scenario, Tags: []string{"from-trace"},
		Source: r.RunID + "/" + q.Points[0].ID,
	}
	if rank > 0 {
		if rank > len(q.Points[0].Answers) {
			return "", &Error{fmt.Sprintf("question %s has %d answers at point %s, and none of rank %d", q.ID, len(q.Points[0].Answers), q.Points[0].ID, rank)}
		}
		at, err := parsePlace(q.Points[0].Answers[rank-1].Place)
		if err != nil {
			return "", err
		}
		e := goldenEvidence{Document: at.document, Relevance: 1}
		if at.end > at.start {
			e.Start, e.End = &at.start, &at.end
		}
		c.Evidence = append(c.Evidence, e)
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(c)
	return b.String(), err
}
