#include "textflag.h"

// Instructions that the assembler does not have, on registers d, n and m of four float32 (Arm ARM, section C7.2).
#define FADD(d, n, m) WORD $(0x4E20D400 | (m)<<16 | (n)<<5 | (d))
#define FSUB(d, n, m) WORD $(0x4EA0D400 | (m)<<16 | (n)<<5 | (d))
#define FMUL(d, n, m) WORD $(0x6E20DC00 | (m)<<16 | (n)<<5 | (d))
#define FADDP(d, n, m) WORD $(0x6E20D400 | (m)<<16 | (n)<<5 | (d))
// n > m, lane by lane; false for what is not a number.
#define FCMGT(d, n, m) WORD $(0x6EA0E400 | (m)<<16 | (n)<<5 | (d))
// d += n * m[i]
#define FMLAI(d, n, m, i) WORD $(0x4F801000 | ((i)&1)<<21 | (m)<<16 | ((i)>>1)<<11 | (n)<<5 | (d))
// On bytes: the magnitude of differences; products of the lower and of the upper half as 16 bits.
#define UABD(d, n, m) WORD $(0x6E207400 | (m)<<16 | (n)<<5 | (d))
#define SABD(d, n, m) WORD $(0x4E207400 | (m)<<16 | (n)<<5 | (d))
#define UMULL(d, n, m) WORD $(0x2E20C000 | (m)<<16 | (n)<<5 | (d))
#define UMULL2(d, n, m) WORD $(0x6E20C000 | (m)<<16 | (n)<<5 | (d))
#define SMULL(d, n, m) WORD $(0x0E20C000 | (m)<<16 | (n)<<5 | (d))
#define SMULL2(d, n, m) WORD $(0x4E20C000 | (m)<<16 | (n)<<5 | (d))
// Pairs of 16 bits of n are added to the 32 bits of d.
#define UADALP(d, n) WORD $(0x6E606800 | (n)<<5 | (d))
#define SADALP(d, n) WORD $(0x4E606800 | (n)<<5 | (d))

// SUM4 adds up the lanes of V0 to V3 into the first of V0.
#define SUM4 \
	FADD(0, 0, 1)  \
	FADD(2, 2, 3)  \
	FADD(0, 0, 2)  \
	FADDP(0, 0, 0) \
	FADDP(0, 0, 0)

#define ZERO4 \
	VEOR V0.B16, V0.B16, V0.B16 \
	VEOR V1.B16, V1.B16, V1.B16 \
	VEOR V2.B16, V2.B16, V2.B16 \
	VEOR V3.B16, V3.B16, V3.B16

// The sums over bytes: 16 at a time, n is a multiple of 16.
#define BYTES_START \
	MOVD a+0(FP), R0            \
	MOVD b+8(FP), R1            \
	MOVD n+16(FP), R2           \
	VEOR V0.B16, V0.B16, V0.B16 \
	VEOR V1.B16, V1.B16, V1.B16

#define BYTES_END \
	VADD  V0.S4, V1.S4, V0.S4 \
	VADDV V0.S4, V0           \
	VMOV  V0.S[0], R0         \
	MOVW  R0, ret+24(FP)      \
	RET

// func dotNEON(a *float32, b *float32, n int) float32
TEXT ·dotNEON(SB), NOSPLIT, $0-28
	MOVD a+0(FP), R0
	MOVD b+8(FP), R1
	MOVD n+16(FP), R2
	ZERO4

many:
	SUBS  $16, R2, R2
	BLT   few
	VLD1.P 64(R0), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P 64(R1), [V16.S4, V17.S4, V18.S4, V19.S4]
	VFMLA V4.S4, V16.S4, V0.S4
	VFMLA V5.S4, V17.S4, V1.S4
	VFMLA V6.S4, V18.S4, V2.S4
	VFMLA V7.S4, V19.S4, V3.S4
	B     many

few:
	ADD $16, R2, R2

four:
	SUBS  $4, R2, R2
	BLT   rest
	VLD1.P 16(R0), [V4.S4]
	VLD1.P 16(R1), [V16.S4]
	VFMLA V4.S4, V16.S4, V0.S4
	B     four

