package results

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"sync"
)

// ManyRows is from how many rows on ScanFrontier is worth its while: rows of their own take ten kilobytes each.
const ManyRows = 20_000

// Scanned is what a scan of many rows finds: their frontier, and what is to be said of all of them.
type Scanned struct {
	Read   int             // rows in the files, without those that were measured again
	Kept   int             // rows that meet the condition
	Groups []Group         // by data set, with the rows of the frontier alone
	Common []CommonWarning // of the rows that meet the condition
	Absent []string        // of the columns that are named anywhere, as Absent says it
	// NoFrontier says, as Absent does, which objectives are null in all rows that meet the condition.
	NoFrontier []string
	Notes      []string // what the places mean, as in a Judgement
}

// ScanQuestion is what is asked of many rows.
type ScanQuestion struct {
	Objectives []Objective
	Where      string   // as for Where; "" for all rows
	Columns    []string // to read of the rows on the frontier
	Named      []string // those of them whose absence is to be told
	// Places asks for the columns place and knee of PlaceColumns, sure to Certainty. The place of what is off the measured
	// frontier is not looked for, nor are rivals.
	Places    bool
	Certainty Certainty
}

// CountRows is how many rows the files hold that paths name, by their footers.
func CountRows(paths ...string) (int, error) {
	s, err := openScan(paths)
	if err != nil {
		return 0, err
	}
	defer s.close()
	return s.rows, nil
}

// ScanFrontier answers for more rows than memory holds as Rows what ReadRows, Where, Groups and Group.Judge answer for
// few: it reads the columns that the question names, finds the frontier of each data set, and then reads the rows that
// are on it. Rows are superseded as in ReadRows, told apart by a 64-bit hash of run and point.
func ScanFrontier(ctx context.Context, q ScanQuestion, paths ...string) (*Scanned, error) {
	if err := checkObjectives(q.Objectives); err != nil {
		return nil, err
	}
	s, err := openScan(paths)
	if err != nil {
		return nil, err
	}
	defer s.close()
	t, err := readScanTable(ctx, s, q)
	if err != nil {
		return nil, err
	}
	t.supersede()
	if err := t.meet(); err != nil {
		return nil, err
	}
	return t.answer(ctx)
}

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

// dictionary is a column of few different texts: number 0 is null, number n the text n-1.
type dictionary struct {
	mu    sync.Mutex
	codes []uint32
	list  []string
	index map[string]uint32
}

func newDictionary(rows int) *dictionary {
	return &dictionary{codes: make([]uint32, rows), index: map[string]uint32{}}
}

func (d *dictionary) at(row int) string {
	if d.codes[row] == 0 {
		return ""
	}
	return d.list[d.codes[row]-1]
}

// number is that of a text, new or not.
func (d *dictionary) number(text []byte) uint32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, ok := d.index[string(text)]
	if !ok {
		d.list = append(d.list, string(text))
		n = uint32(len(d.list))
		d.index[string(text)] = n
	}
	return n
}

// read fills the part of a row group. Equal texts mostly stand together, so that the dictionary is seldom asked.
func (d *dictionary) read(c chunk) error {
	var last []byte
	var number uint32
	return c.texts(func(row int, v []byte) {
		if number == 0 || string(v) != string(last) {
			last = append(last[:0], v...)
			number = d.number(v)
		}
		d.codes[row] = number
	})
}

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
	for _, f := range s.files {
		for i := f.base; len(f.unknown) > 0 && i < f.base+int(f.reader.NumRows()); i++ {
			t.warnings[i] = withUnknown(t.warnings[i], f.unknown)
		}
	}
	for i, run := range runs {
		if run == 0 || !t.named[i] || t.started[i] == noTime {
			t.identity[i] = 0
			continue
		}
		t.identity[i] ^= run * 0x9e3779b97f4a7c15 // not symmetric in the two
	}
	for j, o := range q.Objectives {
		if o.Direction == Higher {
			for i, v := range t.costs[j] {
				t.costs[j][i] = -v
			}
		}
	}
	return t, nil
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

