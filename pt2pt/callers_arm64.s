#include "textflag.h"

// func callers(pcs *[3]uintptr), as for amd64.
TEXT ·callers(SB), NOSPLIT|NOFRAME, $0-8
	MOVD pcs+0(FP), R0
	MOVD 8(R29), R2
	MOVD R2, 0(R0)
	MOVD 0(R29), R1
	MOVD 8(R1), R2
	MOVD R2, 8(R0)
	MOVD 0(R1), R1
	MOVD 8(R1), R2
	MOVD R2, 16(R0)
	RET
