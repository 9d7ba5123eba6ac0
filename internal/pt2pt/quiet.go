package pt2pt

import (
	"cmp"
	"fmt"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/group"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// Quiet is the condition that nothing of a communicator is in flight at this rank:
// neither an operation of any protocol in its contexts, nor a message that a matched
// probe has taken and that has not been received. Persistent requests at rest do not
// count. It ends with an error if a rank of the communicator goes down before, also in
// order: that one will not come as far.
type Quiet struct {
	e  *Engine
	id uint32
	// one is an operation that was in flight at the last look. As long as it is there
	// is no need to look at others.
	one fabric.Op
}

// Quiet returns that condition for the communicator of id. Local.
func (e *Engine) Quiet(id uint32) *Quiet { return &Quiet{e: e, id: id} }

// Ready makes Quiet a progress.Watched.
func (q *Quiet) Ready() (bool, error) {
	if q.one == 0 || !q.e.loop.InFlight(q.one) {
		if q.one = q.e.busyIn(q.id); q.one == 0 && !q.e.claimedIn(q.id) {
			return true, nil
		}
	}
	return false, q.Gone()
}

// Gone is why a rank of the communicator is down, or nil. For the owner.
func (q *Quiet) Gone() (err error) {
	e := q.e
	if e.downs == 0 {
		return nil
	}
	m := cmp.Or(e.ranksOf(q.id+1), group.All(len(e.peers)))
	e.eachOther([]*group.Map{m, e.localOf(q.id + 1)}, func(p fabric.Peer) bool {
		if e.peers[p].down {
			err = e.loop.Conn(p).Down()
		}
		return err == nil
	})
	return err
}

// Describe says what the condition is, and that it waits.
func (q *Quiet) Describe(_ *progress.Request, words bool) (i progress.Info) {
	if words {
		i.What, i.State = fmt.Sprintf("Disconnect of context %d", q.id), "waits for what is in flight in it"
	}
	return i
}

// busyIn is an operation in flight in a communicator, or 0.
func (e *Engine) busyIn(id uint32) (op fabric.Op) {
	e.loop.EachOfAll(func(r *progress.Request) {
		if op == 0 && (r.Of(e) || r.Persistent()) && wire.User(cidOf(r)) == id { // Imm of others means something else
			op = r.Op()
		}
	})
	return op
}

// claimedIn reports whether a message of a communicator was taken by a matched probe
// and not received.
func (e *Engine) claimedIn(id uint32) bool {
	if e.contexts.claimed == 0 {
		return false
	}
	for i := range e.arrivals.used {
		if a := e.arrivals.at(i); a.matched && wire.User(uint32(a.imm>>32)) == id {
			return true
		}
	}
	return false
}
