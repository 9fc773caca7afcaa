package cell

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"frontier/indexes"
)

// words are sets as bits.
func words(rows int, ids ...int64) []uint64 {
	s := indexes.NewIDSet(rows)
	for _, id := range ids {
		s.Add(id)
	}
	return s.Words()
}

func TestFiltersFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filters.bin")
	f := &Filters{
		Rows: 70, Eligible: []int{0, -1, 0}, Predicates: [][]int{{1, 1, -1}},
		Sets: [][]uint64{words(70, 1, 2, 69), words(70, 2, 3)},
	}
	if err := WriteFilters(path, f); err != nil {
		t.Fatal(err)
	}
	got, err := readFilters(path, 3)
	if err != nil {
		t.Fatal(err)
	}
	if !got.eligible[0].Has(69) || got.eligible[1] != nil || got.eligible[2] != got.eligible[0] || !got.predicates[0][1].Has(3) {
		t.Errorf("%+v", got)
	}
	both, err := got.bothOf(0)
	if err != nil {
		t.Fatal(err)
	}
	if both[0].Len() != 1 || !both[0].Has(2) || both[1] != got.predicates[0][1] || both[2] != got.eligible[2] {
		t.Errorf("both are %v", both)
	}
	if _, err := readFilters(path, 4); err == nil {
		t.Error("the sets of other queries are taken")
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for what, bytes := range map[string][]byte{"cut short": raw[:len(raw)-1], "too long": append(slices.Clone(raw), 0)} {
		if err := os.WriteFile(path, bytes, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := readFilters(path, 3); err == nil {
			t.Errorf("a file that is %s is read", what)
		}
	}
	if err := WriteFilters(path, &Filters{Rows: 3, Sets: [][]uint64{{1 << 5}}}); err == nil {
		t.Error("rows that there are not are written")
	}
}

// An engine that cannot filter is asked for more until enough are left, or nothing is.
func TestAskingForMoreUntilEnoughAreLeft(t *testing.T) {
	r := &retriever{depth: 2, least: 3, queries: []string{"a", "b", "c"}, parts: []indexes.Index{counting(100)}, dense: []bool{false}, names: []string{"counting"}}
	r.filters = &rowFilters{eligible: make([]*indexes.IDSet, 3), both: make([][]*indexes.IDSet, 1), predicates: [][]*indexes.IDSet{make([]*indexes.IDSet, 3)}}
	set := func(ids ...int64) *indexes.IDSet {
		s, err := indexes.IDSetOf(100, words(100, ids...))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	r.filters.eligible[0] = set(10, 20, 30, 40)
	r.filters.eligible[1] = set(99)
	r.filters.predicates[0][0] = set(20, 40)
	if err := r.probeParts(); err != nil {
		t.Fatal(err)
	}
	r.addClients(1)
	ask := func(p *PointFilter, query int) (ids []int64, asked int) {
		t.Helper()
		if _, err := r.usePoint(p); err != nil {
			t.Fatal(err)
		}
		if err := r.Do(0, query); err != nil {
			t.Fatal(err)
		}
		for _, h := range r.clients[0].hits {
			ids = append(ids, h.ID)
		}
		return ids, r.clients[0].asked
	}
	for _, c := range []struct {
		point *PointFilter
		query int
		want  []int64
		asked int
	}{
		{nil, 0, []int64{10, 20, 30}, 32},
		{nil, 1, []int64{99}, 128}, // nothing is left to find
		{nil, 2, []int64{0, 1, 2, 3}, 4},
		{&PointFilter{Mode: FilterPost}, 0, []int64{20, 40}, 128},
		{&PointFilter{Mode: FilterPre}, 0, []int64{20, 40}, 128}, // as post, since the engine cannot
		{&PointFilter{Mode: FilterPre}, 2, []int64{0, 1, 2, 3}, 4},
		{&PointFilter{Mode: FilterBoost, Boost: 0.6}, 0, []int64{20, 10, 30}, 32}, // shares of the range are 1, 0.5 and 0
	} {
		got, asked := ask(c.point, c.query)
		if !slices.Equal(got, c.want) || asked != c.asked {
			t.Errorf("%+v, query %d: %v after asking for %d, expected %v after %d", c.point, c.query, got, asked, c.want, c.asked)
		}
	}
	if r.acting.mode != FilterBoost {
		t.Errorf("the mode in effect is %q", r.acting.mode)
	}
	warnings, err := r.usePoint(&PointFilter{Mode: FilterPre})
	if err != nil || r.acting.mode != FilterPost || len(warnings) != 2 {
		t.Errorf("mode %q, warnings %q, %v", r.acting.mode, warnings, err)
	}
	for _, bad := range []*PointFilter{{Mode: "hard"}, {Predicate: 1, Mode: FilterPre}} {
		if _, err := r.usePoint(bad); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
	r.filters = nil
	if _, err := r.usePoint(&PointFilter{Mode: FilterPre}); err == nil {
		t.Error("a filter without sets is accepted")
	}
}

func TestBoostOfEqualScores(t *testing.T) {
	hits := []indexes.Hit{{ID: 1, Score: 5}, {ID: 2, Score: 5}, {ID: 3, Score: 5}}
	s := indexes.NewIDSet(4)
	s.Add(3)
	lift(hits, s, 0.2)
	if hits[0].ID != 3 || hits[1].ID != 1 {
		t.Errorf("%v", hits)
	}
	lift(nil, s, 0.2)
}
