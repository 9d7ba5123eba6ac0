//go:build !amd64 && !arm64

package membar

import "sync/atomic"

// LoadFence keeps the loads before it, of the kernel in our name too, ahead of
// those behind it. Go has no fence; an atomic addition is a release and an
// acquire, so on these machines what is before it stays before it, and what is
// behind it behind.
func LoadFence() {
	var w uint32
	atomic.AddUint32(&w, 0)
}
