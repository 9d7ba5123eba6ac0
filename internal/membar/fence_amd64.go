package membar

// LoadFence keeps the loads before it, of the kernel in our name too, ahead of
// those behind it. On amd64 they are in order by themselves (TSO).
func LoadFence() {}
