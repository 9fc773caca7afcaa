package kernels

//go:noescape
func dotNEON(a, b *float32, n int) float32

//go:noescape
func squaredL2NEON(a, b *float32, n int) float32

//go:noescape
func packNEON(dst, row, mean *float32, n int, scale float32) float32

//go:noescape
func siftNEON(queries, rows *float32, stride, dim, groups int, offsets, limits, scores *float32, hits *uint32) int

// The sums over bytes take a multiple of 16 of them, at most byteChunk.

//go:noescape
func dotUint8NEON(a, b *byte, n int) int32

//go:noescape
func dotInt8NEON(a, b *byte, n int) int32

//go:noescape
func squaredL2Uint8NEON(a, b *byte, n int) int32

//go:noescape
func squaredL2Int8NEON(a, b *byte, n int) int32
