#include "textflag.h"

// func YieldCore()
TEXT ·YieldCore(SB), NOSPLIT|NOFRAME, $0-0
	MOVL $24, AX // sched_yield
	SYSCALL
	RET
