package truth

import (
	"context"
	"fmt"
)

// Source hands out base rows. It is used by one goroutine at a time.
type Source interface {
	Len() int
	Dim() int
	// ReadRows fills dst with whole rows, from row on.
	ReadRows(row int, dst []float32) error
}

// filled is rows of the base that are in memory.
type filled struct {
	from   int
	values []float32
	err    error
}

// readAhead reads the rows [from, to) into two buffers of size rows in turn: one is read while the other is worked on.
// The channel gives them in order and closes after the last or the first error; give each back to release. The reading
// ends, at the latest after the buffer in work, when ctx is done.
func readAhead(ctx context.Context, source Source, from, to, size int) (blocks <-chan filled, release chan<- []float32) {
	out, free := make(chan filled), make(chan []float32, 2)
	dim := source.Dim()
	for range cap(free) {
		free <- make([]float32, size*dim)
	}
	go func() {
		defer close(out)
		for at := from; at < to; {
			var buffer []float32
			select {
			case buffer = <-free:
			case <-ctx.Done():
				return
			}
			n := min(size, to-at)
			b := filled{from: at, values: buffer[:n*dim]}
			if err := source.ReadRows(at, b.values); err != nil {
				b.err = fmt.Errorf("reading base rows %d to %d: %w", at, at+n-1, err)
			}
			select {
			case out <- b:
			case <-ctx.Done():
				return
			}
			if b.err != nil {
				return
			}
			at += n
		}
	}()
	return out, free
}
