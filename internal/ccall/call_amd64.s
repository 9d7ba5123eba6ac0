//go:build linux && !asan && !msan

#include "textflag.h"

// func Call(fn, top, a, b, c, d, e, f uintptr) uint64
//
// C keeps R12. A profiler that comes while SP is not the goroutine's gives up at
// this function, which the assembler marks because it writes SP.
TEXT ·Call(SB), NOSPLIT|NOFRAME, $0-72
	MOVQ fn+0(FP), AX
	MOVQ top+8(FP), R10
	MOVQ a+16(FP), DI
	MOVQ b+24(FP), SI
	MOVQ c+32(FP), DX
	MOVQ d+40(FP), CX
	MOVQ e+48(FP), R8
	MOVQ f+56(FP), R9
	MOVQ SP, R12
	ANDQ $~15, R10
	LEAQ -64(R10), SP // an unwinder may look behind it
	CLD
	CALL AX
	MOVQ R12, SP
	MOVQ AX, ret+64(FP)
	RET
