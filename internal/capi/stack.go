//go:build amd64 || arm64

package capi

// roomForHandlers leaves 64 KB of the goroutine's stack below the caller's frame. A C
// program's signal handler that was set without SA_ONSTACK runs on the stack that the
// thread has at the moment, which is a goroutine's during a call, and of a few KB: there it
// would write over what is beside. The function has a frame of that size and does nothing,
// so that the stack grows at the first call and after the collector has made it smaller.
func roomForHandlers()
