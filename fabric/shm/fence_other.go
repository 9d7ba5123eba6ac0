//go:build !amd64 && !arm64

package shm

import "sync/atomic"

// loadFence keeps the loads before it, of the kernel in our name too, ahead of
// those behind it. Go has no fence; an atomic addition is a release and an
// acquire, so on these machines what is before it stays before it, and what is
// behind it behind.
func loadFence() {
	var w uint32
	atomic.AddUint32(&w, 0)
}
