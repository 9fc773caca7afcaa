package results

import (
	"context"
	"math"
	"slices"
	"sync"
)

// absent says which columns that the question names are null everywhere, and why.
func (t *scanTable) absent(ctx context.Context, a *Scanned) error {
	var named, objectives []string
	for name, values := range t.values {
		if !slices.ContainsFunc(values, func(v any) bool { return v != nil }) {
			named = append(named, name)
		}
	}
	for _, name := range t.Named {
		if !t.scan.anyValue(name) && !slices.Contains(named, name) {
			named = append(named, name)
		}
	}
	slices.Sort(named)
	for j, o := range t.Objectives {
		if !slices.ContainsFunc(indicesOf(t.keep), func(i int) bool { return !math.IsNaN(t.costs[j][i]) }) {
			objectives = append(objectives, o.Column)
		}
	}
	for _, ask := range []struct {
		names []string
		mask  []bool
		said  *[]string
	}{{named, t.read, &a.Absent}, {objectives, t.keep, &a.NoFrontier}} {
		if len(ask.names) == 0 {
			continue
		}
		witness, err := t.witness(ctx, ask.mask)
		if err != nil {
			return err
		}
		*ask.said = Absent(witness, ask.names)
	}
	return nil
}

func indicesOf(mask []bool) []int {
	var out []int
	for i, on := range mask {
		if on {
			out = append(out, i)
		}
	}
	return out
}

// anyValue says by the footers whether any row has a value; where they do not tell, it is taken for granted.
func (s *scan) anyValue(name string) bool {
	for _, f := range s.files {
		c, ok := f.columns[name]
		if !ok {
			continue
		}
		for i := range f.reader.NumRowGroups() {
			if null, err := c.onlyNulls(f.reader.RowGroup(i), int(f.reader.MetaData().RowGroups[i].GetNumRows())); !null || err != nil {
				return true
			}
		}
	}
	return false
}

// witness are two rows that stand for many in Absent: one for those that were measured and one for the others. Each
// column has a value if any of its rows has one, and queries_answerable the largest.
func (t *scanTable) witness(ctx context.Context, mask []bool) ([]Row, error) {
	ok, other := Row{"status": "ok"}, Row{}
	present := [2]bool{}
	for _, i := range indicesOf(mask) {
		if t.ok(i) {
			present[0] = true
		} else {
			present[1] = true
		}
	}
	var mu sync.Mutex
	err := t.scan.each(ctx, without(t.scan.names(), "status"), nil, func(c chunk) error {
		return c.values(func(row int, v any) {
			if !mask[row] {
				return
			}
			into := other
			if t.ok(row) {
				into = ok
			}
			mu.Lock()
			defer mu.Unlock()
			old, known := into[c.name]
			if n, isInt := v.(int64); !known || (isInt && c.name == "queries_answerable" && n > old.(int64)) {
				into[c.name] = v
			}
		})
	})
	if err != nil {
		return nil, err
	}
	var out []Row
	for k, r := range []Row{ok, other} {
		if present[k] {
			out = append(out, r)
		}
	}
	return out, nil
}
