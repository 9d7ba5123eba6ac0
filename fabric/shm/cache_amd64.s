#include "textflag.h"

// func demote(p unsafe.Pointer, n uintptr)
TEXT ·demote(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), AX
	MOVQ n+8(FP), CX
loop:
	BYTE $0x0F; BYTE $0x1C; BYTE $0x00 // CLDEMOTE (AX)
	ADDQ $64, AX
	SUBQ $64, CX
	JHI  loop
	RET
