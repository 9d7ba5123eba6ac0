#include "textflag.h"

// func prefetchWrite(p unsafe.Pointer, n uintptr)
TEXT ·prefetchWrite(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), AX
	MOVQ n+8(FP), CX
loop:
	BYTE $0x0F; BYTE $0x0D; BYTE $0x08 // PREFETCHW (AX)
	ADDQ $64, AX
	SUBQ $64, CX
	JHI  loop
	RET

// func prefetchRead(p unsafe.Pointer)
TEXT ·prefetchRead(SB), NOSPLIT, $0-8
	MOVQ p+0(FP), AX
	PREFETCHT0 (AX)
	RET

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
