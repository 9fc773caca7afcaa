package machine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Bandwidth is how fast memory beyond the caches is read and copied, in bytes a second.
type Bandwidth struct {
	Read float64 `json:"read_bytes_per_second"` // one stream a worker, by the vector instructions of bytes.IndexByte
	Copy float64 `json:"copy_bytes_per_second"` // bytes read and bytes written both count, as in STREAM
}

const bandwidthStep = 1 << 20 // bytes a pass

// MeasureBandwidth lets workers goroutines read and copy size bytes between them, over and over, for d each: the best of
// a few stretches. size should be several times the last cache, and is rounded down to whole MiB for each worker; less
// than 2 MiB for each is an error. The memory is taken from the system and given back.
func MeasureBandwidth(ctx context.Context, size int64, workers int, d time.Duration) (Bandwidth, error) {
	share := size / int64(max(1, workers)) / (2 * bandwidthStep) * (2 * bandwidthStep)
	if workers < 1 || share == 0 {
		return Bandwidth{}, fmt.Errorf("measuring memory bandwidth: %d bytes are too few for %d workers", size, workers)
	}
	memory, err := unix.Mmap(-1, 0, int(share)*workers, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return Bandwidth{}, fmt.Errorf("taking %d bytes to measure memory bandwidth: %w", share*int64(workers), err)
	}
	defer unix.Munmap(memory) //nolint:errcheck // the range is ours
	parts := make([][]byte, workers)
	next := make([]int, workers)
	for w := range parts {
		parts[w] = memory[int64(w)*share : int64(w+1)*share]
		fillEveryMiB(parts[w])
	}
	var wrong atomic.Bool
	var b Bandwidth
	b.Read, err = bestRate(ctx, workers, d, func(w int) float64 {
		part := parts[w][next[w] : next[w]+bandwidthStep]
		next[w] = (next[w] + bandwidthStep) % len(parts[w])
		if bytes.IndexByte(part, 1) != bandwidthStep-1 {
			wrong.Store(true)
		}
		return bandwidthStep
	})
	if err != nil {
		return Bandwidth{}, err
	}
	clear(next)
	b.Copy, err = bestRate(ctx, workers, d, func(w int) float64 {
		half := len(parts[w]) / 2
		from, to := parts[w][:half], parts[w][half:]
		i := next[w]
		next[w] = (i + bandwidthStep) % half
		if n := copy(to[i:i+bandwidthStep], from[i:]); n != bandwidthStep || to[i+n-1] != 1 {
			wrong.Store(true)
		}
		return 2 * bandwidthStep
	})
	if err != nil {
		return Bandwidth{}, err
	}
	if wrong.Load() {
		return Bandwidth{}, errors.New("memory of this machine does not hold what was written into it")
	}
	return b, nil
}

// fillEveryMiB touches all pages, so that none is a shared page of zeros, and marks the end of each MiB.
func fillEveryMiB(part []byte) {
	for i := 0; i < len(part); i += 1 << 10 {
		part[i] = 2
	}
	for i := bandwidthStep - 1; i < len(part); i += bandwidthStep {
		part[i] = 1
	}
}
