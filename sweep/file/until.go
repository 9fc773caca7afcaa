package file

import (
	"slices"
	"strconv"
	"strings"
)

// Until asks for visits until the 95% interval of a statistic is narrow: from its middle to either end at most Width
// of the statistic.
type Until struct {
	Stat  string // one of UntilStats
	Width float64
}

// UntilStats are the statistics that until can be asked of.
func UntilStats() []string { return []string{"qps", "mean", "p50", "p90", "p95", "p99"} }

const untilExample = "for example until: {p99: 5%}"

// until reads measure.until, in the order of UntilStats.
func (d *decoder) until(s *section) []Until {
	e := s.get("until")
	if e == nil {
		return nil
	}
	if e.val.kind == mapping && len(e.val.entries) == 0 {
		s.wrong(e, "is an empty mapping", untilExample)
		return nil
	}
	if e.val.kind != mapping {
		s.wrong(e, "must be a mapping of a statistic to a width, not "+e.val.describe(), untilExample)
		return nil
	}
	var out []Until
	for _, one := range e.val.entries {
		if !slices.Contains(UntilStats(), one.key) {
			d.unknownKey(one, "measure.until", UntilStats())
			continue
		}
		width, ok := asShare(one.val)
		if !ok || !(width > 0 && width < 1) {
			d.add(placeOf(one.val, one.pos), join("measure.until", one.key), "must be a percentage over 0% and under 100%, not "+one.val.describe(), untilExample)
			continue
		}
		out = append(out, Until{Stat: one.key, Width: width})
	}
	slices.SortFunc(out, func(a, b Until) int {
		return slices.Index(UntilStats(), a.Stat) - slices.Index(UntilStats(), b.Stat)
	})
	return out
}

// asShare reads 5% as 0.05. It keeps as many digits as shorten does, so that percent reads back as the same share.
func asShare(n *node) (float64, bool) {
	text, _ := n.value.(string)
	digits, ok := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	return shorten(v) / 100, ok && err == nil
}

// percent writes a share as asShare reads it.
func percent(share float64) string { return formatFloat(shorten(100*share)) + "%" }
