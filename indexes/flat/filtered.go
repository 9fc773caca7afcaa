package flat

import (
	"math/bits"

	"frontier/indexes"
)

// SearchFiltered compares the query with the allowed rows. Their scores have the bits that Search gives them.
func (x *index) SearchFiltered(q indexes.Query, k int, allowed *indexes.IDSet, dst []indexes.Hit) ([]indexes.Hit, error) {
	if err := indexes.CheckQuery(name, q, k, x.vectors.Dim()); err != nil {
		return dst[:0], err
	}
	if err := indexes.CheckAllowed(name, allowed, x.Len()); err != nil {
		return dst[:0], err
	}
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	var top indexes.TopK
	top.Reset(dst, min(k, x.Len()))
	query := x.prepare(s, q.Vector)
	// Neighbouring rows are compared together, whether there are allowed ones between them or not: words of the set in
	// which most are allowed are cheaper to compare as a whole.
	const wordRows, most = 64, 32
	for w, word := range allowed.Words() {
		if word == 0 {
			continue
		}
		from := w * wordRows
		if bits.OnesCount64(word) < most {
			for ; word != 0; word &= word - 1 {
				row := from + bits.TrailingZeros64(word)
				top.Offer(int64(row), x.scores(s, query, row, row+1)[0])
			}
			continue
		}
		for i, score := range x.scores(s, query, from, min(from+wordRows, x.Len())) {
			if word>>i&1 == 1 {
				top.Offer(int64(from+i), score)
			}
		}
	}
	return top.Sorted(), nil
}
