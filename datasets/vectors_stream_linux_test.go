package datasets

import (
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// resident is the share of the file that is in the page cache.
func resident(t *testing.T, path string) float64 {
	t.Helper()
	raw, unmap, err := mapVectorFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unmap() }()
	page := os.Getpagesize()
	there := make([]byte, (len(raw)+page-1)/page)
	_, _, failed := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&raw[0])), uintptr(len(raw)), uintptr(unsafe.Pointer(&there[0])))
	if failed != 0 {
		t.Skipf("the system does not say what it keeps: %v", failed)
	}
	n := 0
	for _, b := range there {
		n += int(b & 1)
	}
	return float64(n) / float64(len(there))
}

// What was read is not kept where that is asked for, in any pass over the file.
func TestVectorStreamDropsWhatItRead(t *testing.T) {
	const rows, dim = 16384, 500
	values := make([][]float32, rows)
	for i := range values {
		values[i] = make([]float32, dim)
	}
	path := writeVectors(t, "x.fvecs", vectorBytes(t, ".fvecs", values))
	read := func(drop bool) float64 {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := f.Sync(); err != nil { // what is yet to be written is never dropped
			t.Fatal(err)
		}
		if err := adviseDone(f, 0, 0); err != nil {
			t.Fatal(err)
		}
		s, err := OpenVectorStream(path)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if drop {
			if err := s.DropBehind(); err != nil {
				t.Fatal(err)
			}
		}
		dst := make([]float32, 64*dim)
		for range 2 {
			for row := 0; row < rows; row += 64 {
				if err := s.ReadRows(row, dst); err != nil {
					t.Fatal(err)
				}
			}
		}
		return resident(t, path)
	}
	if kept := read(false); kept < 0.9 {
		t.Skipf("the file system keeps only %.0f%% of a file that was read", 100*kept)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		t.Fatal(err)
	}
	if kept := resident(t, path); kept > 0.1 {
		t.Skipf("the file system still keeps %.0f%% of a file that it was told to forget", 100*kept)
	}
	if kept := read(true); kept > 0.5 {
		t.Errorf("%.0f%% of the file are in the page cache after it was read", 100*kept)
	} else {
		t.Logf("%.1f%% of the file are in the page cache", 100*kept)
	}
}
