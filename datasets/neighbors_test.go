package datasets

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"frontier/internal/testdata"
)

func TestReadNeighborsRealFiles(t *testing.T) {
	for _, c := range []struct {
		name  string
		k, n  int
		base  int64
		first []int64
	}{
		{"sift5k/groundtruth.ivecs", 100, 100, 4900, []int64{0xe82, 0x31c, 0x110, 6}},
		{"minilm778/groundtruth_cosine_ids.npy", 50, 78, 700, nil},
	} {
		k, ids, err := ReadNeighbors(testdata.Path(t, c.name))
		if err != nil {
			t.Fatal(err)
		}
		if k != c.k || len(ids) != c.k*c.n {
			t.Errorf("%s: k %d, %d ids", c.name, k, len(ids))
		}
		if !slices.Equal(ids[:len(c.first)], c.first) {
			t.Errorf("%s begins %v", c.name, ids[:len(c.first)])
		}
		for q := range c.n {
			row := slices.Sorted(slices.Values(ids[q*k : (q+1)*k]))
			if row[0] < 0 || row[k-1] >= c.base || len(slices.Compact(row)) != k {
				t.Errorf("%s: query %d has ids outside 0 to %d, or twice", c.name, q, c.base)
			}
		}
	}
}

func TestReadNeighborsFormats(t *testing.T) {
	want := []int64{5, 0, 7, 1, 2, -1}
	rows := [][]float32{{5, 0, 7}, {1, 2, -1}}
	withDistances := vectorBytes(t, ".ibin", rows)
	for range want {
		withDistances = binary.LittleEndian.AppendUint32(withDistances, 0x3f800000)
	}
	header := "{'descr': '<i%d', 'fortran_order': False, 'shape': (2, 3), }"
	for name, raw := range map[string][]byte{
		"a.ivecs": vectorBytes(t, ".ivecs", rows),
		"a.ibin":  vectorBytes(t, ".ibin", rows),
		"b.ibin":  withDistances,
		"a.npy":   npyBytes(strings.Replace(header, "%d", "8", 1), want),
		"b.npy":   npyBytes(strings.Replace(header, "%d", "4", 1), []int32{5, 0, 7, 1, 2, -1}),
	} {
		k, ids, err := ReadNeighbors(writeVectors(t, name, raw))
		if err != nil || k != 3 || !slices.Equal(ids, want) {
			t.Errorf("%s: k %d, %v, %v", name, k, ids, err)
		}
	}
}

func TestReadNeighborsFaults(t *testing.T) {
	good := vectorBytes(t, ".ibin", [][]float32{{5, 0, 7}, {1, 2, 3}})
	for _, c := range []struct {
		name string
		raw  []byte
		want string
	}{
		{"a.ibin", good[:len(good)-1], "1 bytes are missing"},
		{"b.ibin", good[:3], "within its header"},
		{"c.ibin", vectorBytes(t, ".ibin", [][]float32{{5, -2}}), "neighbour 1 of query 0 (from 0) has the id -2"},
		{"d.npy", npyBytes("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }", float32(1)), "of float32"},
		{"e.fvecs", vectorBytes(t, ".fvecs", [][]float32{{1}}), `".fvecs"`},
		{"f.ivecs", []byte("version https://git-lfs.github.com/spec/v1\n"), "Git LFS"},
		{"g.ivecs", binary.LittleEndian.AppendUint32(vectorBytes(t, ".ivecs", [][]float32{{1}, {2}}), 1), "byte 20"},
	} {
		_, _, err := ReadNeighbors(writeVectors(t, c.name, c.raw))
		var fault *Error
		if !errors.As(err, &fault) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if _, err := OpenVectors(writeVectors(t, "ids.npy", npyBytes("{'descr': '<i8', 'fortran_order': False, 'shape': (1, 1), }", int64(1)))); err == nil {
		t.Error("ids of int64 were opened as vectors")
	}
}
