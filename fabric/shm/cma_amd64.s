#include "textflag.h"

// func rawCMA(call, thread uintptr, local, remote *[2]uint64) int
TEXT ·rawCMA(SB), NOSPLIT|NOFRAME, $0-40
	MOVQ call+0(FP), AX
	MOVQ thread+8(FP), DI
	MOVQ local+16(FP), SI
	MOVQ $1, DX
	MOVQ remote+24(FP), R10
	MOVQ $1, R8
	MOVQ $0, R9
	SYSCALL
	MOVQ AX, ret+32(FP)
	RET
