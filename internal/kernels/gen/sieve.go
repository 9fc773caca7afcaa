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
