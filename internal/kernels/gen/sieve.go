package main

import (
	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sieve writes the function that compares a panel of rounded queries with groups of rounded rows, four dimensions in one
// instruction of VNNI, and marks the pairs that the bound does not exclude. What it reads of rows and queries beside the
// bytes is laid out as ByteTile and BytePanel say.
func (s isa) sieve() {
	name := "sieve" + s.name
	t := s.tile()
	TEXT(name, NOSPLIT, "func(queries *uint8, rows *int8, stride, quads, groups int, rowTerms *uint32, queryTerms, limits *float32, hits *uint32) int")
	Doc(name + " is sieve of the variant; see variant.")
	Pragma("noescape")
	queries, base := Load(Param("queries"), GP64()), Load(Param("rows"), GP64())
	stride := Load(Param("stride"), GP64())
	terms := Load(Param("rowTerms"), GP64()).(reg.GPVirtual)
	hits := Load(Param("hits"), GP64())
	first := GP64()
	XORQ(first, first)
	// Of each group: what sums start at, offsets, errors and norms of the rows, and the largest error and norm.
	rowTerm := func(term, r int) operand.Mem {
		return operand.Mem{Base: terms, Disp: 4 * (term*t.rows + r)}
	}

	Label("group")
	rows := GP64()
	Load(Param("groups"), rows)
	IMUL3Q(operand.Imm(uint64(t.rows)), rows, rows)
	CMPQ(first, rows)
	JGE(operand.LabelRef("done"))
	for r := range t.rows {
		for v := range t.vectors {
			VBROADCASTSS(rowTerm(0, r), t.acc(r, v))
		}
	}
	t.multiply(queries, base, stride, "quads", vpdpbusd)

	queryTerms, limits := GP64(), GP64()
	Load(Param("queryTerms"), queryTerms)
	Load(Param("limits"), limits)
	queryTerm := func(term, v int) operand.Mem {
		return operand.Mem{Base: queryTerms, Disp: (term*t.vectors + v) * s.bytes()}
	}
	// lower leaves, in place of the panel, the limits less what the errors of a row can make good.
	lower := func(err, norm operand.Mem) {
		VBROADCASTSS(err, t.spare[0])
		VBROADCASTSS(norm, t.spare[1])
		for v := range t.vectors {
			VMOVUPS(operand.Mem{Base: limits, Disp: v * s.bytes()}, t.panel(v))
			VFNMADD231PS(queryTerm(1, v), t.spare[0], t.panel(v))
			VFNMADD231PS(queryTerm(2, v), t.spare[1], t.panel(v))
		}
	}
	// The largest score of each query is compared with a bound for all rows of the group.
	scale := func(v int) reg.VecPhysical { return t.spare[2+v] }
	most := func(v int) reg.VecPhysical { return t.spare[4+v] }
	for v := range t.vectors {
		VMOVUPS(queryTerm(0, v), scale(v))
	}
	for r := range t.rows {
		for v := range t.vectors {
			VCVTDQ2PS(t.acc(r, v), t.acc(r, v))
			VFMADD213PS_BCST(rowTerm(1, r), scale(v), t.acc(r, v))
			if r == 1 {
				VMAXPS(t.acc(0, v), t.acc(1, v), most(v))
			} else if r > 1 {
				VMAXPS(t.acc(r, v), most(v), most(v))
			}
		}
	}
	lower(rowTerm(4, 0), rowTerm(4, 1))
	k := [2]reg.OpmaskVirtual{K(), K()}
	for v := range t.vectors {
		VCMPPS(operand.Imm(notLess), t.panel(v), most(v), k[v])
	}
	KORTESTW(k[0], k[1])
	JE(operand.LabelRef("nothing"))
	for r := range t.rows {
		lower(rowTerm(2, r), rowTerm(3, r))
		mask := GP32()
		t.compare(r, mask)
		hit(first, r, mask, hits)
	}
	Label("nothing")
	ADDQ(operand.I32(4*(4*t.rows+2)), terms)
	ADDQ(operand.Imm(uint64(t.rows)), first)
	t.nextGroup(base, stride)
	JMP(operand.LabelRef("group"))
	Label("done")
	returnHits(hits)
}

// rescore writes the function that computes the scores of the pairs that are marked, in float32, and takes the marks off
// those that are less than the limit.
func (s isa) rescore() {
	name := "rescore" + s.name
	TEXT(name, NOSPLIT, "func(queries, rows *float32, stride, dim int, offsets, limits, scores *float32, hits *uint32, n int) int")
	Doc(name + " is rescore of the variant; see variant.")
	Pragma("noescape")
	queries := Load(Param("queries"), GP64())
	scores, hits := Load(Param("scores"), GP64()), Load(Param("hits"), GP64())
	n, out := Load(Param("n"), GP64()).(reg.GPVirtual), GP64()
	MOVQ(hits, out)
	tail := s.tailMask(Load(Param("dim"), GP64()))

	Label("hit")
	DECQ(n)
	JL(operand.LabelRef("done"))
	mask, kept, start, index, stride := GP32(), GP32(), GP64(), GP64(), GP64()
	MOVL(operand.Mem{Base: hits}, index.As32())
	MOVL(operand.Mem{Base: hits, Disp: 4}, mask)
	MOVL(mask, kept)
	offset, offsets := XMM(), GP64()
	Load(Param("offsets"), offsets)
	VMOVSS(operand.Mem{Base: offsets, Index: index, Scale: 4}, offset)
	Load(Param("rows"), start)
	Load(Param("stride"), stride)
	IMULQ(stride, index)
	ADDQ(index, start)

	Label("pair")
	j, query, row, left := GP64(), GP64(), GP64(), GP64()
	TZCNTL(mask, j.As32())
	Load(Param("dim"), left)
	MOVQ(left, query)
	IMULQ(j, query)
	LEAQ(operand.Mem{Base: queries, Index: query, Scale: 4}, query)
	MOVQ(start, row)
	var acc [4]reg.VecVirtual
	for i := range acc {
		acc[i] = s.vec()
		zero(acc[i])
	}
	multiply := func(i int) {
		v := s.vec()
		VMOVUPS(operand.Mem{Base: row, Disp: i * s.bytes()}, v)
		VFMADD231PS(operand.Mem{Base: query, Disp: i * s.bytes()}, v, acc[i])
	}
	for _, many := range []int{len(acc), 1} {
		loop, end := label("pair", many, "loop"), label("pair", many, "end")
		Label(loop)
		SUBQ(operand.Imm(uint64(many*s.lanes)), left)
		JL(operand.LabelRef(end))
		for i := range many {
			multiply(i)
		}
		ADDQ(operand.I32(many*s.bytes()), row)
		ADDQ(operand.I32(many*s.bytes()), query)
		JMP(operand.LabelRef(loop))
		Label(end)
		ADDQ(operand.I32(many*s.lanes), left)
	}
	JE(operand.LabelRef("sum"))
	a, b := s.vec(), s.vec()
	VMOVUPS_Z(operand.Mem{Base: row}, tail, a)
	VMOVUPS_Z(operand.Mem{Base: query}, tail, b)
	VFMADD231PS(a, b, acc[1])
	Label("sum")
	VADDPS(acc[1], acc[0], acc[0])
	VADDPS(acc[3], acc[2], acc[2])
	VADDPS(acc[2], acc[0], acc[0])
	s.reduce(acc[0])
	score := acc[0].AsX()
	VADDSS(offset, score, score)
	VMOVSS(score, operand.Mem{Base: scores, Index: j, Scale: 4})
	limit, limits, less := XMM(), GP64(), GP32()
	Load(Param("limits"), limits)
	VMOVSS(operand.Mem{Base: limits, Index: j, Scale: 4}, limit)
	XORL(less, less)
	VUCOMISS(score, limit)
	SETHI(less.As8())
	SHLXL(j.As32(), less, less)
	XORL(less, kept)
	BLSRL(mask, mask)
	JNE(operand.LabelRef("pair"))
	same := GP64()
	MOVL(operand.Mem{Base: hits}, same.As32())
	ADDQ(operand.Imm(8), hits)
	moved := hit(same, 0, kept, out)
	IMUL3Q(operand.I32(s.tileVectors*s.bytes()), moved, moved)
	ADDQ(moved, scores)
	JMP(operand.LabelRef("hit"))
	Label("done")
	returnHits(out)
}

// round writes the function that rounds a row to bytes.
func (s isa) round() {
	name := "round" + s.name
	TEXT(name, NOSPLIT, "func(dst *int8, row *float32, n int, inverse, step float32) (square float32, sum int32)")
	Doc(name + " is round of the variant; see variant.")
	Pragma("noescape")
	dst, row := Load(Param("dst"), GP64()), Load(Param("row"), GP64())
	left := Load(Param("n"), GP64()).(reg.GPVirtual)
	broadcast := func(param string) reg.VecVirtual {
		address, err := Param(param).Resolve()
		if err != nil {
			panic(err)
		}
		v := s.vec()
		VBROADCASTSS(address.Addr, v)
		return v
	}
	inverse, step := broadcast("inverse"), broadcast("step")
	constant := func(bits uint64) reg.VecVirtual {
		value, v := GP32(), s.vec()
		MOVL(operand.U32(bits), value)
		VPBROADCASTD(value, v)
		return v
	}
	low, high := constant(0xc2fe0000), constant(0x42fe0000) // -127 and 127
	mask := s.tailMask(left)
	square, sum := s.vec(), s.vec()
	zero(square)
	zero(sum)
	one := func(v reg.VecVirtual) (rounded reg.VecVirtual) {
		rounded, value := s.vec(), s.vec()
		VMULPS(inverse, v, value)
		VMINPS(high, value, value)
		VMAXPS(low, value, value)
		VCVTPS2DQ(value, rounded)
		VCVTDQ2PS(rounded, value)
		VFNMADD231PS(value, step, v)
		VFMADD231PS(v, v, square)
		VPADDD(rounded, sum, sum)
		return rounded
	}
	Label("many")
	CMPQ(left, operand.Imm(uint64(s.lanes)))
	JL(operand.LabelRef("tail"))
	v := s.vec()
	VMOVUPS(operand.Mem{Base: row}, v)
	VPMOVSDB(one(v), operand.Mem{Base: dst})
	ADDQ(operand.Imm(uint64(s.bytes())), row)
	ADDQ(operand.Imm(uint64(s.lanes)), dst)
	SUBQ(operand.Imm(uint64(s.lanes)), left)
	JMP(operand.LabelRef("many"))
	Label("tail")
	TESTQ(left, left)
	JE(operand.LabelRef("end"))
	last := s.vec()
	VMOVUPS_Z(operand.Mem{Base: row}, mask, last)
	VPMOVSDB(one(last), mask, operand.Mem{Base: dst})
	Label("end")
	s.reduce(square)
	Store(square.AsX(), Return("square"))
	Store(s.sumInt32(sum), Return("sum"))
	VZEROUPPER()
	RET()
}

// vpdpbusd adds the products of four signed bytes of x and four unsigned ones of y to each 32-bit value of sum. avo does
// not know it.
func vpdpbusd(x, y, sum reg.VecPhysical) {
	Instruction(&ir.Instruction{
		Opcode:   "VPDPBUSD",
		Operands: []operand.Op{x, y, sum},
		Inputs:   []operand.Op{x, y, sum},
		Outputs:  []operand.Op{sum},
		ISA:      []string{"AVX512VNNI"},
	})
}
