package truth

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"frontier/datasets"
)

// mergeBuffer is how much of each shard is read at a time.
const mergeBuffer = 256 << 10

// Merged is the neighbours in the whole base, from shards. Each reads them anew; nothing is held in memory but a row and
// a buffer of each shard.
type Merged struct {
	Header Header // of the whole
	shards []Header
	paths  []string // in the order of the shards
}

// Merge checks that the files are all shards of one base, each once, with the same queries, metric and k. An error says
// which file does not fit, or which shards are missing or given twice.
func Merge(paths []string) (*Merged, error) {
	if len(paths) == 0 {
		return nil, errors.New("there are no shards to merge")
	}
	headers, byIndex := make([]Header, len(paths)), map[int]int{}
	for i, path := range paths {
		s, err := openState(path, mergeBuffer)
		if err != nil {
			return nil, err
		}
		headers[i] = s.Header
		if err := s.Close(); err != nil {
			return nil, err
		}
		if err := fits(paths[0], headers[0], path, headers[i]); err != nil {
			return nil, err
		}
		if first, twice := byIndex[headers[i].Shard.Index]; twice {
			return nil, &datasets.Error{File: path, Msg: fmt.Sprintf("%v is also in %s", headers[i].Shard, paths[first]), Hint: "give each shard once"}
		}
		byIndex[headers[i].Shard.Index] = i
	}
	count := headers[0].Shard.Count
	m := &Merged{Header: headers[0]}
	var missing []string
	for index := 1; index <= count; index++ {
		i, ok := byIndex[index]
		if !ok {
			missing = append(missing, fmt.Sprintf("%d/%d", index, count))
			continue
		}
		m.shards, m.paths = append(m.shards, headers[i]), append(m.paths, paths[i])
	}
	if len(missing) > 0 {
		return nil, &datasets.Error{
			Msg:  fmt.Sprintf("of %d shards, %d are missing: %s", count, len(missing), strings.Join(missing[:min(len(missing), 10)], ", ")),
			Hint: "make them with `frontier truth --shard`, or add them to the command",
		}
	}
	h := &m.Header
	h.Shard, h.From, h.To, h.Done = Shard{}, 0, h.Base.Rows, h.Base.Rows
	h.Held = min(h.K, h.To)
	h.Audit = mergeAudits(m.shards)
	return m, nil
}

// fits says why a file is not a shard of the same search as the first, if it is not.
func fits(firstPath string, first Header, path string, h Header) error {
	wrong := func(hint, format string, args ...any) error {
		return &datasets.Error{File: path, Msg: fmt.Sprintf(format, args...), Hint: hint}
	}
	if h.Shard.Whole() {
		return wrong("only files that were written with --shard can be merged", "holds the neighbours in the whole base, or the state of a search for them")
	}
	if !h.complete() {
		return wrong("run the search of this shard to its end", "is the state of a search that has come to row %d of %d", h.Done, h.To)
	}
	// Machines have their own paths and times; the content counts.
	for _, f := range []*datasets.VectorFingerprint{&first.Base, &first.Queries, &h.Base, &h.Queries} {
		f.Path, f.Modified = "", 0
	}
	first.Shard.Index, h.Shard.Index = 0, 0
	if first.Shard != h.Shard {
		return wrong("merge shards of one division", "is one of %d shards, but %s is one of %d", h.Shard.Count, firstPath, first.Shard.Count)
	}
	if changes := differences(first, h); len(changes) > 0 {
		return wrong("merge shards of one search", "is not of the same search as %s: %s", firstPath, strings.Join(changes, "; "))
	}
	return nil
}

// Queries is the number of queries.
func (m *Merged) Queries() int { return m.Header.Queries.Rows }

// K is how many neighbours each query has.
func (m *Merged) K() int { return m.Header.Held }

// Each calls yield with the neighbours of one query after the other, nearest first. The slices are reused. What it has
// given is good only if it returns nil in the end: a shard's checksum is compared when the whole of it was read.
func (m *Merged) Each(yield func(ids []int64, distances []float64) error) (err error) {
	states := make([]*stateReader, len(m.paths))
	defer func() {
		for _, s := range states {
			if s != nil {
				err = errors.Join(err, s.Close())
			}
		}
	}()
	for i, path := range m.paths {
		if states[i], err = openState(path, mergeBuffer); err != nil {
			return err
		}
		if states[i].Queries.Rows != m.Queries() || states[i].Shard != m.shards[i].Shard {
			return &datasets.Error{File: path, Msg: "has changed since it was first read", Hint: "merge again"}
		}
	}
	var all []neighbor
	ids, distances := make([]int64, m.K()), make([]float64, m.K())
	for range m.Queries() {
		all = all[:0]
		for _, s := range states {
			row, err := s.read()
			if err != nil {
				return err
			}
			all = append(all, row...)
		}
		slices.SortFunc(all, compareNeighbors)
		for i := range ids {
			ids[i], distances[i] = all[i].id, all[i].distance
		}
		if err := yield(ids, distances); err != nil {
			return err
		}
	}
	for _, s := range states {
		if _, err := s.read(); !errors.Is(err, io.EOF) {
			return err
		}
	}
	return nil
}
