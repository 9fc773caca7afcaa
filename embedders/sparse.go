package embedders

import (
	"runtime"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas64"
)

// sparse is a matrix in compressed rows: the entries of row i are those from start[i] to start[i+1].
type sparse struct {
	rows, cols int
	start      []int
	col        []int32
	val        []float32
}

// transpose is the same matrix with rows and columns exchanged; columns ascend in each of its rows.
func (s *sparse) transpose() *sparse {
	t := &sparse{rows: s.cols, cols: s.rows, start: make([]int, s.cols+1), col: make([]int32, len(s.col)), val: make([]float32, len(s.val))}
	for _, c := range s.col {
		t.start[c+1]++
	}
	for i := range s.cols {
		t.start[i+1] += t.start[i]
	}
	next := append([]int(nil), t.start[:s.cols]...)
	for i := range s.rows {
		for e := s.start[i]; e < s.start[i+1]; e++ {
			at := next[s.col[e]]
			next[s.col[e]]++
			t.col[at], t.val[at] = int32(i), s.val[e]
		}
	}
	return t
}

// multiply sets out, rows x width, to the product with dense, cols x width; both are row-major without gaps. Each row
// of out is summed by one goroutine in the order of the entries, so that the result is the same for any GOMAXPROCS.
func (s *sparse) multiply(dense []float64, width int, out []float64) {
	const block = 64 // rows taken at a time
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (s.rows+block-1)/block) {
		wg.Go(func() {
			x, y := blas64.Vector{N: width, Inc: 1}, blas64.Vector{N: width, Inc: 1}
			for {
				from := int(next.Add(block)) - block
				if from >= s.rows {
					return
				}
				for i := from; i < min(from+block, s.rows); i++ {
					y.Data = out[i*width : (i+1)*width]
					clear(y.Data)
					for e := s.start[i]; e < s.start[i+1]; e++ {
						c := int(s.col[e])
						x.Data = dense[c*width : (c+1)*width]
						blas64.Axpy(float64(s.val[e]), x, y)
					}
				}
			}
		})
	}
	wg.Wait()
}
