//go:build !noasm

#include "textflag.h"

// func scalePassAVX2(sum, u, k, p, v *float64, stride, cols int)
//
// Eight rows a turn: Y0, Y1 hold their row sums, then their scalings.
TEXT ·scalePassAVX2(SB), NOSPLIT, $0-56
	MOVQ sum+0(FP), DI
	MOVQ u+8(FP), R10
	MOVQ k+16(FP), R8
	MOVQ p+24(FP), R9
	MOVQ v+32(FP), SI
	MOVQ stride+40(FP), DX
	MOVQ cols+48(FP), CX
	MOVQ DX, R11
	SHLQ $3, R11
	SHRQ $3, DX

rows:
	VXORPD Y0, Y0, Y0
	VXORPD Y1, Y1, Y1
	MOVQ   R8, AX
	MOVQ   SI, BX
	MOVQ   CX, R12

rowSum:
	VBROADCASTSD (BX), Y2
	VMULPD       (AX), Y2, Y3
	VMULPD       32(AX), Y2, Y4
	VADDPD       Y3, Y0, Y0
	VADDPD       Y4, Y1, Y1
	ADDQ         $8, BX
	ADDQ         R11, AX
	DECQ         R12
	JNZ          rowSum

	VMOVUPD (R9), Y2
	VMOVUPD 32(R9), Y3
	VDIVPD  Y0, Y2, Y0
	VDIVPD  Y1, Y3, Y1
	VMOVUPD Y0, (R10)
	VMOVUPD Y1, 32(R10)
	MOVQ    R8, AX
	MOVQ    DI, BX
	MOVQ    CX, R12

columnSum:
	VMULPD  (AX), Y0, Y3
	VMULPD  32(AX), Y1, Y4
	VADDPD  (BX), Y3, Y3
	VADDPD  Y4, Y3, Y3
	VMOVUPD Y3, (BX)
	ADDQ    $32, BX
	ADDQ    R11, AX
	DECQ    R12
	JNZ     columnSum

	ADDQ $64, R8
	ADDQ $64, R9
	ADDQ $64, R10
	DECQ DX
	JNZ  rows
	VZEROUPPER
	RET

DATA one<>+0(SB)/8, $1.0
GLOBL one<>(SB), RODATA|NOPTR, $8

// func momentPassAVX2(sum, q, k, p, v *float64, stride, cols int)
//
// Four rows a turn: Y0 holds their row sums, then the reciprocals; Y1 their masses.
TEXT ·momentPassAVX2(SB), NOSPLIT, $0-56
	MOVQ         sum+0(FP), DI
	MOVQ         q+8(FP), R10
	MOVQ         k+16(FP), R8
	MOVQ         p+24(FP), R9
	MOVQ         v+32(FP), SI
	MOVQ         stride+40(FP), DX
	MOVQ         cols+48(FP), CX
	MOVQ         DX, R11
	SHLQ         $3, R11
	SHRQ         $2, DX
	VBROADCASTSD one<>(SB), Y5

rows:
	VXORPD Y0, Y0, Y0
	MOVQ   R8, AX
	MOVQ   SI, BX
	MOVQ   R10, R13
	MOVQ   CX, R12

rowSum:
	VBROADCASTSD (BX), Y2
	VMULPD       (AX), Y2, Y2
	VMOVUPD      Y2, (R13)
	VADDPD       Y2, Y0, Y0
	ADDQ         $8, BX
	ADDQ         $32, R13
	ADDQ         R11, AX
	DECQ         R12
	JNZ          rowSum

	VDIVPD Y0, Y5, Y0
	MOVQ   R10, R13
	MOVQ   CX, R12

softmin:
	VMULPD  (R13), Y0, Y2
	VMOVUPD Y2, (R13)
	ADDQ    $32, R13
	DECQ    R12
	JNZ     softmin

	VMOVUPD (R9), Y1
	MOVQ    R10, R13
	MOVQ    DI, BX
	MOVQ    CX, AX
	SHLQ    $5, AX
	ADDQ    DI, AX
	MOVQ    CX, R12

