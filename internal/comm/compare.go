package comm

import (
	"fmt"
	"maps"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/mpi/cause"
	"github.com/weft-mpi/weft/progress"
)

// Ranks that make different collective calls wait for messages that nobody sends. So
// once a second each rank looks for messages that its collective calls have waited for
// since the look before, and asks the ranks which are to send or receive them which
// call has that number at them (wire.Compare). A rank that has made it replies, by its
// history. If the two calls do not match, the call fails at all ranks (abort.go). A rank
// that has run ahead may have forgotten the call: then a message of that number may be
// here, of another call.
//
// A call that does not wait costs its note in the history. Calls that differ and end
// all the same, as those of two roots of a Bcast may, are not found.

// comparisons compares a rank's collective calls with those of others. It is the sink
// of the packets for that. Its fields belong to the owner of the loop.
type comparisons struct {
	aborts
	operator func(uint16) string
	waited   map[uint64]int // looks that an operation has waited for, by its name
}

// lookGap bounds the looks between two questions about one operation.
const lookGap = 8

// look asks about the operations of collective calls that have waited since the last
// look: at once, and then after twice as long each time, up to lookGap.
func (in *Instance) look() {
	blocking := in.inCall()
	in.looking.Store(time.Now().UnixNano()) // pairs with the load in Lateness
	defer in.looking.Store(0)
	in.Loop.Exclusive(func() {
		k := in.comparisons
		if in.Loop.Over() || !blocking && len(in.running) == 0 {
			clear(k.waited)
			return
		}
		waited := map[uint64]int{}
		type question struct {
			c      *Comm
			peer   int
			number uint32
		}
		asked := map[question]bool{}
		k.waits(func(c *Comm, peer int, number uint32, op uint64) {
			n := k.waited[op] + 1
			waited[op] = n
			if q := (question{c, peer, number}); n > 1 && (n&(n-1) == 0 || n%lookGap == 0) && !asked[q] {
				asked[q] = true
				var hdr [wire.CompareSize]byte
				in.Loop.Conn(fabric.Peer(peer)).Post(wire.Compare, uint64(c.Library()), wire.MakeCompare(hdr[:], number))
			}
		})
		k.waited = waited
	})
}

// inCall reports whether a goroutine may be in a blocking collective call.
func (in *Instance) inCall() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	for c := range in.live {
		if last, _ := c.history.of(c.seq.Load()); c.busy.Load() || last.call() == coll.Barrier { // pairs with the stores in Collective
			return true
		}
	}
	return false
}

// waits visits the operations of collective calls that wait for a call of a rank of
// the job.
func (k *comparisons) waits(f func(c *Comm, peer int, number uint32, op uint64)) {
	in := k.in
	in.mu.Lock()
	all := maps.Clone(in.running)
	for c := range in.live {
		all[c.ID] = c
	}
	in.mu.Unlock()
	in.P2P.EachStuck(func(peer int, cid uint32, tag int32, op uint64) {
		if c := all[wire.User(cid)]; c != nil && numbered(tag) && peer != pt2pt.AnySource {
			f(c, peer, c.numberOf(tag), op)
		}
	})
	in.Loop.EachOfAll(func(r *progress.Request) {
		i := r.Describe(false)
		if c := all[wire.User(i.Context)]; i.Needs && c != nil && c.barrier.flags != nil {
			f(c, int(i.Caller), c.barrier.flags.call, uint64(r.Op()))
		}
	})
}

// member returns the communicator of a library's context, or nil.
func (in *Instance) member(cid uint32) *Comm {
	if c := in.running[wire.User(cid)]; c != nil || cid == in.World.Library() {
		if c == nil {
			c = in.World // also when it is over: its last barrier may be under way
		}
		return c
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	for c := range in.live {
		if c.Library() == cid {
			return c
		}
	}
	return nil
}

func (k *comparisons) Deliver(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
	ok := imm < 1<<32 && wire.Library(uint32(imm)) && len(body) == 0
	switch {
	case !ok:
	case kind == wire.Compare && wire.CompareHeader(hdr).Valid():
		k.reply(from, uint32(imm), wire.CompareHeader(hdr).Number())
		return
	case kind == wire.Compared && wire.ComparedHeader(hdr).Valid():
		h := wire.ComparedHeader(hdr)
		k.compare(from, uint32(imm), h.Number(), signature{h.What(), coll.Alike(h.Alike())})
		return
	}
	k.in.Loop.EndPeer(from, &fabric.Error{Op: "receive", Peer: from, HasPeer: true,
		Err: fmt.Errorf("%w: it sent a comparison that is none", fabric.ErrPeerDown)})
}

// reply tells a rank which call has the number here.
func (k *comparisons) reply(to fabric.Peer, cid, number uint32) {
	var s signature
	if c := k.in.member(cid); c != nil {
		s, _ = c.history.of(number)
	}
	var hdr [wire.ComparedSize]byte
	k.in.Loop.Conn(to).Post(wire.Compared, uint64(cid), wire.MakeCompared(hdr[:], number, s.what, uint64(s.alike)))
}

// compare fails the call of a number if it is not the one that another rank has made,
// and if this rank still waits for that rank in it.
func (k *comparisons) compare(from fabric.Peer, cid, number uint32, theirs signature) {
	c := k.in.member(cid)
	if c == nil {
		return
	}
	mine, ok := c.history.of(number)
	rank := c.rankOf(int(from))
	if theirs.what == 0 {
		theirs, rank = k.strange(c, number, mine)
	}
	if !ok || theirs.what == 0 || mine == theirs {
		return
	}
	waits := false
	k.waits(func(of *Comm, peer int, n uint32, _ uint64) {
		waits = waits || of == c && peer == int(from) && n == number
	})
	switch err := c.mismatch(rank, theirs, mine); {
	case !waits:
	case mine.what&persistent != 0:
		c.failPersistent(err)
	default:
		c.failOwned(number, err)
	}
}

// strange returns what a message of the number that is here says of its sender's call,
// and its rank, if it is of another call than mine.
func (k *comparisons) strange(c *Comm, number uint32, mine signature) (theirs signature, rank int) {
	const opMask = 1<<callShift - 1
	k.in.P2P.EachUnexpected(func(peer int, cid uint32, tag int32) {
		if cid != c.Library() || !numbered(tag) || c.numberOf(tag) != number || callOf(tag) == noCall {
			return
		}
		s := signed(callOf(tag), 0, 0)
		switch {
		case tag&laterTag != 0:
			s = s.later()
		case tag&persistTag != 0:
			s = s.again()
		}
		if s.what |= mine.what & checked; s.what != mine.what&^opMask {
			theirs, rank = s, c.rankOf(peer)
		}
	})
	return theirs, rank
}

// mismatch is the error of two calls that do not match.
func (c *Comm) mismatch(rank int, theirs, mine signature) *cause.MismatchError {
	if theirs.what&mine.what&checked != 0 { // it is no difference
		theirs.what, mine.what = theirs.what&^checked, mine.what&^checked
	}
	name := c.in.comparisons.operator
	return &cause.MismatchError{Rank: rank, Here: c.Rank, Theirs: theirs.text(name), Mine: mine.text(name)}
}
