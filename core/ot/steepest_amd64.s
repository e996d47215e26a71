//go:build !noasm

#include "textflag.h"

// func steepestRowAVX2(potential, length *float64, nodes, stride int, tolerance float64) int
//
// Y7 holds the best gain so far in every lane, Y1 the best of the row and Y7. Rows start at the vector that holds
// their diagonal: what lies left of it is seen in the mirrored place of an earlier row.
TEXT ·steepestRowAVX2(SB), NOSPLIT, $0-48
	MOVQ         potential+0(FP), SI
	MOVQ         length+8(FP), DI
	MOVQ         nodes+16(FP), R8
	MOVQ         stride+24(FP), R9
	VBROADCASTSD tolerance+32(FP), Y7
	VPCMPEQD     Y6, Y6, Y6
	VPSRLQ       $1, Y6, Y6           // all bits but the sign
	XORQ         R10, R10             // row
	MOVQ         $-1, R11             // best row

row:
	VBROADCASTSD (SI)(R10*8), Y0
	VMOVAPD      Y7, Y1
	MOVQ         R10, AX
	ANDQ         $-4, AX

column:
	VSUBPD (SI)(AX*8), Y0, Y2
	VANDPD Y6, Y2, Y2
	VSUBPD (DI)(AX*8), Y2, Y2
	VMAXPD Y2, Y1, Y1
	ADDQ   $4, AX
	CMPQ   AX, R9
	JLT    column

	VCMPPD    $0x1e, Y7, Y1, Y2       // greater than, lane by lane
	VMOVMSKPD Y2, AX
	TESTL     AX, AX
	JZ        next
	MOVQ      R10, R11
	VEXTRACTF128 $1, Y1, X2
	VMAXPD       X2, X1, X1
	VPERMILPD    $1, X1, X2
	VMAXPD       X2, X1, X1
	VBROADCASTSD X1, Y7

next:
	LEAQ (DI)(R9*8), DI
	INCQ R10
	CMPQ R10, R8
	JLT  row

	VZEROUPPER
	MOVQ R11, ret+40(FP)
	RET
