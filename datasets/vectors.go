package datasets

import (
	"fmt"
	"path/filepath"
	"strings"
)

// VectorExtensions are the names of files that OpenVectors reads, by how they end.
func VectorExtensions() []string {
	return []string{".fvecs", ".bvecs", ".ivecs", ".fbin", ".u8bin", ".i8bin", ".ibin", ".npy"}
}

// OpenVectors maps the vector file at path and reads its layout, which the extension names:
//
//	fvecs bvecs ivecs   each row is an int32 dimension, then that many float32, uint8 or int32 (corpus-texmex)
//	fbin u8bin i8bin ibin  uint32 rows, uint32 dimension, then float32, uint8, int8 or int32, row-major (big-ann-benchmarks)
//	npy                 a 2-D array of float32, float64, uint8, int8 or int32 in C order (NumPy format 1.0 to 3.0)
//
// All numbers are little-endian. float64 and int32 values are rounded to the nearest float32 when they are read. Sizes
// are checked against the size of the file before anything is allocated; the dimension that each row of an fvecs file
// repeats is checked when the row is read, so that opening stays cheap for files of any size. Faults of the file are
// an *Error. The reader may be used by several goroutines at once. The file must not be cut short while it is open:
// reading a page that is gone ends the process.
func OpenVectors(path string) (VectorReader, error) {
	parse, err := vectorParser(path)
	if err != nil {
		return nil, err
	}
	raw, unmap, err := mapVectorFile(path)
	if err != nil {
		return nil, err
	}
	layout, err := parse(path, raw)
	if err == nil && layout.elem == elemInt64 {
		err = &Error{
			File: path, Msg: "an array of int64 holds ids rather than vectors",
			Hint: "if these are coordinates, save them with astype('float32')",
		}
	}
	if err != nil {
		return nil, joinUnmap(err, unmap)
	}
	return &vectorFile{path: path, raw: raw, unmap: unmap, layout: layout}, nil
}

// vectorParser is how to find the layout of a mapped file that is named like path.
func vectorParser(path string) (func(path string, raw []byte) (vectorLayout, error), error) {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".fvecs":
		return vecsLayout(elemFloat32), nil
	case ".bvecs":
		return vecsLayout(elemUint8), nil
	case ".ivecs":
		return vecsLayout(elemInt32), nil
	case ".fbin":
		return binLayout(elemFloat32), nil
	case ".u8bin":
		return binLayout(elemUint8), nil
	case ".i8bin":
		return binLayout(elemInt8), nil
	case ".ibin":
		return binLayout(elemInt32), nil
	case ".npy":
		return npyLayout, nil
	case ".gz", ".zst", ".bz2", ".xz", ".zip", ".npz":
		return nil, &Error{File: path, Msg: "compressed vector files cannot be mapped", Hint: "decompress it first"}
	default:
		return nil, &Error{
			File: path, Msg: fmt.Sprintf("unknown kind of vector file %q", ext),
			Hint: "the name must end in one of " + strings.Join(VectorExtensions(), " "),
		}
	}
}
