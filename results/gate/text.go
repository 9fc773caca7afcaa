package gate

import (
	"bufio"
	"fmt"
)

// paint gives words the colours of a terminal.
type paint bool

func (p paint) verdict(v Action) string {
	word := map[Action]string{Fail: "FAIL", Warn: "look", Pass: "pass"}[v]
	if !p {
		return word
	}
	code := map[Action]string{Fail: "31;1", Warn: "33", Pass: "32"}[v]
	return "\x1b[" + code + "m" + word + "\x1b[0m"
}

// text writes what failed first within each rule; what passed is counted.
func (r *Result) text(w *bufio.Writer, p paint) {
	for _, v := range r.vanishedPoints() {
		fmt.Fprintf(w, "%s  %s: %s (%d rules)\n", p.verdict(v.verdict), v.point, oneLine(v.why), v.rules)
	}
	for i := range r.Policy.Rules {
		rule := &r.Policy.Rules[i]
		for _, verdict := range []Action{Fail, Warn} {
			for _, d := range r.of(rule, verdict) {
				if d.told() {
					continue
				}
				fmt.Fprintf(w, "%s  %s\n      %s: %s", p.verdict(verdict), rule, d.pointName(), d.Outcome)
				if figures := r.figures(d); figures != "" {
					fmt.Fprint(w, "  "+figures)
				}
				fmt.Fprintf(w, "\n      %s\n", oneLine(d.Why))
				if len(d.Lost) > 0 {
					fmt.Fprintf(w, "      lost: %s\n", abridged(d.Lost, 8))
				}
			}
		}
		if passed := r.of(rule, Pass); len(passed) > 0 {
			fmt.Fprintf(w, "%s  %s: %s\n", p.verdict(Pass), rule, tally(passed))
		}
	}
	for _, residue := range r.Residue {
		fmt.Fprintf(w, "differs  %s: %s\n", residue.Kind, oneLine(residue.String()))
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(w, "note  %s\n", oneLine(warning))
	}
	fmt.Fprintf(w, "%s  %s\n", p.verdict(r.Verdict), r.headline())
}

// tally counts outcomes: "3 points (2 unchanged, 1 improvement)".
func tally(decisions []*Decision) string {
	count := map[Outcome]int{}
	for _, d := range decisions {
		count[d.Outcome]++
	}
	text := ""
	for _, o := range outcomes() {
		if n := count[Outcome(o)]; n > 0 {
			if text != "" {
				text += ", "
			}
			text += fmt.Sprintf("%d %s", n, o)
		}
	}
	return text
}