rest:
	SUM4
	ADDS $4, R2, R2
	BEQ  end

one:
	FMOVS.P 4(R0), F4
	FMOVS.P 4(R1), F5
	FMADDS  F4, F0, F5, F0
	SUBS    $1, R2, R2
	BNE     one

end:
	FMOVS F0, ret+24(FP)
	RET

// func squaredL2NEON(a *float32, b *float32, n int) float32
TEXT ·squaredL2NEON(SB), NOSPLIT, $0-28
	MOVD a+0(FP), R0
	MOVD b+8(FP), R1
	MOVD n+16(FP), R2
	ZERO4

many:
	SUBS  $16, R2, R2
	BLT   few
	VLD1.P 64(R0), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P 64(R1), [V16.S4, V17.S4, V18.S4, V19.S4]
	FSUB(4, 4, 16)
	FSUB(5, 5, 17)
	FSUB(6, 6, 18)
	FSUB(7, 7, 19)
	VFMLA V4.S4, V4.S4, V0.S4
	VFMLA V5.S4, V5.S4, V1.S4
	VFMLA V6.S4, V6.S4, V2.S4
	VFMLA V7.S4, V7.S4, V3.S4
	B     many

few:
	ADD $16, R2, R2

four:
	SUBS  $4, R2, R2
	BLT   rest
	VLD1.P 16(R0), [V4.S4]
	VLD1.P 16(R1), [V16.S4]
	FSUB(4, 4, 16)
	VFMLA V4.S4, V4.S4, V0.S4
	B     four

rest:
	SUM4
	ADDS $4, R2, R2
	BEQ  end

one:
	FMOVS.P 4(R0), F4
	FMOVS.P 4(R1), F5
	FSUBS   F5, F4, F4
	FMADDS  F4, F0, F4, F0
	SUBS    $1, R2, R2
	BNE     one

end:
	FMOVS F0, ret+24(FP)
	RET

// func packNEON(dst *float32, row *float32, mean *float32, n int, scale float32) float32
TEXT ·packNEON(SB), NOSPLIT, $0-44
	MOVD  dst+0(FP), R0
	MOVD  row+8(FP), R1
	MOVD  mean+16(FP), R2
	MOVD  n+24(FP), R3
	FMOVS scale+32(FP), F20
	VDUP  V20.S[0], V20.S4
	ZERO4

many:
	SUBS  $16, R3, R3
	BLT   few
	VLD1.P 64(R1), [V4.S4, V5.S4, V6.S4, V7.S4]
	VLD1.P 64(R2), [V16.S4, V17.S4, V18.S4, V19.S4]
	FSUB(4, 4, 16)
	FSUB(5, 5, 17)
	FSUB(6, 6, 18)
	FSUB(7, 7, 19)
	FMUL(4, 4, 20)
	FMUL(5, 5, 20)
	FMUL(6, 6, 20)
	FMUL(7, 7, 20)
	VST1.P [V4.S4, V5.S4, V6.S4, V7.S4], 64(R0)
	VFMLA V4.S4, V4.S4, V0.S4
	VFMLA V5.S4, V5.S4, V1.S4
	VFMLA V6.S4, V6.S4, V2.S4
	VFMLA V7.S4, V7.S4, V3.S4
	B     many

few:
	ADD $16, R3, R3
	SUM4
	CBZ R3, end

one:
	FMOVS.P 4(R1), F4
	FMOVS.P 4(R2), F5
	FSUBS   F5, F4, F4
	FMULS   F20, F4, F4
	FMOVS.P F4, 4(R0)
	FMADDS  F4, F0, F4, F0
	SUBS    $1, R3, R3
	BNE     one

end:
	FMOVS F0, ret+40(FP)
	RET

DATA bits<>+0x00(SB)/4, $1
DATA bits<>+0x04(SB)/4, $2
DATA bits<>+0x08(SB)/4, $4
DATA bits<>+0x0c(SB)/4, $8
DATA bits<>+0x10(SB)/4, $16
DATA bits<>+0x14(SB)/4, $32
DATA bits<>+0x18(SB)/4, $64
DATA bits<>+0x1c(SB)/4, $128
GLOBL bits<>(SB), RODATA|NOPTR, $32

