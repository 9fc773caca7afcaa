package gate

import (
	"bufio"
	"fmt"
	"strings"

	"frontier/results/compare"
)

// markdown writes a comment on a change: the verdict, a table of what did not pass, and the rest folded.
func (r *Result) markdown(w *bufio.Writer) {
	title := map[Action]string{Fail: ":x: The gate failed", Warn: ":warning: The gate passed, with doubts", Pass: ":white_check_mark: The gate passed"}[r.Verdict]
	fmt.Fprintf(w, "### %s\n\n%s\n", title, r.headline())
	vanished := r.vanishedPoints()
	var open, passed []*Decision
	for i := range r.Decisions {
		switch d := &r.Decisions[i]; {
		case d.Verdict == Pass:
			passed = append(passed, d)
		case d.told():
		case d.Verdict == Fail:
			open = append(open, d)
		}
	}
	for i := range r.Decisions {
		if d := &r.Decisions[i]; d.Verdict == Warn && !d.told() {
			open = append(open, d)
		}
	}
	if len(vanished)+len(open) > 0 {
		fmt.Fprint(w, "\n| | rule | point | found | why |\n|:---|:---|:---|:---|:---|\n")
		for _, v := range vanished {
			row(w, mark(v.verdict), fmt.Sprintf("%d rules", v.rules), v.point, string(Missing), v.why)
		}
		for _, d := range open {
			row(w, mark(d.Verdict), d.Rule.String(), d.pointName(), strings.TrimSpace(string(d.Outcome)+" "+r.figures(d)), d.Why)
		}
	}
	r.lostCases(w, open)
	if len(passed) > 0 {
		fmt.Fprintf(w, "\n<details><summary>%d passed</summary>\n\n| rule | point | found |\n|:---|:---|:---|\n", len(passed))
		for _, d := range passed {
			row(w, d.Rule.String(), d.pointName(), strings.TrimSpace(string(d.Outcome)+" "+r.figures(d)))
		}
		fmt.Fprint(w, "\n</details>\n")
	}
	if len(r.Residue) > 0 {
		fmt.Fprintf(w, "\n<details><summary>What else differs (%d)</summary>\n\n| about | what | BASE | NEW | points |\n|:---|:---|:---|:---|---:|\n", len(r.Residue))
		for _, one := range r.Residue {
			row(w, string(one.Kind), one.Column, shorten(one.Base), shorten(one.New), fmt.Sprint(one.Points))
		}
		fmt.Fprint(w, "\n</details>\n")
	}
	if len(r.Warnings) > 0 {
		fmt.Fprint(w, "\n<details><summary>What to know</summary>\n\n")
		for _, text := range r.Warnings {
			fmt.Fprintf(w, "* %s\n", escape(text))
		}
		fmt.Fprint(w, "\n</details>\n")
	}
	fmt.Fprintf(w, "\nBASE %s, NEW %s, policy %s.\n", escape(r.Matching.Base.Name), escape(r.Matching.New.Name), escape(r.Policy.Path))
}

// lostCases folds away the questions behind the decisions that did not pass.
func (r *Result) lostCases(w *bufio.Writer, decisions []*Decision) {
	first := true
	for _, d := range decisions {
		if len(d.Lost) == 0 {
			continue
		}
		if first {
			fmt.Fprint(w, "\n<details><summary>Questions that got worse</summary>\n\n")
			first = false
		}
		fmt.Fprintf(w, "* %s, %s: %s\n", escape(d.Rule.String()), escape(d.pointName()), escape(abridged(d.Lost, 30)))
	}
	if !first {
		fmt.Fprint(w, "\n</details>\n")
	}
}

func mark(v Action) string {
	return map[Action]string{Fail: ":x:", Warn: ":warning:", Pass: ":white_check_mark:"}[v]
}

func row(w *bufio.Writer, cells ...string) {
	for i, c := range cells {
		cells[i] = escape(c)
	}
	fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
}

func escape(text string) string { return compare.Escape(text) }

func shorten(text string) string {
	if r := []rune(text); len(r) > 80 {
		return string(r[:77]) + "..."
	}
	return text
}

func abridged(values []string, most int) string { return compare.Abridged(values, most) }

func oneLine(text string) string {
	return strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(text)
}
