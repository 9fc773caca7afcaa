// Package kernels computes distances between vectors: of float32, and exactly of bytes. Each kernel has a portable form
// in Go, which is the reference, and one for each instruction set; which is used is decided once, at the start.
package kernels

//go:generate go run -C gen . -out ../kernels_amd64.s -stubs ../stubs_amd64.go -pkg kernels

// Dot is the inner product of a and b, which have the same length. Sums run side by side, in an order that depends on
// the variant; whatever it is, the result is within len roundings of float32 of the exact one, relative to the sum of
// the magnitudes of the products (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1).
func Dot(a, b []float32) float32 { return active.dot(a, b[:len(a)]) }

// SquaredL2 is the squared Euclidean distance of a and b, which have the same length. It subtracts before it squares,
// so vectors far from the origin do not cancel: the result is within len+3 roundings of float32 of the exact one.
func SquaredL2(a, b []float32) float32 { return active.squaredL2(a, b[:len(a)]) }

// DotRows writes the inner product of query and each of the len(dst) rows to dst, with the same bits as Dot. rows is
// len(dst) x len(query), row-major.
func DotRows(dst, query, rows []float32) {
	active.dotRows(dst, query, rows[:len(dst)*len(query)])
}

// SquaredL2Rows writes squared Euclidean distances as DotRows does inner products, with the same bits as SquaredL2.
func SquaredL2Rows(dst, query, rows []float32) {
	active.squaredL2Rows(dst, query, rows[:len(dst)*len(query)])
}
