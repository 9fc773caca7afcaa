package indexes

import (
	"slices"
	"testing"
)

func TestIDSet(t *testing.T) {
	for _, rows := range []int{0, 1, 63, 64, 65, 200} {
		s := NewIDSet(rows)
		var want []int64
		for id := range int64(rows) {
			if id%3 == 0 || id == 63 {
				s.Add(id)
				s.Add(id)
				want = append(want, id)
			}
		}
		for _, id := range []int64{-1, int64(rows), int64(rows) + 64} {
			s.Add(id)
			if s.Has(id) {
				t.Errorf("%d rows: has %d", rows, id)
			}
		}
		if got := slices.Collect(s.Each); !slices.Equal(got, want) || s.Len() != len(want) || s.Rows() != rows {
			t.Errorf("%d rows: %v, %d of %d; want %v", rows, got, s.Len(), s.Rows(), want)
		}
		for id := range int64(rows) {
			if s.Has(id) != slices.Contains(want, id) || s.Words()[id/64]>>(id%64)&1 == 1 != s.Has(id) {
				t.Errorf("%d rows: id %d is wrong", rows, id)
			}
		}
		for id := range s.Each {
			if id != 0 {
				t.Errorf("goes on to %d", id)
			}
			break
		}
	}
	if new(IDSet).Has(0) {
		t.Error("the empty set has a row")
	}
}

func TestIDSetOfWordsAndAnd(t *testing.T) {
	a, b := NewIDSet(70), NewIDSet(70)
	for i := range int64(70) {
		if i%2 == 0 {
			a.Add(i)
		}
		if i%3 == 0 {
			b.Add(i)
		}
	}
	again, err := IDSetOf(70, a.Words())
	if err != nil || again.Len() != 35 || !again.Has(68) || again.Has(69) {
		t.Errorf("%v, %v", again, err)
	}
	both, err := again.And(b)
	if err != nil || both.Len() != 12 || !both.Has(66) || both.Has(64) {
		t.Errorf("%v, %v", both, err)
	}
	if _, err := a.And(NewIDSet(71)); err == nil {
		t.Error("sets of different indexes are intersected")
	}
	if _, err := IDSetOf(70, make([]uint64, 1)); err == nil {
		t.Error("too few words are accepted")
	}
	if _, err := IDSetOf(70, []uint64{0, 1 << 6}); err == nil {
		t.Error("row 70 of 70 is accepted")
	}
}
