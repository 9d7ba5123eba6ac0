#include "textflag.h"

// func Callers(pcs *[3]uintptr)
//
// A frame pointer points at the frame pointer of the caller's frame, and a word
// further lies the return address. That of a goroutine's first frame is zero.
// Our caller has a frame.
TEXT ·Callers(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ  pcs+0(FP), AX
	XORL  SI, SI
	XORL  DI, DI
	MOVQ  8(BP), DX
	MOVQ  0(BP), CX
	TESTQ CX, CX
	JZ    done
	MOVQ  8(CX), SI
	MOVQ  0(CX), CX
	TESTQ CX, CX
	JZ    done
	MOVQ  8(CX), DI

done:
	MOVQ DX, 0(AX)
	MOVQ SI, 8(AX)
	MOVQ DI, 16(AX)
	RET
