// Package truthfile writes exact neighbours in the formats that other tools read.
package truthfile

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"frontier/datasets"
	"frontier/internal/atomicfile"
)

// Neighbors gives the neighbours of one query after the other.
type Neighbors interface {
	Queries() int
	// K is how many neighbours each query has.
	K() int
	// Each calls yield for each query in order, with K row numbers of the base, nearest first, and their distances. The
	// slices are reused. It returns the first error of yield, or its own.
	Each(yield func(ids []int64, distances []float64) error) error
}

// Extensions are the names of files that Write writes, by how they end.
func Extensions() []string { return []string{".parquet", ".ivecs", ".ibin", ".npy"} }

// DistanceExtensions are those of WriteDistances.
func DistanceExtensions() []string { return []string{".fvecs", ".fbin", ".npy"} }

// Check refuses, before anything is searched, what Write could not write: names of other formats, and rows (of the base)
// or queries beyond those that the format counts.
func Check(path string, queries, rows int) error {
	ext := extension(path)
	switch {
	case !slices.Contains(Extensions(), ext):
		return unknown("neighbours", path, Extensions())
	case ext == ".ibin" && queries > math.MaxUint32:
		return fmt.Errorf("%s: %d queries do not fit the 32 bits that %s files have for their number; write .parquet or .npy", path, queries, ext)
	case (ext == ".ivecs" || ext == ".ibin") && rows-1 > math.MaxInt32:
		return fmt.Errorf("%s: row numbers up to %d do not fit the 32 bits that %s files have for them; write .parquet or .npy", path, rows-1, ext)
	}
	return nil
}

// CheckDistances is Check for WriteDistances.
func CheckDistances(path string) error {
	if !slices.Contains(DistanceExtensions(), extension(path)) {
		return unknown("distances", path, DistanceExtensions())
	}
	return nil
}

func unknown(what, path string, extensions []string) error {
	return &datasets.Error{
		File: path, Msg: fmt.Sprintf("%s are not written to files named %q", what, extension(path)),
		Hint: "the name must end in one of " + strings.Join(extensions, " "),
	}
}

func extension(path string) string { return strings.ToLower(filepath.Ext(path)) }

// Write writes the neighbours to path, atomically, in the format that its name asks for:
//
//	parquet  one row a neighbour: query, rank (from 1), id, distance; metadata is kept as key-value metadata
//	ivecs    of each query its int32 K and K int32 ids (corpus-texmex)
//	ibin     uint32 queries, uint32 K, then the ids as int32 (big-ann-benchmarks, without distances)
//	npy      int64 ids, queries x K (NumPy format 1.0)
//
// All but Parquet keep the ids only: see WriteDistances.
func Write(path string, n Neighbors, metadata map[string]string) error {
	switch extension(path) {
	case ".parquet":
		return atomicfile.Write(path, func(w io.Writer) error { return writeParquet(w, n, metadata) })
	case ".ivecs":
		return writeRows(path, nil, n, vecsRow(id32))
	case ".ibin":
		return writeRows(path, binHeader(n), n, row(id32))
	case ".npy":
		return writeRows(path, datasets.NpyHeader("<i8", n.Queries(), n.K()), n, row(func(b []byte, id int64, _ float64) []byte {
			return binary.LittleEndian.AppendUint64(b, uint64(id))
		}))
	}
	return unknown("neighbours", path, Extensions())
}

// WriteDistances writes the distances to path, atomically, in the order of the ids: as float32 to fvecs and fbin, as
// float64 to npy. A distance beyond float32 is an error that asks for npy.
func WriteDistances(path string, n Neighbors) error {
	switch extension(path) {
	case ".fvecs":
		return writeRows(path, nil, narrow{n}, vecsRow(distance32))
	case ".fbin":
		return writeRows(path, binHeader(n), narrow{n}, row(distance32))
	case ".npy":
		return writeRows(path, datasets.NpyHeader("<f8", n.Queries(), n.K()), n, row(func(b []byte, _ int64, d float64) []byte {
			return binary.LittleEndian.AppendUint64(b, math.Float64bits(d))
		}))
	}
	return unknown("distances", path, DistanceExtensions())
}

func id32(b []byte, id int64, _ float64) []byte {
	return binary.LittleEndian.AppendUint32(b, uint32(id))
}

func distance32(b []byte, _ int64, d float64) []byte {
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(d)))
}

// narrow refuses distances that float32 cannot hold.
type narrow struct{ Neighbors }

func (n narrow) Each(yield func(ids []int64, distances []float64) error) error {
	query := 0
	return n.Neighbors.Each(func(ids []int64, distances []float64) error {
		for i, d := range distances {
			if math.Abs(d) > math.MaxFloat32 {
				return fmt.Errorf("query %d: the distance %g of row %d is beyond float32; write the distances to a .npy file", query, d, ids[i])
			}
		}
		query++
		return yield(ids, distances)
	})
}

type appendValue func(b []byte, id int64, distance float64) []byte

// row appends the values of one query.
func row(value appendValue) func(b []byte, ids []int64, distances []float64) []byte {
	return func(b []byte, ids []int64, distances []float64) []byte {
		for i, id := range ids {
			b = value(b, id, distances[i])
		}
		return b
	}
}

// vecsRow is row with the number of values first.
func vecsRow(value appendValue) func(b []byte, ids []int64, distances []float64) []byte {
	values := row(value)
	return func(b []byte, ids []int64, distances []float64) []byte {
		return values(binary.LittleEndian.AppendUint32(b, uint32(len(ids))), ids, distances)
	}
}

func binHeader(n Neighbors) []byte {
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(n.Queries())), uint32(n.K()))
}

func writeRows(path string, header []byte, n Neighbors, row func(b []byte, ids []int64, distances []float64) []byte) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		if _, err := w.Write(header); err != nil {
			return err
		}
		var b []byte
		return n.Each(func(ids []int64, distances []float64) error {
			b = row(b[:0], ids, distances)
			_, err := w.Write(b)
			return err
		})
	})
}
