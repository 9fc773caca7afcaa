package cas

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// What a stage that is in the cache costs, after its content was compared once.
func BenchmarkHit(b *testing.B) {
	c := mustOpen(b, b.TempDir())
	want := mustDo(b, c, 0)
	for b.Loop() {
		a, err := c.Do(b.Context(), numbered(0), builder(0))
		if err != nil || !a.Hit || a.Dir != want.Dir {
			b.Fatal(a, err)
		}
	}
}

// What the first use of a small artifact costs in a process.
func BenchmarkFirstHit(b *testing.B) {
	root := b.TempDir()
	mustDo(b, mustOpen(b, root), 0)
	for b.Loop() {
		c, err := Open(root)
		if err != nil {
			b.Fatal(err)
		}
		if _, ok := c.Lookup(numbered(0).Key()); !ok {
			b.Fatal("not found")
		}
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// What making a small artifact costs: mostly bringing it to the disk.
func BenchmarkMake(b *testing.B) {
	c := mustOpen(b, b.TempDir())
	for i := 0; b.Loop(); i++ {
		a, err := c.Do(b.Context(), numbered(i), builder(i))
		if err != nil || a.Hit {
			b.Fatal(a.Hit, err)
		}
	}
}

// What comparing an artifact with its checksums costs, for each byte of it, where the files are in memory: one large
// file, or many.
func BenchmarkVerify(b *testing.B) {
	const total = 256 << 20
	for _, files := range []int{1, 16, 1024} {
		b.Run(fmt.Sprintf("files=%d", files), func(b *testing.B) {
			c := mustOpen(b, b.TempDir())
			data := make([]byte, total/files)
			for i := range data {
				data[i] = byte(i * 7)
			}
			_, err := c.Do(b.Context(), numbered(0), func(_ context.Context, dir string) error {
				for i := range files {
					if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), data, 0o644); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(total)
			for b.Loop() {
				r, err := c.Verify(b.Context(), false, nil)
				if err != nil || r.Checked != 1 || len(r.Damaged) != 0 || r.Bytes < total {
					b.Fatal(r, err)
				}
			}
		})
	}
}
