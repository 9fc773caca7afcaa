// Package show drills down from a figure to the questions behind it: what was asked, where the evidence stands, what each
// configuration answered, and which stage lost what is missing.
package show

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"frontier/results"
	"frontier/sweep"
	"frontier/sweep/file"
)

// Options choose what is shown.
type Options struct {
	Point, Cell string // only points whose id, or whose cell's, begins with this; "" means all
	Query       string // the id of one question, across points
	Worst       int    // without Query: the questions that lose most, so many
	Top         int    // answers of each point
	Root        string // folder that relative paths of the sweep file are taken from; "" means that of the file
	Registry    file.Registry
}

// Report is what is shown.
type Report struct {
	RunID     string     `json:"run_id"`
	Warning   string     `json:"warning,omitempty"` // why there are no texts
	Questions []Question `json:"questions"`
}

// Question is one case across points.
type Question struct {
	ID       string            `json:"id"`
	Query    string            `json:"query,omitempty"`
	Scenario string            `json:"scenario,omitempty"`
	Fields   map[string]string `json:"fields,omitempty"`
	Evidence []Evidence        `json:"evidence,omitempty"`
	Points   []Point           `json:"points"`
}

// Evidence is one relevant piece.
type Evidence struct {
	Place string `json:"place"` // document, or document#start-end
	Grade int    `json:"grade"`
	Text  string `json:"text,omitempty"`
}

// Point is what one configuration answered.
type Point struct {
	ID      string   `json:"point_id"`
	Name    string   `json:"name"`
	Recall  *float64 `json:"evidence_recall,omitempty"` // nil where nothing is relevant
	Lost    []string `json:"loss_stages,omitempty"`     // of each relevant piece, or document where these are counted
	Error   string   `json:"error,omitempty"`
	Answers []Answer `json:"answers"`
	More    int      `json:"more,omitempty"` // further answers
}

// Answer is one chunk that was found.
type Answer struct {
	Rank     int     `json:"rank"`
	Place    string  `json:"place"`
	Score    float32 `json:"score"`
	Overlaps []int   `json:"overlaps,omitempty"` // the pieces of evidence that it overlaps, from 1
	Text     string  `json:"text,omitempty"`     // the part that overlaps evidence stands between « and »
}

// Load reads what o asks for from the results folder dir. What o names and the folder does not have is an *Error.
func Load(ctx context.Context, dir string, o Options) (*Report, error) {
	m, err := results.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	rows, err := results.ReadRows(ctx, dir)
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(r results.Row) bool {
		return r.Text("status") != "ok" || !strings.HasPrefix(r.Text("point_id"), o.Point) || !strings.HasPrefix(r.Text("cell_id"), o.Cell)
	})
	if len(rows) == 0 {
		return nil, &Error{fmt.Sprintf("%s has no measured point with --point %q and --cell %q", dir, o.Point, o.Cell)}
	}
	all, err := results.ReadQueries(ctx, dir)
	if err != nil {
		return nil, err
	}
	queries := map[string][]results.QueryRow{} // by question
	wanted := map[string]bool{}
	for _, r := range rows {
		wanted[r.Text("run_id")+r.Text("point_id")] = true
	}
	for _, q := range all {
		if wanted[q.RunID+q.PointID] {
			queries[q.QueryID] = append(queries[q.QueryID], q)
		}
	}
	chosen, err := choose(queries, o, m.Unit != "")
	if err != nil {
		return nil, err
	}
	rep := &Report{RunID: m.RunID}
	book, err := readTexts(ctx, m, o, chosen, queries)
	if err != nil {
		rep.Warning = fmt.Sprintf("the texts cannot be shown: %v", err)
	}
	for _, id := range chosen {
		rep.Questions = append(rep.Questions, question(id, rows, queries[id], book, o))
	}
	return rep, nil
}

// Error says that something was asked for that is not there.
type Error struct{ Msg string }

func (e *Error) Error() string { return e.Msg }

// choose is the ids of the questions to show; onText says that there may be evidence.
func choose(queries map[string][]results.QueryRow, o Options, onText bool) ([]string, error) {
	if o.Query != "" {
		if queries[o.Query] == nil {
			return nil, &Error{fmt.Sprintf("no question has the id %q", o.Query)}
		}
		return []string{o.Query}, nil
	}
	type loss struct {
		id   string
		mean float64
	}
	var all []loss
	for id, rows := range queries {
		sum, n := 0.0, 0
		for _, q := range rows {
			if v, ok := recallOf(q, onText); ok {
				sum += v
				n++
			}
		}
		if n > 0 {
			all = append(all, loss{id, sum / float64(n)})
		}
	}
	slices.SortFunc(all, func(a, b loss) int { return cmp.Or(cmp.Compare(a.mean, b.mean), cmp.Compare(a.id, b.id)) })
	var ids []string
	for _, l := range all[:min(o.Worst, len(all))] {
		ids = append(ids, l.id)
	}
	if len(ids) == 0 {
		return nil, &Error{"no question has a recall, so that none is the worst; name one with --query"}
	}
	return ids, nil
}

// recallOf is what questions are ordered by: the evidence that came through, or over vectors, where there is none, the
// neighbours. A question over text to which nothing is relevant has no recall, however many neighbours were found.
func recallOf(q results.QueryRow, onText bool) (float64, bool) {
	if v, ok := q.Metrics["evidence_recall"]; ok {
		return v, true
	}
	prefix := "ann_recall_at_"
	if onText {
		prefix = "recall_at_"
	}
	best, value := 0, 0.0
	for name, v := range q.Metrics {
		digits, ok := strings.CutPrefix(name, prefix)
		if k, err := strconv.Atoi(digits); ok && err == nil && k > best {
			best, value = k, v
		}
	}
	return value, best > 0
}

// readTexts reads the documents that the chosen questions are about and those that answered them.
func readTexts(ctx context.Context, m *results.Manifest, o Options, chosen []string, queries map[string][]results.QueryRow) (*sweep.Casebook, error) {
	f, err := sweep.ReadSweepOf(m, o.Registry, o.Root)
	if err != nil {
		return nil, err
	}
	answered := map[string]bool{}
	for _, id := range chosen {
		for _, q := range queries[id] {
			for _, place := range q.IDs[:min(o.Top, len(q.IDs))] {
				p, err := parsePlace(place)
				if err != nil {
					return nil, err
				}
				answered[p.document] = true
			}
		}
	}
	return sweep.ReadCasebook(ctx, f, m, chosen, func(id string) bool { return answered[id] })
}
