package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// pack writes the function that centres and scales a row on its way into a tile, and takes its squared norm.
func (s isa) pack() {
	name := "pack" + s.name
	TEXT(name, NOSPLIT, "func(dst, row, mean *float32, n int, scale float32) float32")
	Doc(name + " writes (row-mean)*scale to dst and returns the sum of its squares.")
	Pragma("noescape")
	dst, row, mean := Load(Param("dst"), GP64()), Load(Param("row"), GP64()), Load(Param("mean"), GP64())
	left, index := Load(Param("n"), GP64()).(reg.GPVirtual), GP64()
	scalar := XMM()
	scale := s.vec()
	scaleParam, err := Param("scale").Resolve()
	if err != nil {
		panic(err)
	}
	VMOVSS(scaleParam.Addr, scalar)
	VBROADCASTSS(scalar, scale)
	var mask reg.Register
	if s.masks {
		mask = s.tailMask(left)
	}
	XORQ(index, index)
	var acc [2]reg.VecVirtual
	for i := range acc {
		acc[i] = s.vec()
		zero(acc[i])
	}
	step := func(turn, disp int) {
		v := s.vec()
		VMOVUPS(at(row, index, disp), v)
		VSUBPS(at(mean, index, disp), v, v)
		VMULPS(scale, v, v)
		VMOVUPS(v, at(dst, index, disp))
		VFMADD231PS(v, v, acc[turn])
	}
	Label("two")
	CMPQ(left, operand.Imm(uint64(2*s.lanes)))
	JL(operand.LabelRef("one"))
	step(0, 0)
	step(1, s.bytes())
	ADDQ(operand.Imm(uint64(2*s.bytes())), index)
	SUBQ(operand.Imm(uint64(2*s.lanes)), left)
	JMP(operand.LabelRef("two"))
	Label("one")
	CMPQ(left, operand.Imm(uint64(s.lanes)))
	JL(operand.LabelRef("tail"))
	step(0, 0)
	ADDQ(operand.Imm(uint64(s.bytes())), index)
	SUBQ(operand.Imm(uint64(s.lanes)), left)
	Label("tail")
	if s.masks {
		TESTQ(left, left)
		JE(operand.LabelRef("end"))
		v, m := s.vec(), s.vec()
		VMOVUPS_Z(at(row, index, 0), mask, v)
		VMOVUPS_Z(at(mean, index, 0), mask, m)
		VSUBPS(m, v, v)
		VMULPS(scale, v, v)
		VMOVUPS(v, mask, at(dst, index, 0))
		VFMADD231PS(v, v, acc[1])
		Label("end")
	}
	VADDPS(acc[1], acc[0], acc[0])
	s.reduce(acc[0])
	if !s.masks {
		TESTQ(left, left)
		JE(operand.LabelRef("end"))
		Label("value")
		v := XMM()
		VMOVSS(at(row, index, 0), v)
		VSUBSS(at(mean, index, 0), v, v)
		VMULSS(scale.AsX(), v, v)
		VMOVSS(v, at(dst, index, 0))
		VFMADD231SS(v, v, acc[0].AsX())
		ADDQ(operand.Imm(4), index)
		DECQ(left)
		JNE(operand.LabelRef("value"))
		Label("end")
	}
	Store(acc[0].AsX(), ReturnIndex(0))
	VZEROUPPER()
	RET()
}
