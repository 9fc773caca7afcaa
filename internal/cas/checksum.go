package cas

import (
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

// Checksums find what a disk, a copy or a stray write damaged; they do not defend against forgery. CRC-32C is computed
// by the processor where it can (amd64, arm64), and finds every burst of up to 32 bits; other damage to a block escapes
// with a probability of 2^-32. One sum a block lets several processors work on one large file, and tells where a file
// is damaged.
const (
	blockBytes = 16 << 20
	crcDigits  = 8
)

// blocks is how many blocks a file of size bytes has.
func blocks(size int64) int64 {
	n := size / blockBytes
	if size%blockBytes != 0 {
		n++
	}
	return n
}

// block is a part of a file whose checksum is to be computed.
type block struct {
	name  string
	index int64
	bytes int64
}

// checksums computes the sums of the files in dir, whose sizes are given, on all processors. It returns for each file
// its sums in the form of File.CRC32C, or why they could not be computed.
func checksums(ctx context.Context, dir string, sizes map[string]int64) (map[string]string, map[string]error) {
	var mu sync.Mutex
	sums := map[string][]string{}
	failed := map[string]error{}
	var work []block
	for name, size := range sizes {
		n := blocks(size)
		sums[name] = make([]string, n)
		for i := range n {
			work = append(work, block{name, i, min(blockBytes, size-i*blockBytes)})
		}
	}
	queue := make(chan block)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(work)) {
		workers.Go(func() {
			buf := make([]byte, 256<<10)
			for b := range queue {
				sum, err := checksumBlock(ctx, dir, b, buf)
				mu.Lock()
				if err != nil {
					failed[b.name] = err
				} else {
					sums[b.name][b.index] = sum
				}
				mu.Unlock()
			}
		})
	}
	for _, b := range work {
		queue <- b
	}
	close(queue)
	workers.Wait()
	joined := map[string]string{}
	for name, parts := range sums {
		joined[name] = strings.Join(parts, "")
	}
	return joined, failed
}

func checksumBlock(ctx context.Context, dir string, b block, buf []byte) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	f, err := os.Open(filepath.Join(dir, b.name))
	if err != nil {
		return "", err
	}
	defer f.Close()
	crc := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	n, err := io.CopyBuffer(crc, onlyReader{io.NewSectionReader(f, b.index*blockBytes, b.bytes)}, buf)
	if err != nil {
		return "", err
	}
	if n != b.bytes {
		return "", fmt.Errorf("%s: %w after %d bytes", f.Name(), io.ErrUnexpectedEOF, b.index*blockBytes+n)
	}
	return fmt.Sprintf("%08x", crc.Sum32()), nil
}

// onlyReader hides other methods of a reader, so that io.CopyBuffer uses its buffer.
type onlyReader struct{ io.Reader }

// firstDifference is the index of the first block whose sums differ, in sums of equal length.
func firstDifference(a, b string) int64 {
	for i := 0; i+crcDigits <= min(len(a), len(b)); i += crcDigits {
		if a[i:i+crcDigits] != b[i:i+crcDigits] {
			return int64(i / crcDigits)
		}
	}
	return 0
}
