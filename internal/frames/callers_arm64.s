#include "textflag.h"

// func Callers(pcs *[3]uintptr), as for amd64.
TEXT ·Callers(SB), NOSPLIT|NOFRAME, $0-8
	MOVD pcs+0(FP), R0
	MOVD ZR, R3
	MOVD ZR, R4
	MOVD 8(R29), R2
	MOVD 0(R29), R1
	CBZ  R1, done
	MOVD 8(R1), R3
	MOVD 0(R1), R1
	CBZ  R1, done
	MOVD 8(R1), R4

done:
	MOVD R2, 0(R0)
	MOVD R3, 8(R0)
	MOVD R4, 16(R0)
	RET
