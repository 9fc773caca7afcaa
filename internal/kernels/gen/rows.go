package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// operation is what is summed over the dimensions.
type operation struct {
	name, doc string
	square    bool // of the difference, where false is the product
	self      bool // of a row and itself
}

var (
	dot         = operation{name: "dotRows", doc: "inner product"}
	squaredL2   = operation{name: "squaredL2Rows", doc: "squared Euclidean distance", square: true}
	dot64       = operation{name: "dot64Four", doc: "inner product"}
	squaredL264 = operation{name: "squaredL264Four", doc: "squared Euclidean distance", square: true}
	square64    = operation{name: "square64Four", doc: "inner product with itself", self: true}
)

// rows writes the function that compares one query with rows that follow each other in memory. Four rows share the
// loads of the query. The sums of a row are added up in the same order whether it is one of four or alone, so that its
// result does not depend on where it lies.
func (s isa) rows(op operation) {
	TEXT(op.name+s.name, NOSPLIT, "func(dst, query, rows *float32, dim, n int)")
	Doc(op.name + s.name + " writes the " + op.doc + " of the query and each of n rows of dim values to dst.")
	Pragma("noescape")
	dst, query, first := Load(Param("dst"), GP64()), Load(Param("query"), GP64()), Load(Param("rows"), GP64())
	dim, n := Load(Param("dim"), GP64()), Load(Param("n"), GP64())
	stride := GP64()
	MOVQ(dim, stride)
	SHLQ(operand.Imm(2), stride)
	var mask reg.Register
	if s.masks {
		mask = s.tailMask(dim)
	}

	for _, width := range []int{4, 1} {
		loop, done := label(op.name, width, "loop"), label(op.name, width, "done")
		Label(loop)
		CMPQ(n, operand.Imm(uint64(width)))
		JL(operand.LabelRef(done))
		rows := []reg.Register{first}
		for len(rows) < width {
			next := GP64()
			LEAQ(at(rows[len(rows)-1], stride, 0), next)
			rows = append(rows, next)
		}
		for r, sum := range s.sums(op, width, query, rows, dim, mask) {
			VMOVSS(sum, operand.Mem{Base: dst, Disp: 4 * r})
		}
		ADDQ(operand.Imm(uint64(4*width)), dst)
		LEAQ(at(rows[width-1], stride, 0), first.(reg.GPVirtual))
		SUBQ(operand.Imm(uint64(width)), n)
		JMP(operand.LabelRef(loop))
		Label(done)
	}
	VZEROUPPER()
	RET()
}

// sums emits what compares the query with rows, and returns the registers whose first lanes hold the results. Each row
// has two accumulators, which take turns.
func (s isa) sums(op operation, width int, query reg.Register, rows []reg.Register, dim, mask reg.Register) []reg.VecVirtual {
	var acc [2][]reg.VecVirtual
	for i := range acc {
		for range rows {
			v := s.vec()
			zero(v)
			acc[i] = append(acc[i], v)
		}
	}
	left, index := GP64(), GP64()
	MOVQ(dim, left)
	XORQ(index, index)
	step := func(turn, disp int, load func(operand.Mem, reg.VecVirtual)) {
		q := s.vec()
		load(at(query, index, disp), q)
		for r, row := range rows {
			v := s.vec()
			load(at(row, index, disp), v)
			if !op.square {
				VFMADD231PS(q, v, acc[turn][r])
				continue
			}
			VSUBPS(v, q, v)
			VFMADD231PS(v, v, acc[turn][r])
		}
	}
	whole := func(m operand.Mem, v reg.VecVirtual) { VMOVUPS(m, v) }
	two, one, tail, end := label(op.name, width, "two"), label(op.name, width, "one"), label(op.name, width, "tail"), label(op.name, width, "end")
	Label(two)
	CMPQ(left, operand.Imm(uint64(2*s.lanes)))
	JL(operand.LabelRef(one))
	step(0, 0, whole)
	step(1, s.bytes(), whole)
	ADDQ(operand.Imm(uint64(2*s.bytes())), index)
	SUBQ(operand.Imm(uint64(2*s.lanes)), left)
	JMP(operand.LabelRef(two))
	Label(one)
	CMPQ(left, operand.Imm(uint64(s.lanes)))
	JL(operand.LabelRef(tail))
	step(0, 0, whole)
	ADDQ(operand.Imm(uint64(s.bytes())), index)
	SUBQ(operand.Imm(uint64(s.lanes)), left)
	Label(tail)
	if s.masks {
		TESTQ(left, left)
		JE(operand.LabelRef(end))
		step(1, 0, func(m operand.Mem, v reg.VecVirtual) { VMOVUPS_Z(m, mask, v) })
		Label(end)
	}
	for r := range rows {
		VADDPS(acc[1][r], acc[0][r], acc[0][r])
		s.reduce(acc[0][r])
	}
	if !s.masks {
		TESTQ(left, left)
		JE(operand.LabelRef(end))
		one := label(op.name, width, "value")
		Label(one)
		q := XMM()
		VMOVSS(at(query, index, 0), q)
		for r, row := range rows {
			v := XMM()
			VMOVSS(at(row, index, 0), v)
			if op.square {
				VSUBSS(v, q, v)
				VFMADD231SS(v, v, acc[0][r].AsX())
				continue
			}
			VFMADD231SS(q, v, acc[0][r].AsX())
		}
		ADDQ(operand.Imm(4), index)
		DECQ(left)
		JNE(operand.LabelRef(one))
		Label(end)
	}
	var out []reg.VecVirtual
	for r := range rows {
		out = append(out, acc[0][r].AsX().(reg.VecVirtual))
	}
	return out
}

// tailMask is the mask of the n mod lanes values that whole registers leave over.
func (s isa) tailMask(n reg.Register) reg.Register {
	ones, mask := GP64(), K()
	MOVQ(operand.U64(1<<63-1), ones)
	rest := GP64()
	MOVQ(n, rest)
	ANDQ(operand.Imm(uint64(s.lanes-1)), rest)
	BZHIQ(rest, ones, ones)
	KMOVW(ones.As32(), mask)
	return mask
}

// reduce adds up the lanes of v into its first.
func (s isa) reduce(v reg.VecVirtual) {
	if s.lanes == 16 {
		high := YMM()
		VEXTRACTF64X4(operand.Imm(1), v, high)
		VADDPS(high, v.AsY(), v.AsY())
	}
	high := XMM()
	VEXTRACTF128(operand.Imm(1), v.AsY(), high)
	VADDPS(high, v.AsX(), v.AsX())
	VMOVHLPS(v.AsX(), v.AsX(), high)
	VADDPS(high, v.AsX(), v.AsX())
	VMOVSHDUP(v.AsX(), high)
	VADDSS(high, v.AsX(), v.AsX())
}

func label(name string, width int, what string) string {
	return name + what + string(rune('0'+width))
}
