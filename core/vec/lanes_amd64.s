//go:build !noasm

#include "textflag.h"

// func groupLanesAVX2(sums *float64, row *float32, group *float64, width int)
//
// Eight components a turn, converted to float64 once in Y8 and Y9, for the four queries at R8 to R11, whose sums
// are in Y0 to Y7. A fused multiply-add rounds as a multiplication and an addition would, the products being exact.
TEXT ·groupLanesAVX2(SB), NOSPLIT, $0-32
	MOVQ   sums+0(FP), DI
	MOVQ   row+8(FP), SI
	MOVQ   group+16(FP), R8
	MOVQ   width+24(FP), CX
	LEAQ   (R8)(CX*8), R9
	LEAQ   (R9)(CX*8), R10
	LEAQ   (R10)(CX*8), R11
	SHRQ   $3, CX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	VXORPD Y2, Y2, Y2
	VXORPD Y3, Y3, Y3
	VXORPD Y4, Y4, Y4
	VXORPD Y5, Y5, Y5
	VXORPD Y6, Y6, Y6
	VXORPD Y7, Y7, Y7

eight:
	VCVTPS2PD   (SI), Y8
	VCVTPS2PD   16(SI), Y9
	VFMADD231PD (R8), Y8, Y0
	VFMADD231PD 32(R8), Y9, Y1
	VFMADD231PD (R9), Y8, Y2
	VFMADD231PD 32(R9), Y9, Y3
	VFMADD231PD (R10), Y8, Y4
	VFMADD231PD 32(R10), Y9, Y5
	VFMADD231PD (R11), Y8, Y6
	VFMADD231PD 32(R11), Y9, Y7
	ADDQ        $32, SI
	ADDQ        $64, R8
	ADDQ        $64, R9
	ADDQ        $64, R10
	ADDQ        $64, R11
	DECQ        CX
	JNZ         eight

	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	VMOVUPD Y2, 64(DI)
	VMOVUPD Y3, 96(DI)
	VMOVUPD Y4, 128(DI)
	VMOVUPD Y5, 160(DI)
	VMOVUPD Y6, 192(DI)
	VMOVUPD Y7, 224(DI)
	VZEROUPPER
	RET

// func dotLanesAVX2(sums *float64, a, b *float32, width int)
//
// Eight components a turn, the lanes in Y0 and Y1.
TEXT ·dotLanesAVX2(SB), NOSPLIT, $0-32
	MOVQ   sums+0(FP), DI
	MOVQ   a+8(FP), SI
	MOVQ   b+16(FP), R8
	MOVQ   width+24(FP), CX
	SHRQ   $3, CX
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1

pair:
	VCVTPS2PD   (SI), Y2
	VCVTPS2PD   16(SI), Y3
	VCVTPS2PD   (R8), Y4
	VCVTPS2PD   16(R8), Y5
	VFMADD231PD Y4, Y2, Y0
	VFMADD231PD Y5, Y3, Y1
	ADDQ        $32, SI
	ADDQ        $32, R8
	DECQ        CX
	JNZ         pair

	VMOVUPD Y0, (DI)
	VMOVUPD Y1, 32(DI)
	VZEROUPPER
	RET

// func AVX2() bool
//
// The processor must have AVX and AVX2, and the operating system must save the YMM registers.
TEXT ·AVX2(SB), NOSPLIT, $0-1
	MOVB  $0, ret+0(FP)
	XORL  AX, AX
	CPUID
	CMPL  AX, $7
	JLT   no
	MOVL  $1, AX
	XORL  CX, CX
	CPUID
	ANDL  $0x18000000, CX
	CMPL  CX, $0x18000000
	JNE   no
	XORL  CX, CX
	XGETBV
	ANDL  $6, AX
	CMPL  AX, $6
	JNE   no
	MOVL  $7, AX
	XORL  CX, CX
	CPUID
	SHRL  $5, BX
	ANDL  $1, BX
	MOVB  BX, ret+0(FP)

no:
	RET

// func fma() bool
TEXT ·fma(SB), NOSPLIT, $0-1
	MOVL $1, AX
	XORL CX, CX
	CPUID
	SHRL $12, CX
	ANDL $1, CX
	MOVB CX, ret+0(FP)
	RET

// func pairLanesAVX512(sums *float64, row0, row1 *float32, group *float64, width int)
//
// Eight components a turn, one register a product: those of row0 with the four queries at R8 to R11 in Z0 to Z3, those
// of row1 in Z4 to Z7. Eight chains of additions hide the latency that four would show.
TEXT ·pairLanesAVX512(SB), NOSPLIT, $0-40
	MOVQ   sums+0(FP), DI
	MOVQ   row0+8(FP), SI
	MOVQ   row1+16(FP), DX
	MOVQ   group+24(FP), R8
	MOVQ   width+32(FP), CX
	LEAQ   (R8)(CX*8), R9
	LEAQ   (R9)(CX*8), R10
	LEAQ   (R10)(CX*8), R11
	SHRQ   $3, CX
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	VPXORQ Z4, Z4, Z4
	VPXORQ Z5, Z5, Z5
	VPXORQ Z6, Z6, Z6
	VPXORQ Z7, Z7, Z7

wide:
	VCVTPS2PD   (SI), Z8
	VCVTPS2PD   (DX), Z9
	VMOVUPD     (R8), Z10
	VMOVUPD     (R9), Z11
	VMOVUPD     (R10), Z12
	VMOVUPD     (R11), Z13
	VFMADD231PD Z10, Z8, Z0
	VFMADD231PD Z11, Z8, Z1
	VFMADD231PD Z12, Z8, Z2
	VFMADD231PD Z13, Z8, Z3
	VFMADD231PD Z10, Z9, Z4
	VFMADD231PD Z11, Z9, Z5
	VFMADD231PD Z12, Z9, Z6
	VFMADD231PD Z13, Z9, Z7
	ADDQ        $32, SI
	ADDQ        $32, DX
	ADDQ        $64, R8
	ADDQ        $64, R9
	ADDQ        $64, R10
	ADDQ        $64, R11
	DECQ        CX
	JNZ         wide

	VMOVUPD Z0, (DI)
	VMOVUPD Z1, 64(DI)
	VMOVUPD Z2, 128(DI)
	VMOVUPD Z3, 192(DI)
	VMOVUPD Z4, 256(DI)
	VMOVUPD Z5, 320(DI)
	VMOVUPD Z6, 384(DI)
	VMOVUPD Z7, 448(DI)
	VZEROUPPER
	RET

// func avx512() bool
//
// The processor must have the foundation of AVX-512, and the operating system must save the ZMM and mask registers.
// To be asked only where AVX2 is there.
TEXT ·avx512(SB), NOSPLIT, $0-1
	MOVB  $0, ret+0(FP)
	XORL  CX, CX
	XGETBV
	ANDL  $0xE6, AX
	CMPL  AX, $0xE6
	JNE   narrow
	MOVL  $7, AX
	XORL  CX, CX
	CPUID
	SHRL  $16, BX
	ANDL  $1, BX
	MOVB  BX, ret+0(FP)

narrow:
	RET