// The products of a row with the panel: row values in m, sums in d and d+1. The panel has the dimension in V(p) and
// V(p+1).
#define PRODUCT(d, p, m, i) \
	FMLAI(d, p, m, i)     \
	FMLAI(d+1, p+1, m, i)

#define DIMENSION(p, i) \
	PRODUCT(0, p, 16, i)  \
	PRODUCT(2, p, 17, i)  \
	PRODUCT(4, p, 18, i)  \
	PRODUCT(6, p, 19, i)  \
	PRODUCT(8, p, 20, i)  \
	PRODUCT(10, p, 21, i) \
	PRODUCT(12, p, 22, i) \
	PRODUCT(14, p, 23, i)

// The offset of a row is added to its scores in d and d+1, which are lower and upper. What is less than the limits in V24
// and V25 has its bit, which is in V26 and V27, cleared in the mask. The scores are written to R8, and the row, R10, and
// the mask to R9; these move on if the mask is not empty.
#define COMPARE(d, lower, upper) \
	VLD1R.P 4(R6), [V16.S4]           \
	FADD(d, d, 16)                    \
	FADD(d+1, d+1, 16)                \
	FCMGT(17, 24, d)                  \
	FCMGT(18, 25, d+1)                \
	VAND    V17.B16, V26.B16, V17.B16 \
	VAND    V18.B16, V27.B16, V18.B16 \
	VORR    V17.B16, V18.B16, V17.B16 \
	VADDV   V17.S4, V17               \
	VMOV    V17.S[0], R0              \
	EOR     $0xff, R0, R0             \
	VST1    [lower.S4, upper.S4], (R8) \
	MOVW    R10, (R9)                 \
	MOVW    R0, 4(R9)                 \
	CMP     $0, R0                    \
	CSET    NE, R0                    \
	ADD     R0<<5, R8, R8             \
	ADD     R0<<3, R9, R9             \
	ADD     $1, R10, R10

// func siftNEON(queries *float32, rows *float32, stride int, dim int, groups int, offsets *float32, limits *float32, scores *float32, hits *uint32) int
TEXT ·siftNEON(SB), NOSPLIT, $0-80
	MOVD queries+0(FP), R2
	MOVD rows+8(FP), R3
	MOVD stride+16(FP), R4
	MOVD groups+32(FP), R5
	MOVD offsets+40(FP), R6
	MOVD scores+56(FP), R8
	MOVD hits+64(FP), R9
	LSL  $3, R5, R5
	MOVD $0, R10
	MOVD $bits<>(SB), R23

group:
	CMP  R5, R10
	BGE  done
	ZERO4
	VEOR V4.B16, V4.B16, V4.B16
	VEOR V5.B16, V5.B16, V5.B16
	VEOR V6.B16, V6.B16, V6.B16
	VEOR V7.B16, V7.B16, V7.B16
	VEOR V8.B16, V8.B16, V8.B16
	VEOR V9.B16, V9.B16, V9.B16
	VEOR V10.B16, V10.B16, V10.B16
	VEOR V11.B16, V11.B16, V11.B16
	VEOR V12.B16, V12.B16, V12.B16
	VEOR V13.B16, V13.B16, V13.B16
	VEOR V14.B16, V14.B16, V14.B16
	VEOR V15.B16, V15.B16, V15.B16
	MOVD R3, R11
	ADD  R4, R11, R12
	ADD  R4, R12, R13
	ADD  R4, R13, R14
	ADD  R4, R14, R15
	ADD  R4, R15, R16
	ADD  R4, R16, R17
	ADD  R4, R17, R19
	ADD  R4, R19, R3
	MOVD R2, R20
	MOVD dim+24(FP), R21

