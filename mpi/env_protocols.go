package mpi

import (
	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/transports"
)

// Protocol is how messages from a length on go over a transport, up to the length of
// the next Protocol of the same memory.
type Protocol struct {
	From  int    // bytes
	Alloc bool   // only of memory of Alloc, else of all memory
	Way   string // "rendezvous by Get"
	What  string // what happens, in words
	Why   string // what decides From
}

// Protocols lists how messages of each length go over a transport of Fabrics, one
// without a +, on this machine and with its settings: the shortest first, and those
// for memory of mpi.Alloc last. It opens the transport for that and closes it, and over
// shared memory may measure for some milliseconds. The error says why the transport
// can't be used: ErrArg if there is none of that name, else ErrUnsupported or ErrOther.
// The caller owns the list. Local.
func Protocols(transport string) (all []Protocol, err error) {
	list, err := transports.Protocols(transport)
	for _, p := range list {
		all = append(all, Protocol(p))
	}
	return all, fail("Protocols", err)
}

// Algorithm is a rule by which collective calls choose their algorithm.
type Algorithm struct {
	Call    string // "Allgather"; nonblocking calls have the same
	Between bool   // between the two groups of an intercommunicator
	Name    string // of the algorithm
	When    string // which calls take it; "": all that no rule of the call before it takes
	Why     string
}

// Algorithms lists how collective calls choose their algorithms, in the order in which
// the rules are tried: the first that applies decides. Lengths are those of a block, or
// of the whole buffer where a call has no blocks, in bytes. The caller owns the list.
// Local.
func Algorithms() (all []Algorithm) {
	for _, r := range coll.Rules() {
		all = append(all, Algorithm{r.Call.String(), r.Between, r.Algorithm, r.When, r.Why})
	}
	return all
}
