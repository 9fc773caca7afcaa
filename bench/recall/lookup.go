package recall

import "slices"

// lookup finds ids in a list. Up to scanLimit a scan is quicker than a map, and allocates nothing.
type lookup struct {
	ids []int64
	at  map[int64]int
}

const scanLimit = 128

func newLookup(ids []int64) lookup {
	l := lookup{ids: ids}
	if len(ids) > scanLimit {
		l.at = make(map[int64]int, len(ids))
		for i, id := range slices.Backward(ids) {
			l.at[id] = i
		}
	}
	return l
}

// first is the first index of id, -1 if it is absent.
func (l lookup) first(id int64) int {
	if l.at == nil {
		return slices.Index(l.ids, id)
	}
	if i, ok := l.at[id]; ok {
		return i
	}
	return -1
}
