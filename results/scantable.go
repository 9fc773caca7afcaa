package results

import (
	"context"
	"hash/maphash"
	"math"
	"slices"
)

// scanTable holds the columns of a question.
type scanTable struct {
	ScanQuestion
	scan  *scan
	costs [][]float64 // by objective; NaN for null
	ends  [][2][]float64
	// texts are the columns that say what a row is and what measured it.
	texts    map[string]*dictionary
	cores    []float64
	values   map[string][]any // the columns that the condition names
	warnings []any
	identity []uint64 // of run and point; 0 without both
	named    []bool   // has a point_id
	started  []int64  // in microseconds; noTime for null
	read     []bool   // is not superseded
	keep     []bool   // is read, and meets the condition
}

const noTime = math.MinInt64

// groupTexts are what Groups needs to know of a row, beside its cores, and the status.
func groupTexts() []string {
	return []string{"status", "dataset_digest", "dataset", "machine_digest", "cpu"}
}

func readScanTable(ctx context.Context, s *scan, q ScanQuestion) (*scanTable, error) {
	t := &scanTable{
		ScanQuestion: q, scan: s, texts: map[string]*dictionary{}, values: map[string][]any{}, cores: nulls(s.rows), warnings: make([]any, s.rows),
		identity: make([]uint64, s.rows), named: make([]bool, s.rows), started: make([]int64, s.rows), read: make([]bool, s.rows),
	}
	for i := range t.started {
		t.started[i] = noTime
	}
	numbers := map[string][]float64{"cores": t.cores}
	number := func(name string) []float64 {
		if numbers[name] == nil {
			numbers[name] = nulls(s.rows)
		}
		return numbers[name]
	}
	for _, o := range q.Objectives {
		t.costs = append(t.costs, number(o.Column))
		if q.Places {
			low, high := IntervalColumns(o.Column)
			t.ends = append(t.ends, [2][]float64{number(low), number(high)})
		}
	}
	for _, name := range groupTexts() {
		t.texts[name] = newDictionary(s.rows)
	}
	if q.Where != "" {
		columns, err := ColumnsOf(q.Where)
		if err != nil {
			return nil, err
		}
		for _, name := range columns {
			t.values[name] = make([]any, s.rows)
		}
	}
	runs := make([]uint64, s.rows)
	seed := maphash.MakeSeed()
	names := slices.Concat(sortedKeys(numbers), groupTexts(), sortedKeys(t.values), []string{"run_id", "point_id", "started_at", "warnings"})
	slices.Sort(names)
	err := s.each(ctx, slices.Compact(names), nil, func(c chunk) error {
		if into, ok := t.values[c.name]; ok {
			if err := c.values(func(row int, v any) { into[row] = v }); err != nil {
				return err
			}
		}
		if into, ok := numbers[c.name]; ok {
			return c.numbers(into)
		}
		if d, ok := t.texts[c.name]; ok {
			return d.read(c)
		}
		switch c.name {
		case "run_id":
			return c.texts(func(row int, v []byte) {
				if len(v) > 0 {
					runs[row] = maphash.Bytes(seed, v) | 1
				}
			})
		case "point_id":
			return c.texts(func(row int, v []byte) { t.identity[row], t.named[row] = maphash.Bytes(seed, v), len(v) > 0 })
		case "started_at":
			return c.times(t.started)
		case "warnings":
			return c.values(func(row int, v any) { t.warnings[row] = v })
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	t.identify(runs)
	t.complete()
	return t, nil
}

// identify joins the hashes of points with those of their runs.
func (t *scanTable) identify(runs []uint64) {
	for i, run := range runs {
		if run == 0 || !t.named[i] || t.started[i] == noTime {
			t.identity[i] = 0
			continue
		}
		t.identity[i] ^= run * 0x9e3779b97f4a7c15 // not symmetric in the two
	}
}

// complete turns values into costs, and warns of columns of another version.
func (t *scanTable) complete() {
	for j, o := range t.Objectives {
		if o.Direction == Higher {
			costs := make([]float64, len(t.costs[j])) // the column may also be an end of an interval, or the cores
			for i, v := range t.costs[j] {
				costs[i] = -v
			}
			t.costs[j] = costs
		}
	}
	for _, f := range t.scan.files {
		for i := f.base; len(f.unknown) > 0 && i < f.base+int(f.reader.NumRows()); i++ {
			t.warnings[i] = withUnknown(t.warnings[i], f.unknown)
		}
	}
}

// nulls is a column of nulls.
func nulls(rows int) []float64 {
	out := make([]float64, rows)
	for i := range out {
		out[i] = math.NaN()
	}
	return out
}

// supersede leaves out rows whose point was measured again in the same run, as latest does.
func (t *scanTable) supersede() {
	last := make(map[uint64]int32, t.scan.rows)
	for i, id := range t.identity {
		t.read[i] = true
		if id == 0 {
			continue
		}
		old, known := last[id]
		if known && !t.replaces(i, int(old)) {
			t.read[i] = false
			continue
		}
		if known {
			t.read[old] = false
		}
		last[id] = int32(i)
	}
}

// replaces is Replaces.
func (t *scanTable) replaces(row, old int) bool {
	if is, was := t.ok(row), t.ok(old); is != was {
		return is
	}
	return t.started[row] >= t.started[old]
}

func (t *scanTable) ok(row int) bool { return t.texts["status"].at(row) == "ok" }

// meet finds the rows that meet the condition.
func (t *scanTable) meet() error {
	if t.Where == "" {
		t.keep = t.read
		return nil
	}
	holds, err := Where(t.Where)
	if err != nil {
		return err
	}
	t.keep = make([]bool, t.scan.rows)
	r := Row{}
	for i, read := range t.read {
		if !read {
			continue
		}
		for name, values := range t.values {
			delete(r, name)
			if values[i] != nil {
				r[name] = values[i]
			}
		}
		if t.keep[i], err = holds(r); err != nil {
			return err
		}
	}
	return nil
}

func (t *scanTable) anyNull(row int) bool {
	return slices.ContainsFunc(t.costs, func(c []float64) bool { return math.IsNaN(c[row]) })
}
