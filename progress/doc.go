// Package progress is the engine room: the loop that polls the fabric and
// hands packets to protocols, the requests that protocols complete, and the
// ways to wait for them.
//
// A rank has one Loop with one owner at a time. Ownership is a compare-and-swap
// on one word and never waited for: who gets it does its operation in place;
// who does not pushes a node on a lock-free queue that the owner drains while
// it polls and once more after it has let go. Everything in a Loop that has no
// comment to the contrary belongs to the owner and needs no atomics.
//
// The package serves the protocol packages, which register as sinks of packet
// kinds. It imports fabric.
package progress
