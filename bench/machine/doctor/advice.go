package doctor

import (
	"cmp"
	"slices"
)

// rule looks at one thing. It gives no finding where it does not apply.
type rule struct {
	id    string
	judge func(*Report) *judgement
}

type judgement struct {
	severity     Severity
	text, remedy string
}

func ok(text string) *judgement           { return &judgement{OK, text, ""} }
func bad(text, remedy string) *judgement  { return &judgement{Bad, text, remedy} }
func warn(text, remedy string) *judgement { return &judgement{Warn, text, remedy} }
func unknown(text string) *judgement      { return &judgement{Unknown, text, ""} }

// graded is bad above one limit, a warning above another, and fine below both.
func graded(value, warnAbove, badAbove float64, text, remedy string) *judgement {
	switch {
	case value > badAbove:
		return bad(text, remedy)
	case value > warnAbove:
		return warn(text, remedy)
	}
	return ok(text)
}

// rules is everything that is looked at.
func rules() []rule {
	return slices.Concat(quietRules(), clockRules(), memoryRules(), speedRules(), softwareRules())
}

// advice applies all rules; the worst findings come first, each severity in the order of the rules.
func advice(r *Report) []Finding {
	found := []Finding{}
	for _, rule := range rules() {
		if j := rule.judge(r); j != nil {
			found = append(found, Finding{j.severity, rule.id, j.text, j.remedy})
		}
	}
	for _, e := range r.Engines {
		if e.Absent != "" {
			found = append(found, Finding{Warn, "engine_" + e.Name, e.Name + " is absent from this binary", e.Absent})
		}
	}
	order := map[Severity]int{Bad: 0, Warn: 1, Unknown: 2, OK: 3}
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(order[a.Severity], order[b.Severity]) })
	return found
}
