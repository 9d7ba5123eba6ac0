package comm

import (
	"cmp"

	"github.com/weft-mpi/weft/internal/group"
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/progress"
)

// medium carries the messages of a schedule between the ranks that take part: the
// library's context of their communicator, or letters where there is none
// (meeting.go). Its methods are for the owner of the loop.
type medium interface {
	Instance() *Instance
	// world is the rank in the job of a Step's Peer.
	world(peer int) int
	// send and recv start a message to or from a rank of the job, of whose end they
	// tell hook: at once or later. A receive's hook finds the length in the Result.
	send(to int, tag int32, d pt2pt.Data, place [3]uintptr, hook func(*progress.Request, error))
	recv(from int, tag int32, d pt2pt.Data, place [3]uintptr, hook func(*progress.Request, error))
	// hold begins a call and returns why it can't go well, or nil. release ends it.
	hold(x *schedule) error
	release(x *schedule)
	// failed ends the call at all ranks, since it has failed here, and returns why: err, or
	// an earlier failure.
	failed(x *schedule, err error) error
}

func (c *Comm) send(to int, tag int32, d pt2pt.Data, place [3]uintptr, hook func(*progress.Request, error)) {
	c.P2P.StepSend(to, c.Library(), tag, d, place, hook)
}

func (c *Comm) recv(from int, tag int32, d pt2pt.Data, place [3]uintptr, hook func(*progress.Request, error)) {
	c.P2P.StepRecv(from, c.Library(), tag, d, place, hook)
}

func (c *Comm) failed(x *schedule, err error) error {
	if x.kept {
		return c.failPersistent(err)
	}
	return c.failOwned(x.seq, err)
}

// failPersistent is failOwned for a persistent call. Calls that this rank has made go on.
func (c *Comm) failPersistent(err error) error {
	if c.Broken() != nil {
		return cmp.Or(c.P2P.Forbidden(c.Library()), err)
	}
	return c.failOwned(c.seq.Load()+1, err)
}

// union is an intercommunicator as the medium of plans for both groups as one, whose
// ranks are those of all.
type union struct {
	*Comm
	all *group.Map
}

func (u union) world(peer int) int { return u.all.World(peer) }
