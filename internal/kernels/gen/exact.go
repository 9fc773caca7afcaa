package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// exact writes the function that compares a query with four rows in float64. Each row has four sums, as in the portable
// form, so that the results have its bits; the four rows hide the latency of each other's additions. Fused
// multiply-adds change nothing for products, which are exact, and are not used for squares of differences, which are not.
func (s isa) exact(op operation) {
	name := op.name + s.name
	TEXT(name, NOSPLIT, "func(dst *float64, query, row0, row1, row2, row3 *float32, n int)")
	if op.self {
		Doc(name + " writes the " + op.doc + " of each of four rows of n values to dst, in float64. There is no query.")
	} else {
		Doc(name + " writes the " + op.doc + " of the query and each of four rows of n values to dst, in float64.")
	}
	Pragma("noescape")
	dst := Load(Param("dst"), GP64())
	var query reg.Register
	if !op.self {
		query = Load(Param("query"), GP64())
	}
	var rows [4]reg.Register
	var acc [4]reg.VecVirtual
	for i, row := range []string{"row0", "row1", "row2", "row3"} {
		rows[i] = Load(Param(row), GP64())
		acc[i] = YMM()
		zero(acc[i])
	}
	left, index := Load(Param("n"), GP64()).(reg.GPVirtual), GP64()
	XORQ(index, index)
	Label("four")
	SUBQ(operand.Imm(4), left)
	JL(operand.LabelRef("rest"))
	q := YMM()
	if !op.self {
		VCVTPS2PD(at(query, index, 0), q)
	}
	for i, row := range rows {
		v := YMM()
		VCVTPS2PD(at(row, index, 0), v)
		if op.self {
			VFMADD231PD(v, v, acc[i])
			continue
		}
		if !op.square {
			VFMADD231PD(q, v, acc[i])
			continue
		}
		VSUBPD(v, q, v)
		VMULPD(v, v, v)
		VADDPD(v, acc[i], acc[i])
	}
	ADDQ(operand.Imm(16), index)
	JMP(operand.LabelRef("four"))
	// What is left goes into the first sum, before the sums are added up.
	Label("rest")
	ADDQ(operand.Imm(4), left)
	JE(operand.LabelRef("end"))
	Label("one")
	single := XMM()
	if !op.self {
		VXORPS(single, single, single)
		VCVTSS2SD(at(query, index, 0), single, single)
	}
	for i, row := range rows {
		v, first := XMM(), XMM()
		VXORPS(v, v, v)
		VCVTSS2SD(at(row, index, 0), v, v)
		switch {
		case op.self:
			VMULSD(v, v, v)
		case op.square:
			VSUBSD(v, single, v)
			VMULSD(v, v, v)
		default:
			VMULSD(v, single, v)
		}
		VADDSD(v, acc[i].AsX(), first)
		VBLENDPD(operand.Imm(1), first.AsY(), acc[i], acc[i])
	}
	ADDQ(operand.Imm(4), index)
	DECQ(left)
	JNE(operand.LabelRef("one"))
	Label("end")
	for i := range rows {
		high, other := XMM(), XMM()
		VEXTRACTF128(operand.Imm(1), acc[i], high)
		// (s0+s1) + (s2+s3)
		VHADDPD(acc[i].AsX(), acc[i].AsX(), other)
		VHADDPD(high, high, high)
		VADDSD(high, other, other)
		VMOVSD(other, operand.Mem{Base: dst, Disp: 8 * i})
	}
	VZEROUPPER()
	RET()
}
