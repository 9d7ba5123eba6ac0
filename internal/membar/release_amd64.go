//go:build amd64 && !race

package membar

// StoreRelease stores v: whoever loads it by sync/atomic sees all that was written
// before. On amd64 a plain aligned store is a release (TSO); sync/atomic's Store is
// an XCHG, which waits for the line. The compiler keeps stores in program order.
// Loads behind it may come before it.
//
//go:nosplit
func StoreRelease(p *uint64, v uint64) { *p = v }
