package kernels

import (
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// edge is room for bytes that ends where memory that must not be touched begins.
func edge(t *testing.T) []byte {
	t.Helper()
	page := os.Getpagesize()
	memory, err := unix.Mmap(-1, 0, 2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Munmap(memory); err != nil {
			t.Error(err)
		}
	})
	if err := unix.Mprotect(memory[page:], unix.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return memory[:page:page]
}

// lastFloats is the last n values before the edge.
func lastFloats(memory []byte, n int) []float32 {
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&memory[len(memory)-4*n])), n)
}

// Reading one value too many ends the process.
func TestNothingIsReadPastTheEnd(t *testing.T) {
	memory := [3][]byte{edge(t), edge(t), edge(t)}
	for _, v := range available() {
		t.Run(v.name, func(t *testing.T) {
			for n := range 140 {
				a, b, c := lastFloats(memory[0], n), lastFloats(memory[1], n), lastFloats(memory[2], n)
				for i := range a {
					a[i], b[i], c[i] = 1, 3, 1
				}
				dst := make([]float32, 1)
				v.dotRows(dst, a, b)
				if got := v.dot(a, b); got != float32(3*n) || dst[0] != got {
					t.Errorf("dot of %d: %v and %v", n, got, dst[0])
				}
				v.squaredL2Rows(dst, a, b)
				if got := v.squaredL2(a, b); got != float32(4*n) || dst[0] != got {
					t.Errorf("squared L2 of %d: %v and %v", n, got, dst[0])
				}
				for name, kernel := range map[string]fourKernel{"dot": v.dot64Four, "squared L2": v.squaredL264Four, "square": v.square64Four} {
					want := map[string]float64{"dot": float64(3 * n), "squared L2": float64(4 * n), "square": float64(9 * n)}[name]
					if kernel == nil {
						continue
					}
					if got := kernel(a, [4][]float32{b, b, b, b}); got != [4]float64{want, want, want, want} {
						t.Errorf("%s of four rows of %d: %v, want %v", name, n, got, want)
					}
				}
				if got := v.pack(c, b, a, 0.5); got != float32(n) {
					t.Errorf("pack of %d: %v", n, got)
				}
				x, y := memory[0][len(memory[0])-n:], memory[1][len(memory[1])-n:]
				for i := range x {
					x[i], y[i] = 2, 1
				}
				for name, kernel := range map[string]func(a, b []byte) int32{
					"dot of uint8": v.dotUint8, "dot of int8": v.dotInt8, "squared L2 of uint8": v.squaredL2Uint8, "squared L2 of int8": v.squaredL2Int8,
				} {
					want := int32(n)
					if name[:3] == "dot" {
						want *= 2
					}
					if got := kernel(x, y); got != want {
						t.Errorf("%s, %d: %v, want %v", name, n, got, want)
					}
				}
			}
		})
	}
}

// The panel and the tile of sift end at the edge, too.
func TestSiftReadsNothingPastTheEnd(t *testing.T) {
	memory := [4][]byte{edge(t), edge(t), edge(t), edge(t)}
	for _, v := range available() {
		for dim := 1; dim <= 9; dim++ {
			rows := v.tile.Rows
			panel, tile := newPanel(&v, dim), newTile(&v, 1, dim)
			panel.values = lastFloats(memory[0], dim*v.tile.Queries)
			tile.stride = dim
			tile.values = lastFloats(memory[1], dim*rows)
			tile.offsets = lastFloats(memory[2], rows)
			limits := lastFloats(memory[3], v.tile.Queries)
			for i := range panel.values {
				panel.values[i] = 1
			}
			for i := range tile.values {
				tile.values[i] = 2
			}
			clear(tile.offsets)
			clear(limits)
			tile.SetRows(rows)
			out := NewSifted(tile)
			out.Sift(panel, tile, limits)
			if out.Rows() != rows {
				t.Fatalf("%s, dim %d: %d rows are left, want %d", v.name, dim, out.Rows(), rows)
			}
			for i := range rows {
				if row, mask, scores := out.Row(i); row != i || mask != 1<<v.tile.Queries-1 || scores[v.tile.Queries-1] != float32(2*dim) {
					t.Errorf("%s, dim %d, row %d: mask %b, scores %v", v.name, dim, row, mask, scores)
				}
			}
		}
	}
}

// So do those of the sieve.
func TestSieveReadsNothingPastTheEnd(t *testing.T) {
	memory := [7][]byte{edge(t), edge(t), edge(t), edge(t), edge(t), edge(t), edge(t)}
	for _, v := range withSieve() {
		for dim := 1; dim <= 31; dim++ {
			rows := v.tile.Rows
			tile := newTile(&v, 1, dim)
			bytes, panel := NewByteTile(tile), newBytePanel(&v, dim)
			row := lastFloats(memory[0], dim)
			for i := range row {
				row[i] = 2
			}
			panel.values = memory[1][len(memory[1])-len(panel.values):]
			for i := range panel.values {
				panel.values[i] = byteBias + 1
			}
			panel.terms = lastFloats(memory[2], len(panel.terms))
			for i := range panel.terms {
				panel.terms[i] = 1
			}
			bytes.stride = 4 * quads(dim)
			bytes.values = unsafe.Slice((*int8)(unsafe.Pointer(&memory[3][len(memory[3])-rows*bytes.stride])), rows*bytes.stride)
			clear(bytes.values)
			bytes.terms = unsafe.Slice((*uint32)(unsafe.Pointer(&memory[4][len(memory[4])-4*len(bytes.terms)])), len(bytes.terms))
			limits := lastFloats(memory[5], v.tile.Queries)
			for j := range limits {
				limits[j] = float32(2*dim) + float32(j%2)
			}
			for i := range rows {
				_, sum := v.sieve.round(bytes.values[i*bytes.stride:][:dim], row, 1, 1)
				*bytes.term(i, 0) = uint32(-byteBias * sum)
				bytes.SetTerms(i, RowTerms{})
			}
			tile.SetRows(rows)
			bytes.SetRows(rows)
			out := NewSifted(tile)
			if pairs := out.Sieve(panel, bytes, limits); pairs != rows*v.tile.Queries/2 {
				t.Errorf("%s, dim %d: %d pairs pass, want %d", v.name, dim, pairs, rows*v.tile.Queries/2)
			}
			tile.stride, tile.values = dim, lastFloats(memory[0], rows*dim)
			for i := range tile.values {
				tile.values[i] = 2
			}
			panel.exact = lastFloats(memory[6], len(panel.exact))
			for i := range panel.exact {
				panel.exact[i] = 1
			}
			out.Rescore(panel, bytes, limits)
			for i := range out.Rows() {
				if _, mask, scores := out.Row(i); mask != 0x55555555&(1<<v.tile.Queries-1) || scores[0] != float32(2*dim) {
					t.Errorf("%s, dim %d: scores %v, marked %b", v.name, dim, scores, mask)
				}
			}
			if out.Rows() != rows {
				t.Errorf("%s, dim %d: %d rows have scores, want %d", v.name, dim, out.Rows(), rows)
			}
		}
	}
}
