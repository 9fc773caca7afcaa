package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sift writes the function that compares a panel of queries with groups of rows and hands on only what reaches the
// queries' limits. A group of rows times the panel is kept in registers; a value of a row is broadcast and multiplied
// with the same dimension of all queries.
func (s isa) sift() {
	name := "sift" + s.name
	t := s.tile()
	TEXT(name, NOSPLIT, "func(queries, rows *float32, stride, dim, groups int, offsets, limits, scores *float32, hits *uint32) int")
	Doc(name + " is sift of the variant; see variant.")
	Pragma("noescape")
	queries, base := Load(Param("queries"), GP64()), Load(Param("rows"), GP64())
	stride := Load(Param("stride"), GP64())
	offsets := Load(Param("offsets"), GP64()).(reg.GPVirtual)
	scores, hits := Load(Param("scores"), GP64()).(reg.GPVirtual), Load(Param("hits"), GP64())
	masks := AllocLocal(4 * t.rows)
	first := GP64()
	XORQ(first, first)

	Label("group")
	rows := GP64()
	Load(Param("groups"), rows)
	IMUL3Q(operand.Imm(uint64(t.rows)), rows, rows)
	CMPQ(first, rows)
	JGE(operand.LabelRef("done"))
	for r := range t.rows {
		for v := range t.vectors {
			VXORPS(t.acc(r, v).AsX(), t.acc(r, v).AsX(), t.acc(r, v).AsX())
		}
	}
	t.multiply(queries, base, stride, "dim", func(row, queries, sum reg.VecPhysical) { VFMADD231PS(row, queries, sum) })

	limits, any := GP64(), GP32()
	Load(Param("limits"), limits)
	for v := range t.vectors {
		VMOVUPS(operand.Mem{Base: limits, Disp: v * s.bytes()}, t.panel(v))
	}
	XORL(any, any)
	for r := range t.rows {
		offset := operand.Mem{Base: offsets, Disp: 4 * r}
		if !s.masks {
			VBROADCASTSS(offset, t.spare[0])
		}
		for v := range t.vectors {
			if s.masks {
				VADDPS_BCST(offset, t.acc(r, v), t.acc(r, v))
				continue
			}
			VADDPS(t.spare[0], t.acc(r, v), t.acc(r, v))
		}
		mask := GP32()
		t.compare(r, mask)
		MOVL(mask, masks.Offset(4*r))
		ORL(mask, any)
	}
	TESTL(any, any)
	JE(operand.LabelRef("nothing"))
	for r := range t.rows {
		for v := range t.vectors {
			VMOVUPS(t.acc(r, v), operand.Mem{Base: scores, Disp: v * s.bytes()})
		}
		mask := GP32()
		MOVL(masks.Offset(4*r), mask)
		kept := hit(first, r, mask, hits)
		IMUL3Q(operand.I32(t.vectors*s.bytes()), kept, kept)
		ADDQ(kept, scores)
	}
	Label("nothing")
	ADDQ(operand.Imm(uint64(4*t.rows)), offsets)
	ADDQ(operand.Imm(uint64(t.rows)), first)
	t.nextGroup(base, stride)
	JMP(operand.LabelRef("group"))
	Label("done")
	returnHits(hits)
}
