package comm

import (
	"errors"
	"math"
)

// A context id is the number of a draw at the rank that drew it, times the size
// of the job, plus that rank: so no two ranks draw the same, without a word
// between them. Twice that is even: the odd id behind it is the library's. Draws
// count from 1; 0 is the context of all ranks. Ids are not used again.

// ErrNoContext is returned by Dup when rank 0 has drawn all its context ids.
var ErrNoContext = errors.New("rank 0 has made so many communicators that no context id is left")

// draw returns a context id that no communicator of the job has, or 0 if this
// rank has drawn all of its own.
func (in *Instance) draw() uint32 {
	n := uint64(in.drawn.Add(1))
	id := (n*uint64(in.World.Size) + uint64(in.World.Rank)) * 2
	if id >= math.MaxUint32-1 {
		in.drawn.Add(^uint32(0)) // so that the count never wraps
		return 0
	}
	return uint32(id)
}
