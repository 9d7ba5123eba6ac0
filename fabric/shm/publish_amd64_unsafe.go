//go:build amd64

package shm

// storeRelease publishes: whoever loads v sees all that was written before.
// On amd64 a plain aligned store is a release (TSO); sync/atomic's Store is an
// XCHG, which waits for the line. The compiler keeps stores in program order.
//
//go:nosplit
func storeRelease(p *uint64, v uint64) { *p = v }
