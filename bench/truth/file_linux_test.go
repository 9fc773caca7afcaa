package truth

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"frontier/datasets"
	"frontier/internal/vector"

	"golang.org/x/sys/unix"
)

// forget drops a file from the page cache, so that what follows reads the disk.
func forget(b *testing.B, path string) {
	b.Helper()
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if err := f.Sync(); err != nil {
		b.Fatal(err)
	}
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkSearchOfFile searches a file of four times the memory limit, out of the page cache at the start, with the
// limit and without it, beside the rate at which the disk gives the file and a search that finds all in the page cache.
// The rate with the limit, over that without, is the metric "of-unlimited"; over that of the disk, "of-disk".
func BenchmarkSearchOfFile(b *testing.B) {
	limit, size, count := int64(128<<20), 512<<20, 1000
	if testing.Short() {
		limit, size, count = 80<<20, 16<<20, 5
	}
	const dim, k = 128, 100
	rows := size / (4 * dim)
	path := filepath.Join(b.TempDir(), "base.fbin")
	w, err := vector.CreateFbin(path, dim)
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(8, 9))
	pool := make([]float32, 1<<20)
	for i := range pool {
		pool[i] = float32(rng.NormFloat64())
	}
	for range rows {
		from := rng.IntN(len(pool) - dim)
		if err := w.Append(pool[from : from+dim]); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	queries := matrix(b, pool[:count*dim], dim)

	var disk, unlimited float64 // bytes a second
	var want *Neighbors
	rate := func(b *testing.B) float64 { return float64(rows*dim*4) * float64(b.N) / b.Elapsed().Seconds() }
	b.Run("disk", func(b *testing.B) {
		buffer := make([]byte, maxBufferBytes)
		for b.Loop() {
			b.StopTimer()
			forget(b, path)
			f, err := os.Open(path)
			if err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
			if n, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{f}, buffer); err != nil || n != int64(8+rows*dim*4) {
				b.Fatal(n, err)
			}
			b.StopTimer()
			f.Close()
			b.StartTimer()
		}
		disk = rate(b)
		b.ReportMetric(disk/1e9, "GB/s")
	})
	for _, c := range []struct {
		name   string
		memory int64
		cold   bool
	}{{"cached", 0, false}, {"unlimited", 0, true}, {"limited", limit, true}} {
		b.Run(c.name, func(b *testing.B) {
			var got *Neighbors
			var waiting time.Duration
			for b.Loop() {
				b.StopTimer()
				if c.cold {
					forget(b, path)
				}
				b.StartTimer()
				got, waiting = searchFile(b, path, queries, k, c.memory)
			}
			bytes := rate(b)
			b.ReportMetric(bytes/1e9, "GB/s")
			b.ReportMetric(bytes/2*float64(count)/1e9, "GFLOP/s")
			b.ReportMetric(100*waiting.Seconds()*float64(b.N)/b.Elapsed().Seconds(), "%waiting")
			if want == nil {
				want = got
			}
			if !slices.Equal(got.IDs, want.IDs) || !slices.Equal(got.Distances, want.Distances) {
				b.Fatal("the neighbours are not those of the search before")
			}
			switch c.name {
			case "unlimited":
				unlimited = bytes
			case "limited":
				b.ReportMetric(bytes/unlimited, "of-unlimited")
				b.ReportMetric(bytes/disk, "of-disk")
			}
		})
	}
}

func searchFile(b *testing.B, path string, queries *vector.Matrix, k int, memory int64) (*Neighbors, time.Duration) {
	b.Helper()
	base, err := datasets.OpenVectorStream(path)
	if err != nil {
		b.Fatal(err)
	}
	defer base.Close()
	info, err := base.Fingerprint()
	if err != nil {
		b.Fatal(err)
	}
	var waiting time.Duration
	s := &Search{
		Base: base, Queries: queries, Metric: vector.L2, K: k, Memory: memory, BaseFile: info,
		Progress: func(p Progress) { waiting = p.Waiting },
	}
	f, err := s.Run(context.Background())
	if err != nil {
		b.Fatal(err)
	}
	return each(b, f), waiting
}

// BenchmarkReading compares ways to read a file that is not in the page cache: plain reads into two buffers in turn,
// and a mapping, of which each page is touched and then given back.
func BenchmarkReading(b *testing.B) {
	size := 512 << 20
	if testing.Short() {
		size = 8 << 20
	}
	const dim, blockRows = 128, 32768
	path := filepath.Join(b.TempDir(), "base.fbin")
	w, err := vector.CreateFbin(path, dim)
	if err != nil {
		b.Fatal(err)
	}
	values := make([]float32, 1<<18)
	for i := range values {
		values[i] = 1
	}
	for range size / (4 * len(values)) {
		if err := w.Append(values); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	check := func(b *testing.B, sum float32) { // of the first value of each row
		b.Helper()
		if sum != float32(size/(4*dim)) {
			b.Fatalf("read %v rows of %d", sum, size/(4*dim))
		}
	}
	for _, cold := range []bool{true, false} {
		name := fmt.Sprintf("cold=%v", cold)
		start := func(b *testing.B) {
			b.StopTimer()
			if cold {
				forget(b, path)
			}
			b.StartTimer()
		}
		b.Run("reads/"+name, func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				start(b)
				s, err := datasets.OpenVectorStream(path)
				if err != nil {
					b.Fatal(err)
				}
				sum := float32(0)
				blocks, release := readAhead(context.Background(), s, 0, s.Len(), blockRows)
				for block := range blocks {
					if block.err != nil {
						b.Fatal(block.err)
					}
					for i := 0; i < len(block.values); i += dim {
						sum += block.values[i]
					}
					release <- block.values[:cap(block.values)]
				}
				check(b, sum)
				s.Close()
			}
		})
		b.Run("mapping/"+name, func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				start(b)
				sum, err := mappedSum(path, dim, blockRows)
				if err != nil {
					b.Fatal(err)
				}
				check(b, sum)
			}
		})
	}
}

// mappedSum adds up the first value of each row, through a mapping that is advised ahead and given back behind. Each page
// is touched, as a search does.
func mappedSum(path string, dim, blockRows int) (float32, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	raw, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return 0, err
	}
	defer func() { _ = unix.Munmap(raw) }()
	if err := unix.Madvise(raw, unix.MADV_SEQUENTIAL); err != nil {
		return 0, err
	}
	sum, row := float32(0), 8    // after the header
	block := blockRows * dim * 4 // whole pages
	for from := 0; from < len(raw); from += block {
		to := min(from+block, len(raw))
		if next := min(to+block, len(raw)); next > to {
			if err := unix.Madvise(raw[to:next], unix.MADV_WILLNEED); err != nil {
				return 0, err
			}
		}
		for ; row < to; row += 4 * dim {
			if raw[row+3] == 0x3f { // of 1.0
				sum++
			}
		}
		if err := unix.Madvise(raw[from:to], unix.MADV_DONTNEED); err != nil {
			return 0, err
		}
	}
	return sum, nil
}
