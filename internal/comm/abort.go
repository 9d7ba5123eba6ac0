package comm

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/mpi/cause"
	"github.com/weft-mpi/weft/progress"
)

// If a rank's part in a collective call fails, other ranks may wait for it for
// ever. So the rank tells all others (wire.Abort), and each ends what is under way
// in the library's context from that call on, and starts nothing there any more:
// the call, or the next one, fails at every rank with the same cause. A death
// needs no Abort, since every rank learns of it and fails. A rank that leaves in
// order does, and one that this rank can't connect to: others may not learn of it.

// Broken returns why the communicator's collective calls can't be used any more,
// or nil. Local.
func (c *Comm) Broken() error {
	if err := c.broken.Load(); err != nil { // pairs with the store in breakFrom
		return err
	}
	return nil
}

// spares reports whether a failure has left call number seq alone: a rank that hears
// of a later call's failure still makes the earlier ones, for which others wait.
func (c *Comm) spares(seq uint32) (yes bool) {
	c.in.Loop.Exclusive(func() { yes = c.sparesOwned(seq) })
	return yes
}

// sparesOwned is spares for the owner.
func (c *Comm) sparesOwned(seq uint32) bool { return int32(seq-c.brokenFrom) < 0 }

// fail ends the communicator's collective calls from number seq on, at all ranks,
// because this rank's part in that one has failed with err. It returns why the call
// has failed: err, unless an earlier failure has ended the call, and err with it.
func (c *Comm) fail(seq uint32, err error) error {
	c.in.Loop.Exclusive(func() { err = c.failOwned(seq, err) })
	return err
}

// failOwned is fail for the owner.
func (c *Comm) failOwned(seq uint32, err error) error {
	if c.Broken() != nil && !c.sparesOwned(seq) {
		return cmp.Or(c.P2P.Forbidden(c.Library()), err)
	}
	c.breakFrom(seq, err)
	switch {
	case allLearn(err), errors.Is(err, fabric.ErrClosed):
	default:
		c.tellAbort(seq, err)
	}
	return err
}

// allLearn reports whether err is about a death, of which every rank learns. Of a rank
// that has left in order, or that this one can't connect to, others may not.
func allLearn(err error) bool {
	return errors.Is(err, fabric.ErrPeerDown) && !errors.Is(err, fabric.ErrPeerLeft) && !errors.Is(err, fabric.ErrUnreachable)
}

// breakFrom ends the communicator's collective calls from number seq on, if an earlier
// failure has spared any of them. Ranks that fail in different calls tell of them in
// any order. For the owner.
func (c *Comm) breakFrom(seq uint32, err error) {
	if told, ok := err.(*cause.CallError); ok {
		here := *told // others may have it too
		here.Rank, here.Remote = c.numbered(told.World)
		if here.InJob = here.Rank < 0; here.InJob { // as this communicator was made
			here.Rank, here.Remote = told.World, false
		}
		err = &here
	}
	broken := &cause.BrokenError{Err: err}
	first := c.broken.CompareAndSwap(nil, broken) // pairs with the load in Broken
	if !first && !c.sparesOwned(seq) {
		return
	}
	why := err
	var told *cause.CallError
	if !errors.As(err, &told) { // the end of a call's context, say, is not another call's
		why = broken
	}
	c.brokenFrom, c.told = seq, told // before Forbid, which ends later calls of this rank too
	c.P2P.Forbid(c.Library(), func(tag int32) bool { return before(tag, seq) || tag == lastTag }, why)
	for j := range c.in.letters.links {
		if j.c == c && int32(j.x.seq-seq) >= 0 {
			j.abort(why)
		}
	}
}

// tellAbort tells all other ranks. What another rank has told keeps that one's number and words.
func (c *Comm) tellAbort(seq uint32, err error) {
	told, ok := err.(*cause.CallError)
	if !ok {
		told = &cause.CallError{World: c.in.World.Rank, Code: int32(c.in.class(err)), Text: err.Error()}
	}
	for peer := range c.Size + max(c.Remote.Len(), 0) {
		if w := c.world(peer); w != c.in.World.Rank {
			c.in.postAbort(fabric.Peer(w), c.Library(), abort{seq, told})
		}
	}
}

