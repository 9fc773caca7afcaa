package datasets

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"frontier/internal/testdata"
	"pgregory.net/rapid"
)

// npyBytes is an npy file of format 1.0 with the header given and the values as they come.
func npyBytes(header string, values ...any) []byte {
	for (10+len(header)+1)%64 != 0 {
		header += " "
	}
	header += "\n"
	raw := append([]byte(npyMagic), 1, 0)
	raw = binary.LittleEndian.AppendUint16(raw, uint16(len(header)))
	raw = append(raw, header...)
	for _, v := range values {
		raw, _ = binary.Append(raw, binary.LittleEndian, v)
	}
	return raw
}

func TestNpyRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, dim := rapid.IntRange(1, 9).Draw(t, "rows"), rapid.IntRange(1, 9).Draw(t, "dim")
		values := make([]float64, rows*dim)
		for i := range values {
			values[i] = float64(rapid.Float32().Draw(t, "value"))
		}
		r, err := openBytes("x.npy", npyBytes(fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }", rows, dim), values))
		if err != nil {
			t.Fatal(err)
		}
		got, err := readRows(r)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range values {
			if float64(got[i/dim][i%dim]) != v {
				t.Fatalf("value %d: %v, want %v", i, got[i/dim][i%dim], v)
			}
		}
	})
}

func TestNpyHeaders(t *testing.T) {
	six := []float32{1, 2, 3, 4, 5, 6}
	for _, c := range []struct{ header, want string }{
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}", ""},
		{`{"shape":(2L,3L),"fortran_order":False,"descr":"<f4"}`, ""},
		{"{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", "Fortran"},
		{"{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }", "big-endian"},
		{"{'descr': '<f2', 'fortran_order': False, 'shape': (2, 6), }", `"<f2"`},
		{"{'descr': '<c8', 'fortran_order': False, 'shape': (1, 3), }", `"<c8"`},
		{"{'descr': '|O', 'fortran_order': False, 'shape': (2, 3), }", "pickled"},
		{"{'descr': [('a', '<f4'), ('b', '<f4', (2,))], 'fortran_order': False, 'shape': (2,), }", "structured"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }", "shape (6,)"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (), }", "shape ()"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 3), }", "shape (1, 2, 3)"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }", "no vectors"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (4, 3), }", "24 bytes are missing"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }", "12 more bytes follow"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 9223372036854775807), }", "more than any file holds"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 3), }", "is not a size"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 3), }", "is not a size"},
		{"{'descr': '<f4', 'fortran_order': maybe, 'shape': (2, 3), }", "True or False"},
		{"{'descr': '<f4', 'shape': (2, 3), }", `"fortran_order" is missing`},
		{"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", "stands twice"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'more': 1}", `unknown key "more"`},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } 1", "follows"},
		{"{'descr': '<f4', 'fortran_order': False, 'shape': (2 3), }", "in the shape"},
		{"{'descr': '<f4' 'fortran_order': False, 'shape': (2, 3), }", "is missing"},
		{"{'descr': '<f4", "does not end"},
		{"{'descr': '', 'fortran_order': False, 'shape': (2, 3), }", "is empty"},
		{"{'descr': [[('a'", "does not end"},
		{"", `'{' is missing`},
	} {
		r, err := openBytes("x.npy", npyBytes(c.header, six))
		if c.want == "" {
			if err != nil || r.Len() != 2 || r.Dim() != 3 {
				t.Errorf("%s: %v", c.header, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.header, err, c.want)
		}
	}
}

func TestNpyVersionsAndCuts(t *testing.T) {
	raw := npyBytes("{'descr': '|i1', 'fortran_order': False, 'shape': (2, 2), }", []int8{-1, 2, 3, -128})
	for cut := range len(raw) {
		if _, err := openBytes("x.npy", raw[:cut]); err == nil {
			t.Fatalf("cut to %d of %d bytes: was read", cut, len(raw))
		}
	}
	two := append([]byte(npyMagic), 2, 0)
	two = binary.LittleEndian.AppendUint32(two, uint32(len(raw)-4-10))
	two = append(two, raw[10:]...)
	r, err := openBytes("x.npy", two)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := readRows(r)
	if err != nil || rows[1][1] != -128 || rows[0][0] != -1 {
		t.Errorf("format 2.0: %v, %v", rows, err)
	}
	two[6] = 9
	if _, err := openBytes("x.npy", two); err == nil || !strings.Contains(err.Error(), "npy format 9.0") {
		t.Errorf("format 9.0: %v", err)
	}
}

func TestNpyTooLargeForFloat32(t *testing.T) {
	r, err := openBytes("x.npy", npyBytes("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }", []float64{1, 1e300}))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Read(0, make([]float32, 2)); err == nil || !strings.Contains(err.Error(), "row 0, column 1 (from 0) is 1e+300, which is too large for float32") {
		t.Errorf("%v", err)
	}
}

func TestNpyRealFiles(t *testing.T) {
	for name, want := range map[string]string{
		"data_float32_2x3_corder.npy":   "",
		"data_float64_2x3_corder.npy":   "",
		"data_uint8_2x3_corder.npy":     "",
		"data_float64_2x3x4_corder.npy": "shape (2, 3, 4)",
		"c-order.npy":                   "shape (2, 3, 4)",
		"f-order.npy":                   "shape (2, 3, 4)",
		"nans_inf.npy":                  "shape (4,)",
		"pickle.npy":                    "pickled",
		"py3-objarr.npy":                "pickled",
	} {
		r, err := OpenVectors(testdata.Path(t, "bad/npy/"+name))
		if want != "" {
			var fault *Error
			if !errors.As(err, &fault) || !strings.Contains(err.Error(), want) || fault.Hint == "" {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		rows, err := readRows(r)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 6 {
			if got := rows[i/3][i%3]; math.Abs(float64(got)-float64(i)) > 0 {
				t.Errorf("%s: value %d is %v", name, i, got)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}