func (t *scanTable) answer(ctx context.Context) (*Scanned, error) {
	a := &Scanned{}
	common := newWarningCount()
	var groups groupCount
	members := map[string][]int{} // by dataset_digest
	for i := range t.keep {
		if t.read[i] {
			a.Read++
		}
		if !t.keep[i] {
			continue
		}
		a.Kept++
		list, _ := t.warnings[i].([]string)
		common.add(t.ok(i), list)
		digest := t.texts["dataset_digest"].at(i)
		groups.add(t, i)
		if t.ok(i) && !t.anyNull(i) {
			if !t.named[i] {
				return nil, fmt.Errorf("row %d has no point_id", i)
			}
			members[digest] = append(members[digest], i)
		}
	}
	a.Common = common.common()
	a.Groups = groups.groups
	if err := t.absent(ctx, a); err != nil {
		return nil, err
	}
	for g := range a.Groups {
		if err := t.frontier(ctx, a, &a.Groups[g], members[a.Groups[g].Digest]); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func (t *scanTable) anyNull(row int) bool {
	return slices.ContainsFunc(t.costs, func(c []float64) bool { return math.IsNaN(c[row]) })
}

// frontier reads the rows of a group that are on the frontier of its members.
func (t *scanTable) frontier(ctx context.Context, a *Scanned, g *Group, members []int) error {
	front := nondominated(t.costs, members)
	slices.Sort(front)
	columns := t.Columns
	if t.Places {
		columns = append(slices.Clone(columns), "status")
	}
	names := slices.DeleteFunc(slices.Clone(columns), func(name string) bool { _, stored := Lookup(name); return !stored })
	slices.Sort(names)
	rows, err := t.scan.rowsAt(ctx, front, slices.Compact(names))
	if err != nil {
		return err
	}
	if slices.Contains(names, "warnings") {
		for k, i := range front {
			if t.warnings[i] != nil { // also what reading the file gave rise to
				rows[k]["warnings"] = t.warnings[i]
			}
		}
	}
	g.Rows = rows
	if !t.Places || len(front) == 0 {
		return nil
	}
	p := t.placing(members, front)
	for k, i := range front {
		at, _ := slices.BinarySearch(members, i)
		rows[k]["place"], rows[k]["knee"] = p.Places[at].String(), false
	}
	if len(t.Objectives) == 2 {
		// The knee is found by the objectives alone.
		bare := make([]Row, len(front))
		for k, i := range front {
			bare[k] = Row{"status": "ok", "point_id": "-"}
			for j, o := range t.Objectives {
				bare[k][o.Column] = Side{Objective: o}.cost(t.costs[j][i])
			}
		}
		if k, err := Knee(bare, t.Objectives); err == nil {
			rows[k]["knee"] = true
		} else if !errors.Is(err, ErrNoKnee) {
			return err
		}
	}
	a.Notes = append(a.Notes, p.Rule(), fmt.Sprintf("points off the measured frontier were not placed, for there are %d rows: choose fewer with --where", a.Kept))
	return nil
}

// placing finds the places of the front among the members.
func (t *scanTable) placing(members, front []int) *Placing {
	b := newBoxes(len(t.Objectives))
	for j, o := range t.Objectives {
		for _, i := range members {
			low, high := t.ends[j][0][i], t.ends[j][1][i]
			b.add(j, o, t.costs[j][i], low, high, !math.IsNaN(low) && !math.IsNaN(high))
		}
	}
	return b.place(t.Objectives, t.Certainty, func(k int) bool {
		_, on := slices.BinarySearch(front, members[k])
		return on
	})
}

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

// groupCount builds Groups from rows that are not there as Rows. Rows that say the same of their data and machine are
// counted together.
type groupCount struct {
	groups []Group
	last   [5]uint32
	any    bool
	row    Row
	at     int
}

func (c *groupCount) add(t *scanTable, i int) {
	var key [5]uint32
	for k, name := range groupTexts()[1:] {
		key[k] = t.texts[name].codes[i]
	}
	if !math.IsNaN(t.cores[i]) {
		key[4] = uint32(t.cores[i]) + 1
	}
	if !c.any || key != c.last {
		c.any, c.last, c.row = true, key, Row{}
		for _, name := range groupTexts()[1:] {
			if text := t.texts[name].at(i); text != "" {
				c.row[name] = text
			}
		}
		if key[4] > 0 {
			c.row["cores"] = int64(t.cores[i])
		}
		c.at = groupOf(&c.groups, c.row)
	}
	c.groups[c.at].count(c.row)
}
