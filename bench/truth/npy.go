package truth

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"frontier/datasets"
	"frontier/internal/atomicfile"
)

// The files that Save writes and Load reads.
const (
	idsFile       = "ids.npy"
	distancesFile = "distances.npy"
)

// npyMagic begins the files; see datasets.NpyHeader.
const npyMagic = "\x93NUMPY\x01\x00"

// Save writes the neighbours into dir, which it makes where it is absent, as ids.npy (int64) and distances.npy
// (float64), both queries x K in C order: NumPy's format 1.0. Files that are there are replaced.
func (n *Neighbors) Save(dir string) error {
	if n.K < 0 || len(n.IDs) != len(n.Distances) || len(n.IDs) != n.Len()*n.K {
		return fmt.Errorf("save neighbours: %d ids and %d distances are not rows of %d each", len(n.IDs), len(n.Distances), n.K)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	err := writeNpy(filepath.Join(dir, idsFile), "<i8", n.Len(), n.K, func(i int) uint64 { return uint64(n.IDs[i]) })
	if err != nil {
		return err
	}
	return writeNpy(filepath.Join(dir, distancesFile), "<f8", n.Len(), n.K, func(i int) uint64 { return math.Float64bits(n.Distances[i]) })
}

// Load reads what Save wrote. Files of other types or shapes, cut short or with bytes left over are errors that name
// the file and the offset.
func Load(dir string) (*Neighbors, error) {
	ids, idRows, k, err := readNpy(filepath.Join(dir, idsFile), "<i8")
	if err != nil {
		return nil, err
	}
	distances, rows, columns, err := readNpy(filepath.Join(dir, distancesFile), "<f8")
	if err != nil {
		return nil, err
	}
	if rows != idRows || columns != k {
		return nil, fmt.Errorf("%s: %s is %d x %d but %s is %d x %d; they are not of one search",
			dir, idsFile, idRows, k, distancesFile, rows, columns)
	}
	n := &Neighbors{K: k, IDs: make([]int64, len(ids)), Distances: make([]float64, len(ids))}
	for i := range ids {
		n.IDs[i], n.Distances[i] = int64(ids[i]), math.Float64frombits(distances[i])
	}
	return n, nil
}

func writeNpy(path, descr string, rows, columns int, word func(i int) uint64) error {
	return atomicfile.Write(path, func(w io.Writer) error {
		if _, err := w.Write(datasets.NpyHeader(descr, rows, columns)); err != nil {
			return err
		}
		var buf [8]byte
		for i := range rows * columns {
			binary.LittleEndian.PutUint64(buf[:], word(i))
			if _, err := w.Write(buf[:]); err != nil {
				return err
			}
		}
		return nil
	})
}

var (
	npyDescr   = regexp.MustCompile(`'descr'\s*:\s*'([^']*)'`)
	npyFortran = regexp.MustCompile(`'fortran_order'\s*:\s*(True|False)`)
	npyShape   = regexp.MustCompile(`'shape'\s*:\s*\(\s*(\d+)\s*,\s*(\d+)\s*,?\s*\)`)
)

// readNpy is the 8-byte words of the two-dimensional array in path, which must have the type descr.
func readNpy(path, descr string) (words []uint64, rows, columns int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, 0, err
	}
	return parseNpy(bufio.NewReaderSize(f, 1<<16), info.Size(), path, descr)
}

// parseNpy reads the file called path, of size bytes, from r.
func parseNpy(r io.Reader, size int64, path, descr string) (words []uint64, rows, columns int, err error) {
	fixed := make([]byte, len(npyMagic)+2)
	if _, err := io.ReadFull(r, fixed); err != nil || string(fixed[:len(npyMagic)]) != npyMagic {
		return nil, 0, 0, fmt.Errorf("%s: byte 0: not a NumPy file of version 1.0", path)
	}
	header := make([]byte, binary.LittleEndian.Uint16(fixed[len(npyMagic):]))
	if _, err := io.ReadFull(r, header); err != nil {
		return nil, 0, 0, fmt.Errorf("%s: byte %d: the header should have %d bytes: %w", path, len(fixed), len(header), err)
	}
	if got := npyDescr.FindSubmatch(header); got == nil || string(got[1]) != descr {
		return nil, 0, 0, fmt.Errorf("%s: byte %d: want values of type %s, the header is %q", path, len(fixed), descr, header)
	}
	if got := npyFortran.FindSubmatch(header); got == nil || string(got[1]) != "False" {
		return nil, 0, 0, fmt.Errorf("%s: byte %d: want an array in C order, the header is %q", path, len(fixed), header)
	}
	shape := npyShape.FindSubmatch(header)
	if shape == nil {
		return nil, 0, 0, fmt.Errorf("%s: byte %d: want an array of two dimensions, the header is %q", path, len(fixed), header)
	}
	rows, errRows := strconv.Atoi(string(shape[1]))
	columns, errColumns := strconv.Atoi(string(shape[2]))
	data := size - int64(len(fixed)+len(header))
	if errors.Join(errRows, errColumns) != nil || columns > 0 && rows > math.MaxInt/8/columns || int64(rows*columns*8) != data {
		return nil, 0, 0, fmt.Errorf("%s: byte %d: the header says %s x %s values of 8 bytes, but %d bytes follow; the file is truncated or damaged",
			path, len(fixed)+len(header), shape[1], shape[2], data)
	}
	words = make([]uint64, rows*columns)
	var buf [8]byte
	for i := range words {
		if _, err := io.ReadFull(r, buf[:]); err != nil {
			return nil, 0, 0, fmt.Errorf("%s: byte %d: %w", path, len(fixed)+len(header)+8*i, err)
		}
		words[i] = binary.LittleEndian.Uint64(buf[:])
	}
	return words, rows, columns, nil
}
