package datasets

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"frontier/internal/testdata"
	"pgregory.net/rapid"
)

// vectorBytes writes rows of equal length in the format that ext names.
func vectorBytes(t interface{ Fatal(...any) }, ext string, rows [][]float32) []byte {
	var b bytes.Buffer
	put := func(values any) {
		if err := binary.Write(&b, binary.LittleEndian, values); err != nil {
			t.Fatal(err)
		}
	}
	value := func(v float32) {
		switch ext {
		case ".fvecs", ".fbin":
			put(v)
		case ".bvecs", ".u8bin":
			put(uint8(v))
		case ".i8bin":
			put(int8(v))
		case ".ivecs", ".ibin":
			put(int32(v))
		}
	}
	vecs := strings.HasSuffix(ext, "vecs")
	if !vecs {
		put([]uint32{uint32(len(rows)), uint32(len(rows[0]))})
	}
	for _, row := range rows {
		if vecs {
			put(int32(len(row)))
		}
		for _, v := range row {
			value(v)
		}
	}
	return b.Bytes()
}

func writeVectors(t testing.TB, name string, raw []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// openBytes is OpenVectors without the file.
func openBytes(name string, raw []byte) (VectorReader, error) {
	parse, err := vectorParser(name)
	if err != nil {
		return nil, err
	}
	layout, err := parse(name, raw)
	if err != nil {
		return nil, err
	}
	return &vectorFile{path: name, raw: raw, layout: layout}, nil
}

func readRows(r VectorReader) ([][]float32, error) {
	rows := make([][]float32, r.Len())
	for i := range rows {
		rows[i] = make([]float32, r.Dim())
		if err := r.Read(i, rows[i]); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func TestVectorsRoundTrip(t *testing.T) {
	ranges := map[string][2]int{".fvecs": {}, ".fbin": {}, ".bvecs": {0, 255}, ".u8bin": {0, 255}, ".i8bin": {-128, 127}, ".ivecs": {-1 << 24, 1 << 24}, ".ibin": {-1 << 24, 1 << 24}}
	for ext, limits := range ranges {
		t.Run(ext, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				dim := rapid.IntRange(1, 40).Draw(t, "dim")
				rows := make([][]float32, rapid.IntRange(1, 20).Draw(t, "rows"))
				for i := range rows {
					rows[i] = make([]float32, dim)
					for j := range rows[i] {
						if limits == [2]int{} {
							rows[i][j] = rapid.Float32().Draw(t, "value")
						} else {
							rows[i][j] = float32(rapid.IntRange(limits[0], limits[1]).Draw(t, "value"))
						}
					}
				}
				r, err := openBytes("x"+ext, vectorBytes(t, ext, rows))
				if err != nil {
					t.Fatal(err)
				}
				got, err := readRows(r)
				if err != nil {
					t.Fatal(err)
				}
				if len(got) != len(rows) || r.Dim() != dim {
					t.Fatalf("%d x %d, want %d x %d", len(got), r.Dim(), len(rows), dim)
				}
				for i, row := range rows {
					for j, v := range row {
						if math.Float32bits(got[i][j]) != math.Float32bits(v) {
							t.Fatalf("row %d, column %d: %v, want %v", i, j, got[i][j], v)
						}
					}
				}
			})
		})
	}
}

// Cutting a file anywhere, or adding to it, must be noticed.
func TestVectorsCutAnywhere(t *testing.T) {
	rows := [][]float32{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}}
	for _, ext := range []string{".fvecs", ".fbin", ".bvecs", ".u8bin", ".i8bin", ".ivecs", ".ibin"} {
		raw := vectorBytes(t, ext, rows)
		stride := len(raw) / len(rows)
		for cut := range len(raw) {
			if strings.HasSuffix(ext, "vecs") && cut > 0 && cut%stride == 0 {
				continue // whole rows are a whole file: the format has no count
			}
			_, err := openBytes("x"+ext, raw[:cut])
			var fault *Error
			if !errors.As(err, &fault) {
				t.Fatalf("%s cut to %d of %d bytes: %v", ext, cut, len(raw), err)
			}
			if fault.Hint == "" {
				t.Errorf("%s cut to %d: no hint: %v", ext, cut, err)
			}
		}
		if _, err := openBytes("x"+ext, append(bytes.Clone(raw), 0)); err == nil {
			t.Errorf("%s with a byte too many was read", ext)
		}
	}
}

