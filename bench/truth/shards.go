package truth

import (
	"fmt"
	"strconv"
	"strings"
)

// Shard is one of Count parts of the base, from 1. The zero value is the whole base.
type Shard struct {
	Index int `json:"index"`
	Count int `json:"count"`
}

// ParseShard reads i/n, with i from 1 to n.
func ParseShard(s string) (Shard, error) {
	index, count, ok := strings.Cut(s, "/")
	i, errI := strconv.Atoi(index)
	n, errN := strconv.Atoi(count)
	if !ok || errI != nil || errN != nil || i < 1 || i > n {
		return Shard{}, fmt.Errorf("%q is not a shard i/n with i from 1 to n, such as 1/4", s)
	}
	return Shard{Index: i, Count: n}, nil
}

// Whole says whether the shard is all of the base.
func (s Shard) Whole() bool { return s.Count == 0 }

func (s Shard) String() string {
	if s.Whole() {
		return "all rows"
	}
	return fmt.Sprintf("shard %d/%d", s.Index, s.Count)
}

// Range is the rows [from, to) of the shard. The shards of a base differ by at most one row.
func (s Shard) Range(rows int) (from, to int) {
	if s.Whole() {
		return 0, rows
	}
	each, rest := rows/s.Count, rows%s.Count
	from = (s.Index-1)*each + min(s.Index-1, rest)
	to = from + each
	if s.Index <= rest {
		to++
	}
	return from, to
}
