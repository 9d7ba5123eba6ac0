package comm

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/group"
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/mpi/cause"
	"github.com/weft-mpi/weft/progress"
)

// Comm is a communicator: the ranks 0 to Size-1, for an intercommunicator a second
// group of ranks, and a context. The fields do not
// change. It is safe for concurrent use, but for collective calls, which all
// ranks make in the same order, one at a time.
type Comm struct {
	P2P        *pt2pt.Engine // carries its messages
	ID         uint32        // context of the program's messages; ID+1 is the library's
	Rank, Size int           // in the local group
	Ranks      *group.Map    // the local group in the job; nil: all, in the job's order. Never nil of an intercommunicator
	Remote     *group.Map    // nil, or the remote group: then this is an intercommunicator, messages of the program go to ranks of Remote

	// Near are the rank's neighbors in the communicator's topology, or nil. It is set before
	// the communicator is used.
	Near *coll.Neighbors

	in        *Instance
	over      atomic.Bool // see Over
	ended     atomic.Bool // see Gone
	isRevoked atomic.Bool // see Revoked
	known     sync.Once   // see Announce
	barrier   barrier

	seq      counter                           // collective calls so far
	broken   atomic.Pointer[cause.BrokenError] // see abort.go
	busy     atomic.Bool                       // a goroutine is in a blocking collective call
	check    bool                              // Config.Check
	compares bool                              // or messages have headers: calls may begin with a comparison, see check.go
	scratch  *scratch                          // nil before the first blocking call
	plans    atomic.Pointer[plans]             // of the last calls, nil before the first; stored and loaded by Plan

	brokenFrom uint32           // the first call that has failed; the owner's
	told       *cause.CallError // of that one by another rank, or nil; the owner's

	calls int  // nonblocking and persistent collective calls under way; the owner's
	keeps int  // nonblocking ones, and persistent ones whether or not they are; the owner's
	freed bool // by Free; the owner's

	history history    // of its collective calls; atomic, see there
	made    callCounts // the same
}

// Instance is the rank's engine that the communicator belongs to. Local.
func (c *Comm) Instance() *Instance { return c.in }

// Library is the context of the library's own messages among the ranks of the
// communicator, those of collective calls. Local.
func (c *Comm) Library() uint32 { return c.ID + 1 }

// Sendrecv sends out to dest and receives into in from source, in the
// communicator's context, without the deadlock that one after the other may be
// (MPI_Sendrecv, MPI-4.0 §3.2.7). dest and source are ranks of the job, and
// either may be pt2pt.ProcNull. The buffers
// are the engine's until the return. It ends with ctx. Non-local.
func (c *Comm) Sendrecv(ctx context.Context, out []byte, dest int, sendtag int32, in []byte, source int, recvtag int32) (progress.Result, error) {
	// Most sends go at once: then the receive is all that is left to wait for.
	if dest == pt2pt.ProcNull || c.P2P.TrySend(dest, c.ID, sendtag, out) {
		if source == pt2pt.ProcNull {
			return progress.Result{Source: pt2pt.ProcNull, Tag: pt2pt.AnyTag}, nil
		}
		return c.P2P.Recv(ctx, source, c.ID, recvtag, in)
	}
	return c.P2P.Sendrecv(ctx, c.ID, out, dest, sendtag, in, source, recvtag)
}