masses:
	VMULPD  (R13), Y1, Y2
	VADDPD  (BX), Y2, Y3
	VMOVUPD Y3, (BX)
	ADDQ    $32, R13
	ADDQ    $32, BX
	DECQ    R12
	JZ      next
	MOVQ    R13, R14
	MOVQ    R12, R15

pairs:
	VMULPD  (R14), Y2, Y3
	VADDPD  (AX), Y3, Y3
	VMOVUPD Y3, (AX)
	ADDQ    $32, R14
	ADDQ    $32, AX
	DECQ    R15
	JNZ     pairs
	JMP     masses

next:
	ADDQ $32, R8
	ADDQ $32, R9
	DECQ DX
	JNZ  rows
	VZEROUPPER
	RET

// func exponentialAVX2(dst, src *float64, n int, scale float64, constants *float64)
//
// constants holds, in this order: the lower bound of the argument, log2(e), 1.5·2^52, the high and low parts of
// ln 2, and the coefficients of the polynomial from the highest degree down to 1.
TEXT ·exponentialAVX2(SB), NOSPLIT, $0-40
	MOVQ         dst+0(FP), DI
	MOVQ         src+8(FP), SI
	MOVQ         n+16(FP), DX
	VBROADCASTSD scale+24(FP), Y8
	MOVQ         constants+32(FP), R8
	SHRQ         $3, DX
	VBROADCASTSD (R8), Y9
	VBROADCASTSD 8(R8), Y10
	VBROADCASTSD 16(R8), Y11
	VBROADCASTSD 24(R8), Y12
	VBROADCASTSD 32(R8), Y13

turn:
	VMULPD (SI), Y8, Y0
	VMULPD 32(SI), Y8, Y1
	VMAXPD Y9, Y0, Y0
	VMAXPD Y9, Y1, Y1

	// Y2, Y3: the power of two, in the low bits of x·log2(e) + 1.5·2^52.
	VMULPD Y10, Y0, Y2
	VMULPD Y10, Y1, Y3
	VADDPD Y11, Y2, Y2
	VADDPD Y11, Y3, Y3
	VSUBPD Y11, Y2, Y4
	VSUBPD Y11, Y3, Y5

	// Y0, Y1: what is left, at most ln(2)/2 in size.
	VMULPD Y12, Y4, Y6
	VMULPD Y12, Y5, Y7
	VSUBPD Y6, Y0, Y0
	VSUBPD Y7, Y1, Y1
	VMULPD Y13, Y4, Y6
	VMULPD Y13, Y5, Y7
	VSUBPD Y6, Y0, Y0
	VSUBPD Y7, Y1, Y1

	LEAQ         40(R8), BX
	MOVQ         $12, CX
	VBROADCASTSD (BX), Y4
	VMOVAPD      Y4, Y5

horner:
	ADDQ         $8, BX
	VBROADCASTSD (BX), Y6
	VMULPD       Y0, Y4, Y4
	VMULPD       Y1, Y5, Y5
	VADDPD       Y6, Y4, Y4
	VADDPD       Y6, Y5, Y5
	DECQ         CX
	JNZ          horner

	VBROADCASTSD one<>(SB), Y6
	VMULPD       Y0, Y4, Y4
	VMULPD       Y1, Y5, Y5
	VADDPD       Y6, Y4, Y4
	VADDPD       Y6, Y5, Y5
	VPSLLQ       $52, Y2, Y2
	VPSLLQ       $52, Y3, Y3
	VPADDQ       Y2, Y4, Y4
	VPADDQ       Y3, Y5, Y5
	VMOVUPD      Y4, (DI)
	VMOVUPD      Y5, 32(DI)
	ADDQ         $64, SI
	ADDQ         $64, DI
	DECQ         DX
	JNZ          turn
	VZEROUPPER
	RET
