// Command gen writes the assembly of package kernels for amd64. It is a module of its own, so that what it needs is no
// dependency of frontier. Run it with go generate ./internal/kernels.
package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// isa is one instruction set: the names that its functions end in and the shape of its registers.
type isa struct {
	name  string
	lanes int  // float32 values in a register
	masks bool // loads can be masked, and comparisons give mask registers
	vec   func() reg.VecVirtual
	regs  []reg.VecPhysical
	// The tile of sift: rows x vectors of queries in registers at once.
	tileRows, tileVectors int
}

var (
	avx512 = isa{
		"AVX512", 16, true, ZMM,
		[]reg.VecPhysical{
			reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7, reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
			reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23, reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31,
		},
		12, 2,
	}
	avx2 = isa{
		"AVX2", 8, false, YMM,
		[]reg.VecPhysical{
			reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7, reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15,
		},
		6, 2,
	}
)

func main() {
	ConstraintExpr("amd64")
	for _, set := range []isa{avx512, avx2} {
		for _, op := range []operation{dot, squaredL2} {
			set.rows(op)
		}
		set.pack()
		set.sift()
		set.byteKernels()
	}
	avx512.round()
	avx512.sieve()
	avx512.rescore()
	avx2.exact(dot64)
	avx2.exact(squaredL264)
	avx2.exact(square64)
	Generate()
}

func (s isa) bytes() int { return 4 * s.lanes }

// at is the memory at base + index + disp bytes.
func at(base, index reg.Register, disp int) operand.Mem {
	return operand.Mem{Base: base, Index: index, Scale: 1, Disp: disp}
}

func zero(v reg.VecVirtual) { VXORPS(v.AsX(), v.AsX(), v.AsX()) }
