//go:build !amd64 || race

package membar

import "sync/atomic"

// StoreRelease stores v: whoever loads it by sync/atomic sees all that was written
// before. On arm64 sync/atomic's Store is STLR, a release store. Loads behind it
// may come before it.
func StoreRelease(p *uint64, v uint64) { atomic.StoreUint64(p, v) }
