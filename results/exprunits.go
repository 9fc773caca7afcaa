package results

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"frontier/internal/bytesize"
)

// unitOf is what a unit in an expression stands for: a factor to the base unit, and which that is.
func unitOf(name string) (factor float64, base string, ok bool) {
	switch name {
	case "ns":
		return 1e-9, "seconds", true
	case "us", "µs", "μs":
		return 1e-6, "seconds", true
	case "ms":
		return 1e-3, "seconds", true
	case "s":
		return 1, "seconds", true
	case "m", "min":
		return 60, "seconds", true
	case "h":
		return 3600, "seconds", true
	}
	if bytes, ok := bytesize.Unit(name); ok {
		return float64(bytes), "bytes", true
	}
	return 0, "", false
}

// quantities is an expression whose numbers may have units, such as "latency_p99_seconds <= 20ms".
type quantities struct {
	plain  string // with each in base units, as the expression language reads it
	masked string // of the same length as the original, with spaces for the units
	used   map[string]string
}

// withUnits finds the units: letters that follow a number without a space, outside of texts.
func withUnits(expression string) (quantities, error) {
	q := quantities{used: map[string]string{}}
	var plain, masked strings.Builder
	keep := func(text string) {
		plain.WriteString(text)
		masked.WriteString(text)
	}
	for i := 0; i < len(expression); {
		rest := expression[i:]
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case r == '"' || r == '\'' || r == '`':
			n := textLength(rest)
			keep(rest[:n])
			i += n
		case unicode.IsLetter(r) || r == '_' || r == '$':
			n := wordLength(rest)
			keep(rest[:n])
			i += n
		case r >= '0' && r <= '9':
			number := numberLength(rest)
			unit := rest[number : number+wordLength(rest[number:])]
			if err := q.number(&plain, &masked, rest[:number], unit); err != nil {
				return quantities{}, fmt.Errorf("character %d: %w", i+1, err)
			}
			i += number + len(unit)
		default:
			keep(rest[:size])
			i += size
		}
	}
	q.plain, q.masked = plain.String(), masked.String()
	return q, nil
}

func (q *quantities) number(plain, masked *strings.Builder, number, unit string) error {
	factor, base, ok := unitOf(unit)
	if !ok {
		if unit != "" && number != "0" { // 0x1f, 0b101
			return fmt.Errorf("%q is no unit that is known here; those are ns, us, ms, s, min, h and B, KiB, MiB, GiB, TiB, kB, MB, GB, TB", unit)
		}
		plain.WriteString(number + unit)
		masked.WriteString(number + unit)
		return nil
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(number, "_", ""), 64)
	if err != nil {
		return fmt.Errorf("%q is no number", number)
	}
	if factor < 1 {
		v /= float64(int64(1/factor + 0.5)) // 20ms is 0.02 to the last digit
	} else {
		v *= factor
	}
	q.used[base] = number + unit
	plain.WriteString(strconv.FormatFloat(v, 'f', -1, 64))
	masked.WriteString(number + strings.Repeat(" ", len(unit)))
	return nil
}

// checkColumns refuses a unit that none of the columns has.
func (q *quantities) checkColumns(c *catalogue, columns map[string]Type) error {
	for _, base := range sortedKeys(q.used) {
		found := false
		for name := range columns {
			if i, _, ok := c.find(name); ok && c.columns[i].Unit == base {
				found = true
			}
		}
		if !found {
			return fmt.Errorf("%s is in %s, and no column here is", q.used[base], base)
		}
	}
	return nil
}

// textLength is the length of a quoted text, to the end if it is not closed: the parser says so.
func textLength(s string) int {
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && s[0] != '`':
			i++
		case s[i] == s[0]:
			return i + 1
		}
	}
	return len(s)
}

func wordLength(s string) int {
	for i, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '$' {
			return i
		}
	}
	return len(s)
}

// numberLength is the length of digits, a fraction and an exponent. Two dots are a range, not a fraction.
func numberLength(s string) int {
	digits := func(i int) int {
		for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '_') {
			i++
		}
		return i
	}
	i := digits(0)
	if i+1 < len(s) && s[i] == '.' && s[i+1] >= '0' && s[i+1] <= '9' {
		i = digits(i + 1)
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		if end := digits(j); end > j {
			return end
		}
	}
	return i
}