func (in *Instance) postAbort(to fabric.Peer, cid uint32, a abort) {
	text := []byte(a.err.Text)
	var hdr [wire.AbortSize]byte
	h := wire.MakeAbort(hdr[:], a.err.Code, a.seq, uint32(a.err.World))
	room := in.Loop.Via(to).Caps().MaxEager
	in.Loop.Conn(to).PostBody(wire.Abort, uint64(cid), h, text[:min(len(text), wire.MaxAbortText, room)])
}

// refuses tells a rank whose message is refused, as the communicator has been freed here, of
// the failure that this rank has heard of: what has failed is not the Free. For the owner.
func (in *Instance) refuses(from fabric.Peer, cid uint32) {
	for _, c := range slices.Backward(in.resting) {
		if c.Library() == cid {
			if c.told != nil {
				in.postAbort(from, cid, abort{c.brokenFrom, c.told})
			}
			return
		}
	}
}

// aborts is the sink of Aborts.
type aborts struct {
	progress.Passive
	in *Instance
}

func (a aborts) Deliver(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
	h := wire.AbortHeader(hdr)
	if kind != wire.Abort || !h.Valid() || imm > 1<<32-1 || !wire.Library(uint32(imm)) || int64(h.Rank()) >= int64(a.in.World.Size) || len(body) > wire.MaxAbortText {
		a.in.Loop.EndPeer(from, &fabric.Error{Op: "receive", Peer: from, HasPeer: true,
			Err: fmt.Errorf("%w: it sent an abort that is none", fabric.ErrPeerDown)})
		return
	}
	at := int(h.Rank())
	news := abort{h.Call(), &cause.CallError{Rank: at, InJob: true, World: at, Code: h.Code(), Text: string(body)}}
	c := a.in.running[wire.User(uint32(imm))]
	if c == nil && !a.in.P2P.Freed(uint32(imm)) { // else nothing of it is under way
		c = a.in.concerned(wire.User(uint32(imm)), news)
	}
	if c != nil {
		c.breakFrom(news.seq, news.err)
		a.in.hear(from, heard{c, news})
	}
}

// heard is an Abort that has come, also for a communicator that has been freed since.
type heard struct {
	c    *Comm
	news abort
}

// hear keeps what a rank has told of the earliest call of each communicator. For the
// owner.
func (in *Instance) hear(from fabric.Peer, h heard) {
	for i, old := range in.heard[from] {
		if old.c == h.c {
			if int32(h.news.seq-old.news.seq) < 0 {
				in.heard[from][i] = h
			}
			return
		}
	}
	in.heard[from] = append(in.heard[from], h)
}

// PeerDown passes on what a rank has told, if it has left: not all of it may have left
// with it. Of a rank that has died all know, and fail.
func (a aborts) PeerDown(p fabric.Peer, err error) {
	told := a.in.heard[p]
	delete(a.in.heard, p)
	if !errors.Is(err, fabric.ErrPeerLeft) {
		return
	}
	for _, h := range told {
		h.c.tellAbort(h.news.seq, h.news.err)
	}
}

// abort is what an Abort says.
type abort struct {
	seq uint32
	err *cause.CallError
}

// maxEarly bounds the aborts that are kept for communicators which are not made
// here yet.
const maxEarly = 1 << 12

// concerned returns the communicator of a context. It keeps the news for one that
// this rank has not made yet.
func (in *Instance) concerned(id uint32, news abort) *Comm {
	in.mu.Lock()
	defer in.mu.Unlock()
	for c := range in.live {
		if c.ID == id {
			return c
		}
	}
	if in.early == nil {
		in.early = map[uint32]abort{}
	}
	if old, told := in.early[id]; told && int32(news.seq-old.seq) < 0 || !told && len(in.early) < maxEarly {
		in.early[id] = news
	}
	return nil
}

// forgetEarly drops the news of a communicator that this rank will not make.
func (in *Instance) forgetEarly(id uint32) {
	in.mu.Lock()
	defer in.mu.Unlock()
	delete(in.early, id)
}
