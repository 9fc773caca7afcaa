package show

import (
	"fmt"
	"slices"
	"strings"

	"frontier/datasets"
	"frontier/results"
	"frontier/sweep"
)

// question is one case at every point. book is nil where there are no texts.
func question(id string, rows []results.Row, queries []results.QueryRow, book *sweep.Casebook, o Options) Question {
	q := Question{ID: id}
	var units []datasets.Unit
	if book != nil {
		if i := slices.IndexFunc(book.Cases, func(c datasets.Case) bool { return c.ID == id }); i >= 0 {
			q.Query, q.Scenario, q.Fields = book.Cases[i].Query, book.Cases[i].Scenario, book.Cases[i].Extra
			units = slices.DeleteFunc(slices.Clone(book.Units[i]), func(u datasets.Unit) bool { return u.Grade < book.RelevanceMin })
			for _, u := range units {
				q.Evidence = append(q.Evidence, evidence(u, book))
			}
		}
	}
	for _, row := range rows {
		for i := range queries {
			if queries[i].PointID == row.Text("point_id") && queries[i].RunID == row.Text("run_id") {
				if q.Scenario == "" {
					q.Scenario = queries[i].Scenario
				}
				q.Points = append(q.Points, point(row, &queries[i], units, book, o))
			}
		}
	}
	return q
}

func evidence(u datasets.Unit, book *sweep.Casebook) Evidence {
	s := u.Spans[0]
	document := book.Documents[s.Doc]
	if u.Whole {
		var documents []string
		for _, s := range u.Spans {
			documents = append(documents, book.Documents[s.Doc])
		}
		return Evidence{Place: strings.Join(documents, " or "), Grade: u.Grade, Text: excerpt(book.Texts[document], 0, s.End, 0, 0)}
	}
	var places []string // alternatives, and the places of a literal text
	for _, s := range u.Spans {
		places = append(places, fmt.Sprintf("%s#%d-%d", book.Documents[s.Doc], s.Start, s.End))
	}
	return Evidence{
		Place: strings.Join(places, " or "), Grade: u.Grade, Text: excerpt(book.Texts[document], s.Start, s.End, 0, 0),
	}
}

func point(row results.Row, q *results.QueryRow, units []datasets.Unit, book *sweep.Casebook, o Options) Point {
	p := Point{ID: q.PointID, Name: results.Describe(row), Lost: q.LossStages, Error: q.Error}
	if v, ok := recallOf(*q, row.Text("unit") != ""); ok {
		p.Recall = &v
	}
	n := min(o.Top, len(q.IDs))
	p.More = len(q.IDs) - n
	for i, id := range q.IDs[:n] {
		a := Answer{Rank: i + 1, Place: id, Score: q.Scores[i]}
		if at, err := parsePlace(id); err == nil && book != nil && at.end >= 0 {
			a.Overlaps, a.Text = match(at, units, book)
		}
		p.Answers = append(p.Answers, a)
	}
	return p
}

// match is the pieces of evidence that a chunk overlaps and its text, with the first of them marked.
func match(at place, units []datasets.Unit, book *sweep.Casebook) (overlaps []int, text string) {
	from, to := 0, 0
	for i, u := range units {
		for _, s := range u.Spans {
			if book.Documents[s.Doc] != at.document || !u.Whole && (at.start >= s.End || s.Start >= at.end) {
				continue
			}
			if len(overlaps) == 0 && !u.Whole {
				from, to = s.Start, s.End
			}
			overlaps = append(overlaps, i+1)
			break
		}
	}
	return overlaps, excerpt(book.Texts[at.document], at.start, at.end, from, to)
}
