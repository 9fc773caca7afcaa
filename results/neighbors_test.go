package results

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestArrangeNeighbors(t *testing.T) {
	null := int64(math.MinInt64)
	for _, c := range []struct {
		name            string
		query, rank, id []int64
		want            string
	}{
		{"twice", []int64{0, 0, 1, 1}, []int64{1, 1, 1, 2}, []int64{1, 2, 3, 4}, "row 1: rank 1 of query 0 is there twice"},
		{"missing", []int64{0, 0, 1}, []int64{1, 2, 1}, []int64{1, 2, 3}, "3 rows are not the ranks 1 to 2 of the queries 0 to 1"},
		{"null", []int64{0, null}, []int64{1, 2}, []int64{1, 2}, "row 1: query null, rank 2"},
		{"rank 0", []int64{0}, []int64{0}, []int64{1}, "ranks from 1"},
		{"huge", []int64{math.MaxInt64, 0}, []int64{math.MaxInt64, 1}, []int64{1, 2}, "2 rows are not"},
		{"empty", nil, nil, nil, "0 rows are not"},
	} {
		if _, _, err := arrange(c.query, c.rank, c.id); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v does not say %q", c.name, err, c.want)
		}
	}
	k, ids, err := arrange([]int64{1, 0, 1, 0}, []int64{2, 1, 1, 2}, []int64{4, 1, 3, 2})
	if err != nil || k != 2 || !slices.Equal(ids, []int64{1, 2, 3, 4}) {
		t.Errorf("%d, %v, %v", k, ids, err)
	}
}
