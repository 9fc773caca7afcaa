package results

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// scaling turns a column's base unit into the one that people read: seconds into us or ms, bytes into MiB. A column has
// one scaling for all its rows, so that its numbers can be compared at a glance.
type scaling struct {
	factor   float64 // shown = base * factor
	label    string  // unit to show in the heading, "" if none
	decimals int
	group    bool // thousands get separators
}

type prefix struct {
	size  float64
	label string
}

// scalingOf chooses by the median of the values that are not zero.
func scalingOf(c Column, values []float64) scaling {
	typical := typicalSize(values)
	switch c.Unit {
	case "seconds":
		return prefixed(typical, []prefix{{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}})
	case "bytes":
		s := prefixed(typical, []prefix{{1 << 40, "TiB"}, {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}})
		if s.label == "B" {
			s.decimals = 0
		}
		return s
	case "fraction":
		return scaling{factor: 1, decimals: 3}
	case "usd":
		return scaling{factor: 1, label: "USD", decimals: max(2, significant(typical)), group: true}
	case "":
		if c.Type == Int || allWhole(values) {
			return scaling{factor: 1}
		}
		return scaling{factor: 1, decimals: significant(typical)}
	case "chunk_unit":
		return scaling{factor: 1} // the unit is a column of its own
	}
	s := scaling{factor: 1, label: c.Unit, group: true}
	if c.Type == Float {
		s.decimals = significant(typical)
	} else {
		s.label = "" // the name of a count says what it counts
	}
	return s
}

func allWhole(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return v != math.Trunc(v) })
}

func typicalSize(values []float64) float64 {
	var sizes []float64
	for _, v := range values {
		if v != 0 {
			sizes = append(sizes, math.Abs(v))
		}
	}
	if len(sizes) == 0 {
		return 0
	}
	slices.Sort(sizes)
	return sizes[len(sizes)/2]
}

// prefixed takes the largest prefix, of those in falling order, that leaves the typical value at 1 or more.
func prefixed(typical float64, prefixes []prefix) scaling {
	for i, p := range prefixes {
		if typical >= p.size || i == len(prefixes)-1 {
			return scaling{factor: 1 / p.size, label: p.label, decimals: significant(typical / p.size), group: true}
		}
	}
	return scaling{factor: 1}
}

// significant is how many decimals show three digits of a typical value, at most six.
func significant(typical float64) int {
	if typical == 0 {
		return 0
	}
	return min(max(2-int(math.Floor(math.Log10(typical))), 0), 6)
}

// format prints a base value in the scaled unit, without the unit.
func (s scaling) format(v float64) string {
	text := strconv.FormatFloat(v*s.factor, 'f', s.decimals, 64)
	if s.group {
		return grouped(text)
	}
	return text
}

func grouped(text string) string {
	digits, sign, rest := text, "", ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	if dot := strings.IndexByte(digits, '.'); dot >= 0 {
		digits, rest = digits[:dot], digits[dot:]
	}
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return sign + b.String() + rest
}

// heading is a column's name as people write it: "nDCG@10", "latency p99", "cost per month".
func heading(name string) string {
	family, k := splitCutoff(name)
	if k > 0 {
		base, tail, _ := strings.Cut(family, "_at_K")
		return words(base) + "@" + strconv.Itoa(k) + strings.ReplaceAll(tail, "_", " ")
	}
	for _, unit := range []string{"_seconds", "_bytes"} {
		name = strings.TrimSuffix(name, unit)
	}
	return words(strings.Replace(name, "_usd", "", 1))
}

func words(name string) string {
	parts := strings.Split(name, "_")
	for i, p := range parts {
		switch p {
		case "ann", "mrr", "map", "qps", "cpu":
			parts[i] = strings.ToUpper(p)
		case "ndcg":
			parts[i] = "nDCG"
		}
	}
	return strings.Join(parts, " ")
}
