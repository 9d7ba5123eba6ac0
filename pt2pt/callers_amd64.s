#include "textflag.h"

// func callers(pcs *[3]uintptr)
//
// A frame pointer points at the frame pointer of the caller's frame, and a word
// further lies the return address.
TEXT ·callers(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ pcs+0(FP), AX
	MOVQ 8(BP), DX
	MOVQ DX, 0(AX)
	MOVQ 0(BP), CX
	MOVQ 8(CX), DX
	MOVQ DX, 8(AX)
	MOVQ 0(CX), CX
	MOVQ 8(CX), DX
	MOVQ DX, 16(AX)
	RET
