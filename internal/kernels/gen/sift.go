package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// unroll is how many dimensions the inner loop of sift takes at once.
const unroll = 4

// sift writes the function that compares a panel of queries with groups of rows and hands on only what reaches the
// queries' limits. A group of rows times the panel is kept in registers; a value of a row is broadcast and multiplied
// with the same dimension of all queries.
func (s isa) sift() {
	name := "sift" + s.name
	rows, vectors := s.tileRows, s.tileVectors
	TEXT(name, NOSPLIT, "func(queries, rows *float32, stride, dim, groups int, offsets, limits, scores *float32, masks *uint32, hits *int32) int")
	Doc(name + " is sift of the variant; see variant.")
	Pragma("noescape")
	queries, base := Load(Param("queries"), GP64()), Load(Param("rows"), GP64()).(reg.GPVirtual)
	stride := Load(Param("stride"), GP64())
	offsets := Load(Param("offsets"), GP64()).(reg.GPVirtual)
	scores, masks := Load(Param("scores"), GP64()).(reg.GPVirtual), Load(Param("masks"), GP64()).(reg.GPVirtual)
	hits := Load(Param("hits"), GP64()).(reg.GPVirtual)
	group := GP64()
	XORQ(group, group)

	acc := func(r, v int) reg.VecPhysical { return s.regs[r*vectors+v] }
	panel := func(v int) reg.VecPhysical { return s.regs[rows*vectors+v] }
	spare := s.regs[(rows+1)*vectors:]

	Label("group")
	dim := GP64()
	Load(Param("groups"), dim)
	CMPQ(group, dim)
	JGE(operand.LabelRef("done"))
	for r := range rows {
		for v := range vectors {
			VXORPS(s.low(acc(r, v)), s.low(acc(r, v)), s.low(acc(r, v)))
		}
	}
	// One pointer for every three rows; the others are reached through the stride.
	pointers := []reg.GPVirtual{GP64()}
	MOVQ(base, pointers[0])
	for len(pointers)*3 < rows {
		next := GP64()
		LEAQ(operand.Mem{Base: pointers[len(pointers)-1], Index: stride, Scale: 2}, next)
		ADDQ(stride, next)
		pointers = append(pointers, next)
	}
	value := func(r, k int) operand.Mem {
		m := operand.Mem{Base: pointers[r/3], Disp: 4 * k}
		if r%3 > 0 {
			m.Index, m.Scale = stride, uint8(r%3)
		}
		return m
	}
	q := GP64()
	MOVQ(queries, q)
	Load(Param("dim"), dim)
	next := 0
	step := func(k int) {
		for v := range vectors {
			VMOVUPS(operand.Mem{Base: q, Disp: (k*vectors + v) * s.bytes()}, panel(v))
		}
		for r := range rows {
			b := spare[next%len(spare)]
			next++
			VBROADCASTSS(value(r, k), b)
			for v := range vectors {
				VFMADD231PS(b, panel(v), acc(r, v))
			}
		}
	}
	advance := func(k int) {
		for _, p := range pointers {
			ADDQ(operand.Imm(uint64(4*k)), p)
		}
		ADDQ(operand.I32(k*vectors*s.bytes()), q)
	}
	SUBQ(operand.Imm(unroll), dim)
	JL(operand.LabelRef("rest"))
	Label("many")
	for k := range unroll {
		step(k)
	}
	advance(unroll)
	SUBQ(operand.Imm(unroll), dim)
	JGE(operand.LabelRef("many"))
	Label("rest")
	ADDQ(operand.Imm(unroll), dim)
	JE(operand.LabelRef("compare"))
	Label("one")
	step(0)
	advance(1)
	DECQ(dim)
	JNE(operand.LabelRef("one"))

	// A score that is not less than the limit, or not a number, is handed on.
	Label("compare")
	const notLess = 0x15
	limits, any := GP64(), GP32()
	Load(Param("limits"), limits)
	for v := range vectors {
		VMOVUPS(operand.Mem{Base: limits, Disp: v * s.bytes()}, panel(v))
	}
	XORL(any, any)
	for r := range rows {
		mask := GP32()
		if s.masks {
			var k [2]reg.OpmaskVirtual
			for v := range vectors {
				k[v] = K()
				VADDPS_BCST(operand.Mem{Base: offsets, Disp: 4 * r}, acc(r, v), acc(r, v))
				VCMPPS(operand.Imm(notLess), panel(v), acc(r, v), k[v])
			}
			KUNPCKWD(k[0], k[1], k[0])
			KMOVD(k[0], mask)
		} else {
			offset, compared := spare[0], spare[1]
			VBROADCASTSS(operand.Mem{Base: offsets, Disp: 4 * r}, offset)
			high := GP32()
			for v, into := range []reg.GPVirtual{mask, high} {
				VADDPS(offset, acc(r, v), acc(r, v))
				VCMPPS(operand.Imm(notLess), panel(v), acc(r, v), compared)
				VMOVMSKPS(compared, into)
			}
			SHLL(operand.Imm(uint64(s.lanes)), high)
			ORL(high, mask)
		}
		MOVL(mask, operand.Mem{Base: masks, Disp: 4 * r})
		ORL(mask, any)
	}
	TESTL(any, any)
	JE(operand.LabelRef("nothing"))
	for r := range rows {
		for v := range vectors {
			VMOVUPS(acc(r, v), operand.Mem{Base: scores, Disp: (r*vectors + v) * s.bytes()})
		}
	}
	ADDQ(operand.I32(rows*vectors*s.bytes()), scores)
	ADDQ(operand.Imm(uint64(4*rows)), masks)
	MOVL(group.As32(), operand.Mem{Base: hits})
	ADDQ(operand.Imm(4), hits)
	Label("nothing")
	ADDQ(operand.Imm(uint64(4*rows)), offsets)
	LEAQ(operand.Mem{Base: base, Index: stride, Scale: 4}, base)
	for left := rows - 4; left > 0; left -= 4 {
		if left >= 4 {
			LEAQ(operand.Mem{Base: base, Index: stride, Scale: 4}, base)
			continue
		}
		LEAQ(operand.Mem{Base: base, Index: stride, Scale: uint8(left)}, base)
	}
	INCQ(group)
	JMP(operand.LabelRef("group"))
	Label("done")
	start := GP64()
	Load(Param("hits"), start)
	SUBQ(start, hits)
	SHRQ(operand.Imm(2), hits)
	Store(hits, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// low is the first quarter or half of a register, clearing which clears the whole.
func (s isa) low(v reg.VecPhysical) reg.Register { return v.AsX() }
