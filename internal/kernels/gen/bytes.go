package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// byteKernels writes the sums over bytes: they are widened to 16 bits, in which differences are exact, and pairs of
// products are added up in 32. With AVX-512 this is one instruction of VNNI.
func (s isa) byteKernels() {
	for _, signed := range []bool{false, true} {
		for _, square := range []bool{false, true} {
			s.byteKernel(signed, square)
		}
	}
}

func (s isa) byteKernel(signed, square bool) {
	name, doc := "dot", "inner product"
	if square {
		name, doc = "squaredL2", "squared Euclidean distance"
	}
	if signed {
		name += "Int8"
	} else {
		name += "Uint8"
	}
	name += s.name
	TEXT(name, NOSPLIT, "func(a, b *byte, n int) int32")
	Doc(name + " is the " + doc + " of n bytes; n is at most byteChunk.")
	Pragma("noescape")
	a, b, left := Load(Param("a"), GP64()), Load(Param("b"), GP64()), Load(Param("n"), GP64()).(reg.GPVirtual)
	index := GP64()
	XORQ(index, index)
	var acc [2]reg.VecVirtual
	for i := range acc {
		acc[i] = s.vec()
		VPXOR(acc[i].AsX(), acc[i].AsX(), acc[i].AsX())
	}
	widen := func(from operand.Op, to reg.VecVirtual) {
		if signed {
			VPMOVSXBW(from, to)
			return
		}
		VPMOVZXBW(from, to)
	}
	add := func(x, y, sum reg.VecVirtual) {
		if square {
			VPSUBW(y, x, x)
			y = x
		}
		if s.masks {
			vpdpwssd(x, y, sum)
			return
		}
		VPMADDWD(x, y, x)
		VPADDD(x, sum, sum)
	}
	words := 2 * s.lanes
	step := func(turn, disp int) {
		x, y := s.vec(), s.vec()
		widen(at(a, index, disp), x)
		widen(at(b, index, disp), y)
		add(x, y, acc[turn])
	}
	Label("two")
	CMPQ(left, operand.Imm(uint64(2*words)))
	JL(operand.LabelRef("one"))
	step(0, 0)
	step(1, words)
	ADDQ(operand.Imm(uint64(2*words)), index)
	SUBQ(operand.Imm(uint64(2*words)), left)
	JMP(operand.LabelRef("two"))
	Label("one")
	CMPQ(left, operand.Imm(uint64(words)))
	JL(operand.LabelRef("tail"))
	step(0, 0)
	ADDQ(operand.Imm(uint64(words)), index)
	SUBQ(operand.Imm(uint64(words)), left)
	Label("tail")
	if s.masks {
		TESTQ(left, left)
		JE(operand.LabelRef("end"))
		ones, mask := GP64(), K()
		MOVQ(operand.U64(1<<63-1), ones)
		BZHIQ(left, ones, ones)
		KMOVD(ones.As32(), mask)
		x, y := YMM(), YMM()
		VMOVDQU8_Z(at(a, index, 0), mask, x)
		VMOVDQU8_Z(at(b, index, 0), mask, y)
		wideX, wideY := s.vec(), s.vec()
		widen(x, wideX)
		widen(y, wideY)
		add(wideX, wideY, acc[1])
		Label("end")
	}
	VPADDD(acc[1], acc[0], acc[0])
	sum := s.sumInt32(acc[0])
	if !s.masks {
		TESTQ(left, left)
		JE(operand.LabelRef("end"))
		Label("value")
		x, y := GP32(), GP32()
		extend := MOVBLZX
		if signed {
			extend = MOVBLSX
		}
		extend(at(a, index, 0), x)
		extend(at(b, index, 0), y)
		if square {
			SUBL(y, x)
			y = x
		}
		IMULL(x, y)
		ADDL(y, sum)
		INCQ(index)
		DECQ(left)
		JNE(operand.LabelRef("value"))
		Label("end")
	}
	Store(sum, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// sumInt32 is the sum of the 32-bit values of v.
func (s isa) sumInt32(v reg.VecVirtual) reg.GPVirtual {
	if s.masks {
		high := YMM()
		VEXTRACTI64X4(operand.Imm(1), v, high)
		VPADDD(high, v.AsY(), v.AsY())
	}
	low, high := v.AsX(), XMM()
	VEXTRACTI128(operand.Imm(1), v.AsY(), high)
	VPADDD(high, low, low)
	VPSHUFD(operand.Imm(0xee), low, high)
	VPADDD(high, low, low)
	VPSHUFD(operand.Imm(0x55), low, high)
	VPADDD(high, low, low)
	sum := GP32()
	VMOVD(low, sum)
	return sum
}

// vpdpwssd adds the products of 16-bit values of x and y, in pairs, to the 32-bit values of sum. avo does not know it.
func vpdpwssd(x, y, sum reg.VecVirtual) {
	Instruction(&ir.Instruction{
		Opcode:   "VPDPWSSD",
		Operands: []operand.Op{x, y, sum},
		Inputs:   []operand.Op{x, y, sum},
		Outputs:  []operand.Op{sum},
		ISA:      []string{"AVX512VNNI"},
	})
}
