package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tile is the registers of a kernel that compares a group of rows with a panel of queries: a sum for each row and each
// vector of queries, the vectors of the panel, and what is left.
type tile struct {
	isa
	rows, vectors int
	spare         []reg.VecPhysical
}

func (s isa) tile() tile {
	return tile{s, s.tileRows, s.tileVectors, s.regs[(s.tileRows+1)*s.tileVectors:]}
}

func (t tile) acc(r, v int) reg.VecPhysical { return t.regs[r*t.vectors+v] }
func (t tile) panel(v int) reg.VecPhysical  { return t.regs[t.rows*t.vectors+v] }

// unroll is how many steps the inner loop of multiply takes at once.
const unroll = 4

// multiply adds the products of a group of rows and the panel to the sums. A step takes four bytes of each query and
// of each row: those of a row are broadcast, and add multiplies them with those of all queries. The parameter steps says
// how many there are.
func (t tile) multiply(queries, rows, stride reg.Register, steps string, add func(row, queries, sum reg.VecPhysical)) {
	// One pointer for every three rows; the others are reached through the stride.
	pointers := []reg.GPVirtual{GP64()}
	MOVQ(rows, pointers[0])
	for len(pointers)*3 < t.rows {
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
	q, left := GP64(), GP64()
	MOVQ(queries, q)
	Load(Param(steps), left)
	next := 0
	step := func(k int) {
		for v := range t.vectors {
			VMOVUPS(operand.Mem{Base: q, Disp: (k*t.vectors + v) * t.bytes()}, t.panel(v))
		}
		for r := range t.rows {
			b := t.spare[next%len(t.spare)]
			next++
			VBROADCASTSS(value(r, k), b)
			for v := range t.vectors {
				add(b, t.panel(v), t.acc(r, v))
			}
		}
	}
	advance := func(k int) {
		for _, p := range pointers {
			ADDQ(operand.Imm(uint64(4*k)), p)
		}
		ADDQ(operand.I32(k*t.vectors*t.bytes()), q)
	}
	SUBQ(operand.Imm(unroll), left)
	JL(operand.LabelRef("rest"))
	Label("many")
	for k := range unroll {
		step(k)
	}
	advance(unroll)
	SUBQ(operand.Imm(unroll), left)
	JGE(operand.LabelRef("many"))
	Label("rest")
	ADDQ(operand.Imm(unroll), left)
	JE(operand.LabelRef("compare"))
	Label("one")
	step(0)
	advance(1)
	DECQ(left)
	JNE(operand.LabelRef("one"))
	Label("compare")
}

// nextGroup moves rows on by as many as a group has.
func (t tile) nextGroup(rows, stride reg.Register) {
	for left := t.rows; left > 0; left -= 4 {
		LEAQ(operand.Mem{Base: rows, Index: stride, Scale: uint8(min(left, 4))}, rows)
	}
}

// notLess is the comparison that holds where a score is not less than a limit, or not a number.
const notLess = 0x15

// compare leaves in mask a bit for each query: whether the sum of row r is not less than what is in the place of the panel.
func (t tile) compare(r int, mask reg.GPVirtual) {
	if t.masks {
		k := [2]reg.OpmaskVirtual{K(), K()}
		for v := range t.vectors {
			VCMPPS(operand.Imm(notLess), t.panel(v), t.acc(r, v), k[v])
		}
		KUNPCKWD(k[0], k[1], k[0])
		KMOVD(k[0], mask)
		return
	}
	compared, high := t.spare[1], GP32()
	for v, into := range []reg.GPVirtual{mask, high} {
		VCMPPS(operand.Imm(notLess), t.panel(v), t.acc(r, v), compared)
		VMOVMSKPS(compared, into)
	}
	SHLL(operand.Imm(uint64(t.lanes)), high)
	ORL(high, mask)
}

// hit writes the number of row r of the group that starts at first, and its mask, to hits, and moves on if the mask is
// not empty; kept is 1 then, otherwise 0. A branch would be mispredicted often.
func hit(first reg.GPVirtual, r int, mask reg.GPVirtual, hits reg.Register) (kept reg.GPVirtual) {
	row := GP32()
	LEAL(operand.Mem{Base: first, Disp: r}, row)
	MOVL(row, operand.Mem{Base: hits})
	MOVL(mask, operand.Mem{Base: hits, Disp: 4})
	kept = GP64()
	XORL(kept.As32(), kept.As32())
	TESTL(mask, mask)
	SETNE(kept.As8())
	LEAQ(operand.Mem{Base: hits, Index: kept, Scale: 8}, hits)
	return kept
}

// returnHits ends the function with the number of hits that were kept.
func returnHits(hits reg.Register) {
	start := GP64()
	Load(Param("hits"), start)
	SUBQ(start, hits)
	SHRQ(operand.Imm(3), hits)
	Store(hits, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
