// Package vector holds dense float32 matrices, in memory or mapped from a file, and the metrics that compare
// their rows.
package vector

import (
	"fmt"
	"strings"
)

// Metric names how two vectors are compared.
type Metric string

// The metrics. Distances are: squared Euclidean for L2, the negated inner product for IP, and one minus the cosine
// for Cosine, so that smaller is always nearer.
const (
	L2     Metric = "l2"
	IP     Metric = "ip"
	Cosine Metric = "cosine"
)

// ParseMetric reads a metric's name, accepting the spellings that other tools use.
func ParseMetric(s string) (Metric, error) {
	switch strings.ToLower(s) {
	case "l2", "euclidean", "sqeuclidean":
		return L2, nil
	case "ip", "dot", "inner_product", "inner-product":
		return IP, nil
	case "cosine", "angular", "cos":
		return Cosine, nil
	}
	return "", fmt.Errorf("unknown metric %q: use l2, ip or cosine", s)
}

// Matrix is n rows of dim float32 values, row-major. It is read-only once made and safe for concurrent readers.
type Matrix struct {
	rows, dim int
	data      []float32
	unmap     func() error
}

// NewMatrix wraps data, whose length must be a multiple of dim. The matrix keeps data; it does not copy it.
func NewMatrix(data []float32, dim int) (*Matrix, error) {
	if dim <= 0 {
		return nil, fmt.Errorf("a matrix needs a positive dimension, not %d", dim)
	}
	if len(data)%dim != 0 {
		return nil, fmt.Errorf("%d values are not a whole number of rows of %d", len(data), dim)
	}
	return &Matrix{rows: len(data) / dim, dim: dim, data: data}, nil
}

// Len is the number of rows.
func (m *Matrix) Len() int { return m.rows }

// Dim is the number of values in a row.
func (m *Matrix) Dim() int { return m.dim }

// Row is the i-th row. The slice is shared and must not be written to.
func (m *Matrix) Row(i int) []float32 { return m.data[i*m.dim : (i+1)*m.dim : (i+1)*m.dim] }

// Rows is the values of rows [from, to), row-major, shared and read-only.
func (m *Matrix) Rows(from, to int) []float32 { return m.data[from*m.dim : to*m.dim : to*m.dim] }

// Close releases the mapping, if there is one. Rows must not be used afterwards.
func (m *Matrix) Close() error {
	m.data = nil
	if m.unmap == nil {
		return nil
	}
	unmap := m.unmap
	m.unmap = nil
	return unmap()
}