many:
	SUBS $4, R21, R21
	BLT  few
	VLD1.P 16(R11), [V16.S4]
	VLD1.P 16(R12), [V17.S4]
	VLD1.P 16(R13), [V18.S4]
	VLD1.P 16(R14), [V19.S4]
	VLD1.P 16(R15), [V20.S4]
	VLD1.P 16(R16), [V21.S4]
	VLD1.P 16(R17), [V22.S4]
	VLD1.P 16(R19), [V23.S4]
	VLD1.P 64(R20), [V24.S4, V25.S4, V26.S4, V27.S4]
	VLD1.P 64(R20), [V28.S4, V29.S4, V30.S4, V31.S4]
	DIMENSION(24, 0)
	DIMENSION(26, 1)
	DIMENSION(28, 2)
	DIMENSION(30, 3)
	B    many

few:
	ADDS $4, R21, R21
	BEQ  compare

one:
	FMOVS.P 4(R11), F16
	FMOVS.P 4(R12), F17
	FMOVS.P 4(R13), F18
	FMOVS.P 4(R14), F19
	FMOVS.P 4(R15), F20
	FMOVS.P 4(R16), F21
	FMOVS.P 4(R17), F22
	FMOVS.P 4(R19), F23
	VLD1.P  32(R20), [V24.S4, V25.S4]
	DIMENSION(24, 0)
	SUBS    $1, R21, R21
	BNE     one

compare:
	MOVD limits+48(FP), R0
	VLD1 (R0), [V24.S4, V25.S4]
	VLD1 (R23), [V26.S4, V27.S4]
	COMPARE(0, V0, V1)
	COMPARE(2, V2, V3)
	COMPARE(4, V4, V5)
	COMPARE(6, V6, V7)
	COMPARE(8, V8, V9)
	COMPARE(10, V10, V11)
	COMPARE(12, V12, V13)
	COMPARE(14, V14, V15)
	B group

done:
	MOVD hits+64(FP), R0
	SUB  R0, R9, R9
	LSR  $3, R9, R9
	MOVD R9, ret+72(FP)
	RET

// func dotUint8NEON(a *byte, b *byte, n int) int32
TEXT ·dotUint8NEON(SB), NOSPLIT, $0-28
	BYTES_START
	CBZ R2, end

loop:
	VLD1.P 16(R0), [V2.B16]
	VLD1.P 16(R1), [V3.B16]
	UMULL(4, 2, 3)
	UMULL2(5, 2, 3)
	UADALP(0, 4)
	UADALP(1, 5)
	SUBS $16, R2, R2
	BNE  loop

end:
	BYTES_END

// func dotInt8NEON(a *byte, b *byte, n int) int32
TEXT ·dotInt8NEON(SB), NOSPLIT, $0-28
	BYTES_START
	CBZ R2, end

loop:
	VLD1.P 16(R0), [V2.B16]
	VLD1.P 16(R1), [V3.B16]
	SMULL(4, 2, 3)
	SMULL2(5, 2, 3)
	SADALP(0, 4)
	SADALP(1, 5)
	SUBS $16, R2, R2
	BNE  loop

end:
	BYTES_END

// func squaredL2Uint8NEON(a *byte, b *byte, n int) int32
TEXT ·squaredL2Uint8NEON(SB), NOSPLIT, $0-28
	BYTES_START
	CBZ R2, end

loop:
	VLD1.P 16(R0), [V2.B16]
	VLD1.P 16(R1), [V3.B16]
	UABD(2, 2, 3)
	UMULL(4, 2, 2)
	UMULL2(5, 2, 2)
	UADALP(0, 4)
	UADALP(1, 5)
	SUBS $16, R2, R2
	BNE  loop

end:
	BYTES_END

// func squaredL2Int8NEON(a *byte, b *byte, n int) int32
TEXT ·squaredL2Int8NEON(SB), NOSPLIT, $0-28
	BYTES_START
	CBZ R2, end

loop:
	VLD1.P 16(R0), [V2.B16]
	VLD1.P 16(R1), [V3.B16]
	SABD(2, 2, 3)
	UMULL(4, 2, 2)
	UMULL2(5, 2, 2)
	UADALP(0, 4)
	UADALP(1, 5)
	SUBS $16, R2, R2
	BNE  loop

end:
	BYTES_END
