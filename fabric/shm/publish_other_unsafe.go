//go:build !amd64

package shm

import "sync/atomic"

// storeRelease publishes: whoever loads v sees all that was written before.
// On arm64 sync/atomic's Store is STLR, a release store.
func storeRelease(p *uint64, v uint64) { atomic.StoreUint64(p, v) }
