package gate

import (
	"fmt"
	"strings"
)

// Decision is the verdict in Markdown for an experiment card: a sentence, and what did not pass.
func (r *Result) Decision() string {
	word := map[Action]string{Fail: "**Do not adopt**: the gate failed.", Warn: "**Adopt with care**: the gate passed, with doubts.", Pass: "**Adopt**: the gate passed."}[r.Verdict]
	var out strings.Builder
	fmt.Fprintf(&out, "%s By the policy %s, %s.\n", word, escape(r.Policy.Path), r.headline())
	for _, v := range r.vanishedPoints() {
		if v.verdict != Pass {
			fmt.Fprintf(&out, "\n* %s: %s", escape(v.point), escape(v.why))
		}
	}
	for _, verdict := range []Action{Fail, Warn} {
		for i := range r.Decisions {
			d := &r.Decisions[i]
			if d.Verdict == verdict && !d.told() {
				fmt.Fprintf(&out, "\n* %s, %s: %s", escape(d.Rule.String()), escape(d.pointName()), escape(strings.TrimSpace(string(d.Outcome)+" "+r.figures(d))))
			}
		}
	}
	return strings.TrimRight(out.String(), "\n")
}