func TestVectorsFaults(t *testing.T) {
	u32 := func(values ...uint32) []byte {
		var b []byte
		for _, v := range values {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
		return b
	}
	one := math.Float32bits(1)
	for _, c := range []struct {
		name string
		raw  []byte
		want []string
	}{
		{"empty.fbin", nil, []string{"empty.fbin: the file is empty"}},
		{"short.fbin", u32(3), []string{"byte 4: the file ends within its header of 8 bytes"}},
		{"none.fbin", u32(0, 4), []string{"0 rows of 4 values"}},
		{"flat.fbin", u32(4, 0), []string{"4 rows of 0 values"}},
		{"cut.fbin", u32(3, 2, one, one, one), []string{"byte 20", "3 rows of 2 float32", "32 bytes", "ends in row 1", "12 bytes are missing"}},
		{"long.fbin", u32(1, 1, one, one), []string{"byte 12", "4 more bytes follow"}},
		{"huge.fbin", u32(math.MaxUint32, math.MaxUint32), []string{"more than any file holds"}},
		{"cut.fvecs", u32(2, one, one, 2, one), []string{"byte 20", "row 1 (from 0), which begins at byte 12", "4 bytes are missing"}},
		{"cutlater.fvecs", u32(1, one, 1, one, 1), []string{"byte 20", "row 2 (from 0), which begins at byte 16", "4 bytes are missing"}},
		{"raggedandcut.fvecs", u32(1, one, 2, one, one), []string{"byte 8", "row 1 (from 0) has the dimension 2, but row 0 has 1"}},
		{"ragged.fvecs", u32(2, one, one, 3, one, one, one), []string{"byte 12", "row 1 (from 0) has the dimension 3, but row 0 has 2"}},
		{"even.fvecs", u32(1, one, 5, one), []string{"byte 8", "row 1 (from 0) has the dimension 5, but row 0 has 1"}},
		{"negative.fvecs", u32(math.MaxUint32), []string{"row 0 (from 0) says that it has -1 values"}},
		{"big.fvecs", u32(math.MaxInt32), []string{"bytes are missing"}},
		{"stub.bvecs", []byte{1, 0}, []string{"ends within the dimension of row 0", "2 bytes are missing"}},
		{"x.hdr", []byte("abc"), []string{`unknown kind of vector file ".hdr"`, ".fbin"}},
		{"x.fbin.gz", []byte("abc"), []string{"compressed", "decompress"}},
		{"lfs.fvecs", []byte("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n"), []string{"Git LFS", "git lfs pull"}},
		{"annex.fbin", []byte("/annex/objects/SHA256E-s5--00.fbin\n"), []string{"git-annex", "git annex get"}},
	} {
		r, err := OpenVectors(writeVectors(t, c.name, c.raw))
		if err == nil {
			t.Errorf("%s: was read as %d x %d", c.name, r.Len(), r.Dim())
			continue
		}
		var fault *Error
		if !errors.As(err, &fault) {
			t.Errorf("%s: %v is not an *Error", c.name, err)
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not say %q", c.name, err, want)
			}
		}
	}
	if _, err := OpenVectors(filepath.Join(t.TempDir(), "absent.fbin")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an absent file: %v", err)
	}
	folder := filepath.Join(t.TempDir(), "folder.fbin")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenVectors(folder); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder: %v", err)
	}
}

// A row in the middle that differs is found when it is read, where the length gives nothing away.
func TestVectorsRaggedInTheMiddle(t *testing.T) {
	raw := vectorBytes(t, ".fvecs", [][]float32{{1}, {2}, {3}})
	raw[8] = 9
	r, err := openBytes("x.fvecs", raw)
	if err != nil {
		t.Fatal(err)
	}
	_, err = readRows(r)
	if err == nil || !strings.Contains(err.Error(), "byte 8: row 1 (from 0) has the dimension 9, but row 0 has 1") {
		t.Errorf("%v", err)
	}
}

func TestVectorsNotFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		r, err := openBytes("x.fbin", vectorBytes(t, ".fbin", [][]float32{{1, 2, 3}, {4, 5, float32(bad)}}))
		if err != nil {
			t.Fatal(err)
		}
		row := make([]float32, 3)
		if err := r.Read(0, row); err != nil {
			t.Error(err)
		}
		err = r.Read(1, row)
		var fault *Error
		if !errors.As(err, &fault) || fault.Offset != 8+5*4 || !strings.Contains(err.Error(), "row 1, column 2 (from 0) is") {
			t.Errorf("%v: %v", bad, err)
		}
	}
}

func TestVectorReaderMisuse(t *testing.T) {
	r, err := OpenVectors(writeVectors(t, "x.fbin", vectorBytes(t, ".fbin", [][]float32{{1, 2}})))
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{-1, 1} {
		if r.Read(i, make([]float32, 2)) == nil {
			t.Errorf("row %d was read", i)
		}
	}
	if r.Read(0, make([]float32, 3)) == nil {
		t.Error("a destination of the wrong size was filled")
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := r.Read(0, make([]float32, 2)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("reading after Close: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
}

func TestVectorsRealFiles(t *testing.T) {
	for _, c := range []struct {
		name      string
		rows, dim int
		first     []float32
	}{
		{"sift5k/base.fvecs", 4900, 128, []float32{0, 0, 0, 0, 0, 0, 0, 0, 13, 10, 15, 17}},
		{"sift5k/query.fvecs", 100, 128, []float32{18, 82, 14, 4, 13, 89, 23, 22}},
		{"minilm778/base.fbin", 700, 384, []float32{math.Float32frombits(0xbcf6497b), math.Float32frombits(0xbd6b3e7e)}},
		{"minilm778/base.npy", 700, 384, []float32{math.Float32frombits(0xbcf6497b), math.Float32frombits(0xbd6b3e7e)}},
		{"minilm778/query.fbin", 78, 384, []float32{math.Float32frombits(0xbd8760cb)}},
	} {
		r, err := OpenVectors(testdata.Path(t, c.name))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := readRows(r)
		if err != nil {
			t.Fatal(err)
		}
		if r.Len() != c.rows || r.Dim() != c.dim {
			t.Errorf("%s: %d x %d", c.name, r.Len(), r.Dim())
		}
		for j, v := range c.first {
			if rows[0][j] != v {
				t.Errorf("%s: row 0, column %d: %v, want %v", c.name, j, rows[0][j], v)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// The two files of one set hold the same rows, and readers may share one reader.
func TestVectorsSameInTwoFormats(t *testing.T) {
	fbin, err := OpenVectors(testdata.Path(t, "minilm778/base.fbin"))
	if err != nil {
		t.Fatal(err)
	}
	defer fbin.Close()
	npy, err := OpenVectors(testdata.Path(t, "minilm778/base.npy"))
	if err != nil {
		t.Fatal(err)
	}
	defer npy.Close()
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			a, b := make([]float32, 384), make([]float32, 384)
			for i := worker; i < fbin.Len(); i += 4 {
				if err := errors.Join(fbin.Read(i, a), npy.Read(i, b)); err != nil {
					t.Error(err)
					return
				}
				if !bytes.Equal(floatBytes(a), floatBytes(b)) {
					t.Errorf("row %d differs", i)
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkVectorsRead(b *testing.B) {
	rows := make([][]float32, 64)
	for i := range rows {
		rows[i] = make([]float32, 128)
		rows[i][127] = float32(i)
	}
	r, err := openBytes("x.fvecs", vectorBytes(b, ".fvecs", rows))
	if err != nil {
		b.Fatal(err)
	}
	dst := make([]float32, 128)
	b.SetBytes(4 * 128)
	i := 0
	for b.Loop() {
		if err := r.Read(i, dst); err != nil || dst[127] != float32(i) {
			b.Fatalf("row %d: %v, %v", i, dst[127], err)
		}
		i = (i + 1) % 64
	}
}
