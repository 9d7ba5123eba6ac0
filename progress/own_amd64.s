//go:build !race

#include "textflag.h"

// func takeLocal(word *uint32) bool
TEXT ·takeLocal(SB), NOSPLIT|NOFRAME, $0-9
	MOVQ  word+0(FP), AX
	BTSL  $0, (AX)
	SETCC ret+8(FP)
	RET
