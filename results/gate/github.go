package gate

import (
	"bufio"
	"fmt"
	"strings"
)

// github writes workflow commands, which GitHub Actions shows as annotations at the rule in the policy's file.
func (r *Result) github(w *bufio.Writer) {
	command := func(v Action) string {
		return map[Action]string{Fail: "error", Warn: "warning", Pass: "notice"}[v]
	}
	for _, v := range r.vanishedPoints() {
		if v.verdict != Pass {
			fmt.Fprintf(w, "::%s file=%s,title=%s::%s\n", command(v.verdict), property(r.Policy.Path), property("point is missing"), data(v.point+": "+v.why))
		}
	}
	for i := range r.Decisions {
		d := &r.Decisions[i]
		if d.Verdict == Pass || d.told() {
			continue
		}
		text := d.pointName() + ": " + string(d.Outcome)
		if figures := r.figures(d); figures != "" {
			text += ", " + figures
		}
		fmt.Fprintf(w, "::%s file=%s,line=%d,col=%d,title=%s::%s\n", command(d.Verdict), property(r.Policy.Path), d.Rule.Line, d.Rule.Column, property(d.Rule.String()), data(text+". "+d.Why))
	}
	for _, one := range r.Residue {
		fmt.Fprintf(w, "::notice file=%s,title=%s::%s\n", property(r.Policy.Path), property(string(one.Kind)+" differs"), data(one.String()))
	}
	for _, text := range r.Warnings {
		fmt.Fprintf(w, "::notice file=%s::%s\n", property(r.Policy.Path), data(text))
	}
	fmt.Fprintf(w, "::%s title=frontier gate::%s\n", command(r.Verdict), data(r.headline()))
}

// data and property are escaped as GitHub's toolkit does.
func data(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

func property(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(text)
}
