package results

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"frontier/internal/param"
)

// catalogue answers questions about a set of columns by name.
type catalogue struct {
	columns []Column
	byName  map[string]int
}

// newCatalogue knows the columns of results.parquet and further ones.
func newCatalogue(further ...Column) *catalogue {
	c := &catalogue{columns: append(Columns(), further...)}
	c.byName = make(map[string]int, len(c.columns))
	for i, col := range c.columns {
		c.byName[col.Name] = i
	}
	return c
}

// find is the position of the column that name belongs to, and its cut-off (0 for a column without one).
func (c *catalogue) find(name string) (index, k int, ok bool) {
	if index, ok = c.byName[name]; ok && !strings.Contains(name, "_at_K") {
		return index, 0, true
	}
	family, k := splitCutoff(name)
	index, ok = c.byName[family]
	if ok && k == 0 && strings.Contains(family, "_at_K") {
		return 0, 0, false // the family is no column itself
	}
	return index, k, ok
}

// splitCutoff turns recall_at_10_low into recall_at_K_low and 10, and leaves other names as they are.
func splitCutoff(name string) (family string, k int) {
	at := strings.LastIndex(name, "_at_")
	if at < 0 {
		return name, 0
	}
	rest := name[at+len("_at_"):]
	digits := 0
	for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
		digits++
	}
	k, err := strconv.Atoi(rest[:digits])
	if err != nil || k < 1 || rest[0] == '0' {
		return name, 0
	}
	switch rest[digits:] {
	case "", "_low", "_high":
		return name[:at] + "_at_K" + rest[digits:], k
	}
	return name, 0
}

func withCutoff(family string, k int) string {
	return strings.Replace(family, "_at_K", "_at_"+strconv.Itoa(k), 1)
}

// Lookup is the column that name belongs to; recall_at_10 belongs to recall_at_K. The name recall_at_K itself is no
// column.
func Lookup(name string) (Column, bool) {
	c := newCatalogue()
	i, _, ok := c.find(name)
	if !ok {
		return Column{}, false
	}
	return c.columns[i], true
}

// Nearest is the known column name closest to name, or "" if none is close enough to be meant. It keeps the cut-off:
// for recal_at_10 it is recall_at_10.
func Nearest(name string) string { return newCatalogue().nearest(name) }

func (c *catalogue) nearest(name string) string {
	for _, unit := range []string{"_seconds", "_bytes"} {
		if _, ok := c.byName[name+unit]; ok {
			return name + unit // the unit was left out
		}
	}
	family, k := splitCutoff(name)
	if k == 0 && strings.Contains(name, "_at_") {
		k = 10 // recall_at_K, or recall_at_ten
	}
	names := make([]string, len(c.columns))
	for i, col := range c.columns {
		names[i] = col.Name
	}
	near := param.Nearest(family, names)
	if strings.Contains(near, "_at_K") {
		if k == 0 {
			k = 10
		}
		return withCutoff(near, k)
	}
	return near
}

func (c *catalogue) unknown(name string) error {
	if near := c.nearest(name); near != "" && near != name {
		return fmt.Errorf("unknown column %q (did you mean %q?)", name, near)
	}
	return fmt.Errorf("unknown column %q; \"frontier schema results\" lists the columns", name)
}

// Check reports the first value, in order of names, that could not be stored: an unknown column, a value of another
// type than the column's, NaN or an infinity, or text that is not valid UTF-8.
func (r Row) Check() error { return newCatalogue().check(r) }

func (c *catalogue) check(r Row) error {
	for name, v := range r {
		if c.checkValue(name, v) != nil {
			// Some value is wrong: find the first one by name, so that the message does not depend on map order.
			for _, name := range sortedKeys(r) {
				if err := c.checkValue(name, r[name]); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (c *catalogue) checkValue(name string, v any) error {
	i, _, ok := c.find(name)
	if !ok {
		return c.unknown(name)
	}
	if err := checkType(c.columns[i].Type, v); err != nil {
		return fmt.Errorf("column %q: %w", name, err)
	}
	return nil
}

func checkType(t Type, v any) error {
	if v == nil {
		return fmt.Errorf("the value is nil; leave the column out of the row for null")
	}
	ok := false
	switch v := v.(type) {
	case string:
		if ok = t == String; ok {
			return checkText(v)
		}
	case int64:
		ok = t == Int
	case float64:
		if ok = t == Float; ok {
			return checkNumber(v)
		}
	case bool:
		ok = t == Bool
	case time.Time:
		ok = t == Time
	case []byte:
		ok = t == Bytes
	case []string:
		if ok = t == Strings; ok {
			for _, s := range v {
				if err := checkText(s); err != nil {
					return err
				}
			}
		}
	case map[string]float64:
		if ok = t == FloatMap; ok {
			return checkMap(v)
		}
	}
	if !ok {
		return fmt.Errorf("the value is of type %T, the column holds %s", v, t)
	}
	return nil
}

func checkMap(m map[string]float64) error {
	for _, key := range sortedKeys(m) {
		if err := checkText(key); err != nil {
			return err
		}
		if err := checkNumber(m[key]); err != nil {
			return fmt.Errorf("entry %q: %w", key, err)
		}
	}
	return nil
}

func checkNumber(f float64) error {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Errorf("the value is %v; leave the column out of the row for null", f)
	}
	return nil
}

func checkText(s string) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("the text %q is not valid UTF-8", s)
	}
	return nil
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// String is the Go type of the values.
func (t Type) String() string {
	switch t {
	case String:
		return "string"
	case Int:
		return "int64"
	case Float:
		return "float64"
	case Bool:
		return "bool"
	case Time:
		return "time.Time"
	case Strings:
		return "[]string"
	case Bytes:
		return "[]byte"
	case FloatMap:
		return "map[string]float64"
	case float32s:
		return "[]float32"
	}
	return fmt.Sprintf("Type(%d)", int(t))
}

// Number is the value of a numeric column as float64; ok is false where it is null or not numeric.
func (r Row) Number(column string) (value float64, ok bool) {
	switch v := r[column].(type) {
	case float64:
		return v, !math.IsNaN(v)
	case int64:
		return float64(v), true
	}
	return 0, false
}

// Text is the value of a string column, "" where it is null.
func (r Row) Text(column string) string {
	s, _ := r[column].(string)
	return s
}

// Setting is the value of a column as far as it says what a point is: that of target_qps is null for an slo, whose rate is
// not asked for but found, anew each time.
func (r Row) Setting(column string) any {
	if column == "target_qps" && r.Text("load_mode") == "slo" {
		return nil
	}
	return r[column]
}

// Interval is the 95% interval that the row holds for a column: recall_at_10_low and recall_at_10_high for
// recall_at_10, latency_p99_low_seconds and latency_p99_high_seconds for latency_p99_seconds. ok is false where there
// is none.
func (r Row) Interval(column string) (low, high float64, ok bool) {
	lowName, highName := IntervalColumns(column)
	low, okLow := r.Number(lowName)
	high, okHigh := r.Number(highName)
	return low, high, okLow && okHigh
}

// IntervalColumns are the names that the ends of a column's interval have, for a column that has one.
func IntervalColumns(column string) (low, high string) {
	if base, ok := strings.CutSuffix(column, "_seconds"); ok {
		return base + "_low_seconds", base + "_high_seconds"
	}
	return column + "_low", column + "_high"
}
