#include "textflag.h"

// func yieldCore()
TEXT ·yieldCore(SB), NOSPLIT|NOFRAME, $0-0
	MOVL $24, AX // sched_yield
	SYSCALL
	RET
