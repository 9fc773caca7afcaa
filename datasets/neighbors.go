package datasets

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"
)

// ReadNeighbors reads the ids of the k nearest neighbours of each query, nearest first, from an ivecs or ibin file or
// an npy array of int32 or int64, queries x k. ids is row-major. The ground-truth files of big-ann-benchmarks, an ibin
// whose ids are followed by as many float32 distances, are read too; their distances are not used. An id of -1 is kept
// as padding; other negative ids are errors. Whether ids are below the number of base rows is for the caller to check.
// Faults of the file are an *Error.
func ReadNeighbors(path string) (k int, ids []int64, err error) {
	var parse func(string, []byte) (vectorLayout, error)
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".ivecs":
		parse = vecsLayout(elemInt32)
	case ".ibin":
		parse = ibinNeighbors
	case ".npy":
		parse = npyLayout
	default:
		return 0, nil, &Error{
			File: path, Msg: fmt.Sprintf("neighbour ids are not read from files named %q", ext),
			Hint: "the name must end in .ivecs, .ibin or .npy",
		}
	}
	raw, unmap, err := mapVectorFile(path)
	if err != nil {
		return 0, nil, err
	}
	k, ids, err = decodeNeighbors(path, raw, parse)
	if failed := unmap(); failed != nil && err == nil {
		err = fmt.Errorf("unmapping %s: %w", path, failed)
	}
	if err != nil {
		return 0, nil, err
	}
	return k, ids, nil
}

func decodeNeighbors(path string, raw []byte, parse func(string, []byte) (vectorLayout, error)) (int, []int64, error) {
	l, err := parse(path, raw)
	if err != nil {
		return 0, nil, err
	}
	if l.elem != elemInt32 && l.elem != elemInt64 {
		return 0, nil, &Error{
			File: path, Msg: fmt.Sprintf("neighbour ids are whole numbers, but the array is of %s", l.elem),
			Hint: "is this the file of distances? Save ids as int32 or int64",
		}
	}
	ids := make([]int64, 0, l.rows*l.dim)
	for i := range l.rows {
		if err := l.checkPrefix(path, raw, i); err != nil {
			return 0, nil, err
		}
		for col := range l.dim {
			at := l.offset(i, col)
			var id int64
			if l.elem == elemInt32 {
				id = int64(int32(binary.LittleEndian.Uint32(raw[at:])))
			} else {
				id = int64(binary.LittleEndian.Uint64(raw[at:]))
			}
			if id < -1 {
				return 0, nil, &Error{
					File: path, Offset: int64(at), Msg: fmt.Sprintf("the neighbour %d of query %d (from 0) has the id %d", col, i, id),
					Hint: "ids are row numbers of the base file, from 0; -1 marks a missing neighbour",
				}
			}
			ids = append(ids, id)
		}
	}
	return l.dim, ids, nil
}

// ibinNeighbors reads the header of an ibin file, with or without distances after the ids.
func ibinNeighbors(path string, raw []byte) (vectorLayout, error) {
	l, err := binLayout(elemInt32)(path, raw)
	if err == nil || len(raw) < vectorHeader {
		return l, err
	}
	if ids := (len(raw) - vectorHeader) / 2; ids*2+vectorHeader == len(raw) {
		if both, second := binLayout(elemInt32)(path, raw[:vectorHeader+ids]); second == nil {
			return both, nil
		}
	}
	return vectorLayout{}, err
}
