package show

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// WriteJSON writes the report for programs.
func (r *Report) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}

// WriteText writes the report for people.
func (r *Report) WriteText(w io.Writer) error {
	b := bufio.NewWriter(w)
	for i, q := range r.Questions {
		if i > 0 {
			fmt.Fprintln(b)
		}
		q.write(b)
	}
	return b.Flush()
}

func (q *Question) write(b *bufio.Writer) {
	fmt.Fprintf(b, "question %s", q.ID)
	if q.Scenario != "" {
		fmt.Fprintf(b, " (%s)", q.Scenario)
	}
	fmt.Fprintln(b)
	if q.Query != "" {
		fmt.Fprintf(b, "  %s\n", strings.Join(strings.Fields(q.Query), " "))
	}
	for i, e := range q.Evidence {
		fmt.Fprintf(b, "  evidence %d, grade %d: %s\n", i+1, e.Grade, e.Place)
		if e.Text != "" {
			fmt.Fprintf(b, "    %s\n", e.Text)
		}
	}
	for _, p := range q.Points {
		fmt.Fprintf(b, "\n  point %s: %s\n", p.ID, p.Name)
		switch {
		case p.Error != "":
			fmt.Fprintf(b, "    failed: %s\n", p.Error)
		case p.Recall != nil:
			fmt.Fprintf(b, "    recall %.3f%s\n", *p.Recall, lost(p.Lost))
		default:
			fmt.Fprintln(b, "    nothing is relevant to it")
		}
		for _, a := range p.Answers {
			fmt.Fprintf(b, "    %2d. %s  score %.4g%s\n", a.Rank, a.Place, a.Score, overlaps(a.Overlaps))
			if a.Text != "" {
				fmt.Fprintf(b, "        %s\n", a.Text)
			}
		}
		if p.More > 0 {
			fmt.Fprintf(b, "        and %d more\n", p.More)
		}
	}
}

// lost says what became of the evidence.
func lost(stages []string) string {
	if len(stages) == 0 {
		return ""
	}
	return "; evidence: " + strings.Join(stages, ", ")
}

func overlaps(pieces []int) string {
	if len(pieces) == 0 {
		return ""
	}
	text := make([]string, len(pieces))
	for i, p := range pieces {
		text[i] = fmt.Sprint(p)
	}
	return "  overlaps evidence " + strings.Join(text, ", ")
}
