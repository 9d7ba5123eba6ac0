package membar

// LoadFence keeps the loads before it, of the kernel in our name too, ahead of
// those behind it: DMB ISHLD. An acquire load orders only what comes after it.
//
//go:noescape
func LoadFence()
