#include "textflag.h"

// func copyString(dst, src unsafe.Pointer, n uintptr)
TEXT ·copyString(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	CLD
	REP; MOVSB
	RET

// func hasFastStrings() bool
TEXT ·hasFastStrings(SB), NOSPLIT, $0-1
	MOVB $0, ret+0(FP)
	XORL AX, AX
	CPUID
	CMPL AX, $7
	JLT  done
	MOVL $7, AX
	XORL CX, CX
	CPUID
	BTL  $9, BX // ERMS: enhanced REP MOVSB
	SETCS ret+0(FP)
done:
	RET
