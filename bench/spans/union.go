package spans

import (
	"cmp"
	"slices"
)

// union merges spans into disjoint ones in order of document and start. It reuses the memory of its argument.
func union(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return cmp.Or(cmp.Compare(a.Doc, b.Doc), cmp.Compare(a.Start, b.Start)) })
	out := spans[:0]
	for _, s := range spans {
		if last := len(out) - 1; last >= 0 && out[last].Doc == s.Doc && s.Start <= out[last].End {
			out[last].End = max(out[last].End, s.End)
		} else {
			out = append(out, s)
		}
	}
	return out
}

// length is that of disjoint spans together.
func length(union []Span) int {
	n := 0
	for _, s := range union {
		n += s.Len()
	}
	return n
}

// shared is the length of what two unions have in common.
func shared(a, b []Span) int {
	n := 0
	for len(a) > 0 && len(b) > 0 {
		if a[0].Doc == b[0].Doc {
			n += max(min(a[0].End, b[0].End)-max(a[0].Start, b[0].Start), 0)
		}
		if cmp.Or(cmp.Compare(a[0].Doc, b[0].Doc), cmp.Compare(a[0].End, b[0].End)) <= 0 {
			a = a[1:]
		} else {
			b = b[1:]
		}
	}
	return n
}

// covered is how much of s lies in a union.
func covered(s Span, union []Span) int {
	n := 0
	for _, u := range union[firstReaching(union, s):] {
		if !u.overlaps(s) {
			break
		}
		n += min(u.End, s.End) - max(u.Start, s.Start)
	}
	return n
}

// touches says whether s overlaps any part of a union.
func touches(s Span, union []Span) bool {
	i := firstReaching(union, s)
	return i < len(union) && union[i].overlaps(s)
}

// firstReaching is the first part of a union that ends behind the start of s.
func firstReaching(union []Span, s Span) int {
	i, _ := slices.BinarySearchFunc(union, s, func(u, s Span) int {
		if cmp.Or(cmp.Compare(u.Doc, s.Doc), cmp.Compare(u.End, s.Start+1)) < 0 {
			return -1
		}
		return 1
	})
	return i
}
