// func roomForHandlers()
TEXT ·roomForHandlers(SB), 0, $65536-0
	RET
