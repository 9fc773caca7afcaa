package goldencheck

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"frontier/internal/splitmix"
)

// How near-duplicates are found: MinHash over shingles (Broder, SEQUENCES 1997) with locality-sensitive hashing (Indyk and
// Motwani, STOC 1998), and every candidate compared exactly.
const (
	shingleSize  = 5   // code points
	permutations = 128 // of which bands*rows are used
	bands        = 25
	rows         = 5
	// NearDuplicate is the Jaccard similarity from which two questions are near-duplicates. A pair of just this similarity
	// escapes all bands with probability (1 - 0.8^5)^25, which is 1 in 20,000; a pair of 0.3 is compared in vain with
	// probability 0.06, one of 0.1 with 0.0003.
	NearDuplicate = 0.8
)

// Pair is two texts that are nearly the same, by index, First before Second.
type Pair struct {
	First, Second int
	Jaccard       float64
}

// NearDuplicates finds texts of which the sets of lower-cased shingles of five code points have a Jaccard similarity of
// at least NearDuplicate; white space counts as one space. It gives, in order of Second, enough pairs to connect every group
// of near-duplicates, and not all pairs within it: of n texts of a group, n-1. A text of fewer code points is one shingle.
// The same texts always give the same pairs. It stops with an error when ctx is done.
func NearDuplicates(ctx context.Context, texts []string) ([]Pair, error) {
	var pairs []Pair
	var folded []string // distinct
	var first []int     // of each, the first text that is it
	index := map[string]int{}
	for i, text := range texts {
		text = fold(text)
		if j, ok := index[text]; ok {
			pairs = append(pairs, Pair{first[j], i, 1})
			continue
		}
		index[text] = len(folded)
		folded, first = append(folded, text), append(first, i)
	}
	g := groups{parent: make([]int32, len(folded)), shingles: shingles{texts: folded, ids: map[string]uint32{}, sets: make([][]uint32, len(folded))}}
	for i := range g.parent {
		g.parent[i] = int32(i)
	}
	signatures := signaturesOf(folded)
	var buckets []bucketed
	for band := range bands {
		buckets = buckets[:0]
		for i := range folded {
			buckets = append(buckets, bucketed{bandKey(signatures[i*bands*rows+band*rows:][:rows]), int32(i)})
		}
		slices.SortFunc(buckets, func(a, b bucketed) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.text, b.text)) })
		for from := 0; from < len(buckets); {
			to := from + 1
			for to < len(buckets) && buckets[to].key == buckets[from].key {
				to++
			}
			near, err := g.connect(ctx, buckets[from:to])
			if err != nil {
				return nil, err
			}
			for _, p := range near {
				a, b := first[p.First], first[p.Second]
				pairs = append(pairs, Pair{min(a, b), max(a, b), p.Jaccard})
			}
			from = to
		}
	}
	slices.SortFunc(pairs, func(a, b Pair) int { return cmp.Or(cmp.Compare(a.Second, b.Second), cmp.Compare(a.First, b.First)) })
	return pairs, nil
}

// bucketed is a text under the key of one of its bands.
type bucketed struct {
	key  uint64
	text int32
}

// groups are disjoint sets of texts.
type groups struct {
	parent   []int32
	shingles shingles
}

func (g groups) root(i int32) int32 {
	for g.parent[i] != i {
		g.parent[i] = g.parent[g.parent[i]]
		i = g.parent[i]
	}
	return i
}

// connect compares the texts of one bucket that are in different groups yet, and joins those that are near.
func (g groups) connect(ctx context.Context, bucket []bucketed) ([]Pair, error) {
	var pairs []Pair
	for i, b := range bucket {
		if err := ctx.Err(); err != nil { // questions made from a template fill buckets without being near one another
			return nil, err
		}
		for _, a := range bucket[:i] {
			x, y := g.root(a.text), g.root(b.text)
			if x == y {
				continue
			}
			if s := jaccard(g.shingles.of(a.text), g.shingles.of(b.text)); s >= NearDuplicate {
				pairs = append(pairs, Pair{int(a.text), int(b.text), s})
				g.parent[max(x, y)] = min(x, y)
			}
		}
	}
	return pairs, nil
}

// fold is what two texts have in common that differ in case and white space.
func fold(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

// shingles are the sets of shingles of texts, made when they are asked for.
type shingles struct {
	texts []string
	ids   map[string]uint32 // shingle to its number
	sets  [][]uint32        // of each text, ascending
}

func (s shingles) of(text int32) []uint32 {
	if s.sets[text] != nil {
		return s.sets[text]
	}
	var set []uint32
	eachShingle(s.texts[text], func(shingle string) {
		id, known := s.ids[shingle]
		if !known {
			id = uint32(len(s.ids))
			s.ids[shingle] = id
		}
		set = append(set, id)
	})
	slices.Sort(set)
	s.sets[text] = slices.Compact(set)
	return s.sets[text]
}

// eachShingle yields every run of shingleSize code points, or the whole of a shorter text.
func eachShingle(text string, yield func(string)) {
	var starts [shingleSize]int // of the last code points, as a ring
	n := 0
	for i := range text {
		if n >= shingleSize {
			yield(text[starts[n%shingleSize]:i])
		}
		starts[n%shingleSize] = i
		n++
	}
	if n < shingleSize {
		yield(text)
	} else {
		yield(text[starts[n%shingleSize]:])
	}
}

// jaccard is the similarity of two ascending sets.
func jaccard(a, b []uint32) float64 {
	shared := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			shared, i, j = shared+1, i+1, j+1
		}
	}
	return float64(shared) / float64(len(a)+len(b)-shared)
}

// signaturesOf are the least values of the shingles of each text under each permutation, text by text.
func signaturesOf(texts []string) []uint32 {
	var a, b [permutations]uint64 // x -> a*x + b, of which the upper half is taken: Dietzfelbinger, STACS 1996
	for i := range permutations {
		a[i], b[i] = splitmix.Mix(uint64(2*i+1))|1, splitmix.Mix(uint64(2*i+2))
	}
	signatures := make([]uint32, len(texts)*bands*rows)
	for t, text := range texts {
		least := signatures[t*bands*rows:][:bands*rows]
		for i := range least {
			least[i] = math.MaxUint32
		}
		eachShingle(text, func(s string) {
			x := hashOf(s)
			for i := range least {
				least[i] = min(least[i], uint32((a[i]*x+b[i])>>32))
			}
		})
	}
	return signatures
}

func bandKey(values []uint32) uint64 {
	key := uint64(0)
	for _, v := range values {
		key = splitmix.Mix(key ^ uint64(v))
	}
	return key
}

// hashOf is FNV-1a, mixed since its upper bits are poor for short strings.
func hashOf(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return splitmix.Mix(h)
}
