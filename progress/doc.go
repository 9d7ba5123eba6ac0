// Package progress drives communication: the loop that polls the fabric and
// hands packets to protocols, the requests that protocols complete, and the ways
// to wait for them.
//
// A rank has one Loop with one owner at a time. Ownership is a compare-and-swap
// on one word, and no goroutine waits for it. One that gets it does its
// operation in place. One that does not pushes a node on a lock-free queue,
// which the owner drains while it polls and once more after it has let go.
// Everything in a Loop without a comment to the contrary belongs to the owner
// and needs no atomics.
//
// The package serves the protocol packages, which register as sinks of packet
// kinds. It imports fabric, group and internal/procs.
package progress
