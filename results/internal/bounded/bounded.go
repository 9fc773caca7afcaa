// Package bounded guards memory against damaged Arrow and Parquet files.
package bounded

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/memory"
)

// allocator refuses to allocate what only a damaged file asks for.
type allocator struct {
	memory.Allocator
	limit int64
}

// Allocator allocates up to limit bytes at once. The library believes the sizes in files, and its allocators have no way to
// fail but to panic: that is what this one does, and the caller recovers.
func Allocator(limit int64) memory.Allocator { return allocator{memory.NewGoAllocator(), limit} }

// Allocate implements memory.Allocator.
func (a allocator) Allocate(size int) []byte {
	a.check(size)
	return a.Allocator.Allocate(size)
}

// Reallocate implements memory.Allocator.
func (a allocator) Reallocate(size int, b []byte) []byte {
	a.check(size)
	return a.Allocator.Reallocate(size, b)
}

func (a allocator) check(size int) {
	if size < 0 || int64(size) > a.limit {
		panic(fmt.Sprintf("it claims %d bytes in one piece", size))
	}
}
