package kernels

import "unsafe"

// byteChunk is how many bytes are summed in 32 bits: 2^14 products of at most 255^2 stay below 2^31.
const byteChunk = 1 << 14

// DotUint8 is the inner product of a and b, which have the same length. It is exact.
func DotUint8(a, b []uint8) int64 { return sumBytes(active.dotUint8, a, b) }

// SquaredL2Uint8 is the squared Euclidean distance of a and b, which have the same length. It is exact.
func SquaredL2Uint8(a, b []uint8) int64 { return sumBytes(active.squaredL2Uint8, a, b) }

// DotInt8 is the inner product of a and b, which have the same length. It is exact.
func DotInt8(a, b []int8) int64 { return sumBytes(active.dotInt8, unsigned(a), unsigned(b)) }

// SquaredL2Int8 is the squared Euclidean distance of a and b, which have the same length. It is exact.
func SquaredL2Int8(a, b []int8) int64 {
	return sumBytes(active.squaredL2Int8, unsigned(a), unsigned(b))
}

func sumBytes(kernel func(a, b []byte) int32, a, b []byte) (sum int64) {
	b = b[:len(a)]
	for len(a) > byteChunk {
		sum += int64(kernel(a[:byteChunk], b[:byteChunk]))
		a, b = a[byteChunk:], b[byteChunk:]
	}
	return sum + int64(kernel(a, b))
}

// unsigned is the same memory as bytes.
func unsigned(v []int8) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v))
}
