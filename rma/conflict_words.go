package rma

import (
	"cmp"
	"fmt"

	"github.com/weft-mpi/weft/internal/op"
	"github.com/weft-mpi/weft/internal/wire"
)

// ConflictError says that two accesses to one rank's part of a window conflict (MPI-4.0
// §12.7): what they leave there, or return, is undefined. At and Bytes are the first
// bytes of Target's part that both are about; in a dynamic window At is an address.
type ConflictError struct {
	Target        int
	At, Bytes     uint64
	First, Second Access // in the order in which the target has heard of them

	remedy string
	phase  uint64 // fences before the second, at its target
}

// Access is one of the two. Rank is in the window. Call is in words, such as "Put" or
// "Accumulate of Sum on int64". Line is the function and line of the program that has
// called it; of a store, which makes no call, that of the synchronization before it.
type Access struct {
	Rank       int
	Call, Line string
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("accesses conflict at byte %d (%d bytes) of rank %d's part: %v; and %v: %s", e.At, e.Bytes, e.Target, e.First, e.Second, e.remedy)
}

func (a Access) String() string {
	line := a.Line
	line = cmp.Or(line, "at a line that is not known")
	return fmt.Sprintf("rank %d's %s, %s", a.Rank, a.Call, line)
}

func conflictOf(target int, c wire.Conflict, first, second string) *ConflictError {
	p := &c.Parties
	return &ConflictError{Target: target, At: c.At, Bytes: c.Bytes, remedy: remedyOf(p[0], p[1]),
		First: Access{int(p[0].Rank), callWords(p[0]), first}, Second: Access{int(p[1].Rank), callWords(p[1]), second}}
}

// callWords tells of an access that has been checked.
func callWords(p wire.Party) string {
	of := func(name string) string {
		return fmt.Sprintf("%s of %v on %v", name, op.Code(p.Code).Op(), op.Kind(p.Kind))
	}
	switch accessCall(p.Call) {
	case accessPut:
		return "Put"
	case accessGet:
		return "Get"
	case accessAccumulate:
		return of("Accumulate")
	case accessFetch:
		return of("GetAccumulate") // or FetchAndOp
	case accessSwap:
		return fmt.Sprintf("CompareAndSwap on %v", op.Kind(p.Kind))
	}
	if p.Code == 0 {
		return "store since the window was made"
	}
	return fmt.Sprintf("store since %v", Call(p.Code))
}

func remedyOf(a, b wire.Party) string {
	atomic := func(p wire.Party) bool {
		x := access{call: accessCall(p.Call)}
		return x.atomic()
	}
	switch store := uint8(accessStore); {
	case a.Call == store || b.Call == store:
		return "have the rank whose part it is store, and load, between synchronizations of its own that the others wait for: in another epoch of Fence or Post, or between its Lock(LockExclusive) and Unlock"
	case atomic(a) && atomic(b) && a.Kind != b.Kind:
		return "accumulates of one element at the same time are of one type"
	case atomic(a) && atomic(b) && a.Call == b.Call && a.Code == b.Code:
		return "accumulates of one element begin at its first byte"
	case atomic(a) && atomic(b):
		return "use one operator, or leave out the hint accumulate_ops, which promises that"
	case a.Rank == b.Rank:
		return "end the first with Flush, or with its epoch, before the second"
	}
	return "end the epoch of the first before the second begins (a Fence between them, or exclusive locks), or make both accumulates of one type"
}
