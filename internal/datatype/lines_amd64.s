//go:build !race

#include "textflag.h"

// func copyLines(dst, src unsafe.Pointer, n, dstStep, srcStep, size, dstAhead, srcAhead int)
TEXT ·copyLines(SB), NOSPLIT, $0-64
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ dstStep+24(FP), R8
	MOVQ srcStep+32(FP), R9
	MOVQ size+40(FP), DX
	MOVQ dstAhead+48(FP), R10
	MOVQ srcAhead+56(FP), R11
	ADDQ DI, R10
	ADDQ SI, R11
	SUBQ $64, DX // where the last line of a block begins

block:
	XORL AX, AX
	CMPQ AX, DX
	JGE  last

line:
	PREFETCHT0 (R11)(AX*1)
	BYTE       $0x41; BYTE $0x0F; BYTE $0x0D; BYTE $0x0C; BYTE $0x02 // PREFETCHW (R10)(AX*1)
	MOVOU      (SI)(AX*1), X0
	MOVOU      16(SI)(AX*1), X1
	MOVOU      32(SI)(AX*1), X2
	MOVOU      48(SI)(AX*1), X3
	MOVOU      X0, (DI)(AX*1)
	MOVOU      X1, 16(DI)(AX*1)
	MOVOU      X2, 32(DI)(AX*1)
	MOVOU      X3, 48(DI)(AX*1)
	ADDQ       $64, AX
	CMPQ       AX, DX
	JLT        line

last: // which overlaps the one before where size is no multiple of 64
	PREFETCHT0 (R11)(DX*1)
	BYTE       $0x41; BYTE $0x0F; BYTE $0x0D; BYTE $0x0C; BYTE $0x12 // PREFETCHW (R10)(DX*1)
	MOVOU      (SI)(DX*1), X0
	MOVOU      16(SI)(DX*1), X1
	MOVOU      32(SI)(DX*1), X2
	MOVOU      48(SI)(DX*1), X3
	MOVOU      X0, (DI)(DX*1)
	MOVOU      X1, 16(DI)(DX*1)
	MOVOU      X2, 32(DI)(DX*1)
	MOVOU      X3, 48(DI)(DX*1)
	ADDQ       R8, DI
	ADDQ       R9, SI
	ADDQ       R8, R10
	ADDQ       R9, R11
	DECQ       CX
	JNZ        block
	RET
