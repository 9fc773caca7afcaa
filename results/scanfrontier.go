package results

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
)

// ManyRows is from how many rows on ScanFrontier is worth its while: rows of their own take three to six kilobytes each.
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
