package comm

import (
	"context"
	"errors"
	"runtime/debug"
	"runtime/trace"

	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/frames"
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/mpi/cause"
	"github.com/weft-mpi/weft/progress"
)

// Operands is the memory of a collective call, which is the call's until it has
// ended, and what its Combine steps do.
type Operands struct {
	In, Out []byte
	Elem    int // bytes of an element
	// Combine sets to = lower ⊕ upper, see op.Func; nil if the plan has no Combine.
	Combine func(lower, upper, to []byte)
	// User says that Combine is the user's code, which may block and panic: it is
	// called by a goroutine that does not own the loop.
	User bool
	// Gaps has the memory that is not one range, instead of In or Out; nil if both are.
	Gaps *Gaps
	// Op is a number for the operator and the type of its elements, or 0. Ranks compare
	// it if a call hangs, and Config.Operator names it.
	Op uint16
	// Elements is a number for the type of the elements, which Config.Operator names, or 0
	// if that goes with any. With Config.Check ranks compare it.
	Elements uint16
	// Types, unless nil, are compared before anything else. There are some only where
	// messages have a header (Config.Header).
	Types *Types
}

// mems is the memory of a call by coll.Mem.
type mems [coll.Temp + 1][]byte

// at is the memory of a Ref.
func (m *mems) at(r coll.Ref, elem int) []byte {
	return m[r.Mem][r.At*elem : (r.At+r.N)*elem]
}

// ErrBusy is returned by a collective call of a goroutine while another one is in
// a blocking collective call on the same communicator.
var ErrBusy = errors.New("another goroutine is in a collective call on this communicator: all ranks make these in one order, so one goroutine makes them, or each has a duplicate")

// lengthError is the error for a message of a Step's Peer.
func lengthError(m medium, call coll.Call, peer int, got, want uint64) error {
	if c, ok := m.(*Comm); ok && peer >= c.Size {
		return &cause.LengthError{Call: call.String(), Rank: peer - c.Size, Remote: true, Got: got, Want: want}
	}
	return &cause.LengthError{Call: call.String(), Rank: peer, Got: got, Want: want}
}

// Collective carries out the rank's plan of a collective call and returns when the
// rank has done its part. All ranks make the communicator's collective calls in
// the same order; calls of two goroutines at once are refused with ErrBusy. After
// any other error the communicator's collective calls can't be used any more, at
// any rank: see abort.go. Non-local.
func (c *Comm) Collective(ctx context.Context, call coll.Call, p *coll.Plan, o *Operands) error {
	if !c.busy.CompareAndSwap(false, true) { // pairs with the store below
		return ErrBusy
	}
	if log := c.in.Loop.Timeline(); log != nil || trace.IsEnabled() {
		defer c.traceCall(log, call, func() string { return algorithmName(call, int(p.By)) })()
	}
	if c.compares {
		defer c.busy.Store(false)
		return c.scheduled(ctx, call, p, o)
	}
	if p.Direct {
		if c.scratch == nil {
			c.scratch = new(scratch)
		}
		frames.Callers(&c.scratch.place) // walk is a function deeper
	}
	if o.User {
		return c.walkUser(ctx, call, p, o)
	}
	err := c.walk(ctx, call, p, o)
	c.busy.Store(false)
	if o.Gaps != nil && o.Gaps.Done != nil && err == nil {
		o.Gaps.Done()
	}
	return err
}

// walkUser is walk for an operator of the user's, which may panic, or end the
// goroutine. That of another rank may have done so meanwhile: then the call fails here
// too, though this rank has its result.
func (c *Comm) walkUser(ctx context.Context, call coll.Call, p *coll.Plan, o *Operands) (err error) {
	ended := false
	defer func() {
		if !ended {
			failure := &cause.OperatorError{Value: recover(), Stack: debug.Stack()}
			if failure.Value == nil {
				failure.Value = progress.ErrExit
			}
			err = c.fail(c.scratch.seq, failure)
			c.finish(call)
		}
		c.busy.Store(false)
	}()
	err = c.walk(ctx, call, p, o)
	if ended = true; err == nil && c.Broken() != nil && !c.spares(c.scratch.seq) {
		err = c.fail(c.scratch.seq, nil)
	}
	return err
}

// scratch is what blocking calls of a communicator use again and again. It belongs
// to the call that has made the communicator busy.
type scratch struct {
	seq     uint32     // of the call
	place   [3]uintptr // of the call, if its plan is Direct
	temp    []byte
	started []progress.Handle
	expects []expected // of started, for the receives
	ends    []progress.Status
}

// expected is a receive under way: whose, and how long.
type expected struct {
	rank  int // a Step's Peer, -1 for a send
	bytes int
}

// shortRecv is up to how many bytes a receive may begin as late as it is waited for.
const shortRecv = 4 << 10

// maxScratch is how much temporary memory a communicator keeps, in bytes.
const maxScratch = 64 << 10

// temporary is n bytes, of which nothing is known.
func (s *scratch) temporary(n int) []byte {
	switch {
	case n > maxScratch:
		return make([]byte, n)
	case n > len(s.temp):
		s.temp = make([]byte, max(n, 256))
	}
	return s.temp[:n]
}

// walk is Collective for the goroutine that has made the communicator busy. The
// engine is called from here and no function deeper, so that reports name the
// program's line.
func (c *Comm) walk(ctx context.Context, call coll.Call, p *coll.Plan, o *Operands) (err error) {
	seq, id := c.seq.next(), c.Library()
	if err := c.Broken(); err != nil && !c.spares(seq) {
		return err
	}
	tag := tagOf(call, seq)
	c.history.note(seq, signed(call, o.Op, p.Alike))
	c.made.block(call, p.By)
	if c.scratch == nil {
		c.scratch = new(scratch)
	}
	s := c.scratch
	s.seq = seq
	m := mems{coll.In: o.In, coll.Out: o.Out}
	if p.Temp > 0 {
		m[coll.Temp] = s.temporary(p.Temp * o.Elem)
	}
	// The last receive before a wait is the wait: most waits are for one message, which
	// then needs no request. It is behind the others, as messages of one rank match in
	// order. A long message arrives while the steps between are taken.
	var held *coll.Step
	for i := range p.Steps {
		step := &p.Steps[i]
		switch step.Do {
		case coll.Send:
			dest := c.world(step.Peer)
			if p.Direct {
				if d := o.placed(&m, step.A, s); !c.P2P.TrySendData(dest, id, tag, &d) {
					s.started = append(s.started, c.P2P.IsendData(ctx, pt2pt.Standard, dest, id, tag, &d))
					s.expects = append(s.expects, expected{rank: -1})
				}
				break
			}
			if b := m.at(step.A, o.Elem); !c.P2P.TrySend(dest, id, tag, b) {
				s.started = append(s.started, c.P2P.Isend(ctx, pt2pt.Standard, dest, id, tag, b))
				s.expects = append(s.expects, expected{rank: -1})
			}
		case coll.Recv:
			late := p.Steps[i+1].Do == coll.Wait || step.To.N*o.Elem <= shortRecv
			if late && held == nil {
				held = step
				break
			}
			begin := [2]*coll.Step{held, step}
			if held = nil; late {
				held, begin[1] = step, nil
			}
			for _, r := range begin {
				if r == nil {
					continue
				}
				if p.Direct {
					d := o.placed(&m, r.To, s)
					s.started = append(s.started, c.P2P.IrecvData(ctx, c.world(r.Peer), id, tag, &d))
				} else {
					s.started = append(s.started, c.P2P.Irecv(ctx, c.world(r.Peer), id, tag, m.at(r.To, o.Elem)))
				}
				s.expects = append(s.expects, expected{r.Peer, r.To.N * o.Elem})
			}
		case coll.Wait:
			if held != nil {
				source, want := held.Peer, uint64(held.To.N*o.Elem)
				var res progress.Result
				if p.Direct {
					d := o.placed(&m, held.To, s)
					res, err = c.P2P.RecvData(ctx, c.world(source), id, tag, &d)
				} else {
					res, err = c.P2P.Recv(ctx, c.world(source), id, tag, m.at(held.To, o.Elem))
				}
				if err == nil && res.Bytes != want {
					err = lengthError(c, call, source, res.Bytes, want)
				}
				held = nil
			}
			if len(s.started) > 0 && err == nil {
				err = c.finish(call)
			}
		case coll.Copy:
			if o.Gaps == nil {
				copy(m.at(step.To, o.Elem), m.at(step.A, o.Elem))
			} else {
				o.copy(&m, step)
			}
		case coll.Combine:
			o.Combine(m.at(step.A, o.Elem), m.at(step.B, o.Elem), m.at(step.To, o.Elem))
		}
		if err != nil {
			err = c.fail(seq, err)
			c.finish(call) // the memory of what has been started is the user's again
			return err
		}
	}
	return nil
}

// finish waits for everything that the call has started.
func (c *Comm) finish(call coll.Call) error {
	s := c.scratch
	if len(s.started) > len(s.ends) {
		s.ends = make([]progress.Status, 2*len(s.started))
	}
	ends := s.ends[:len(s.started)]
	err := progress.WaitAll(s.started, ends)
	for i, end := range ends {
		switch x := s.expects[i]; {
		case err != nil:
		case end.Err != nil:
			err = end.Err
		case x.rank >= 0 && end.Bytes != uint64(x.bytes):
			err = lengthError(c, call, x.rank, end.Bytes, uint64(x.bytes))
		}
		ends[i].Err = nil
	}
	s.started, s.expects = s.started[:0], s.expects[:0]
	return err
}

// world is the rank in the job of a Step's Peer: a rank, or Size plus a rank of the
// remote group.
func (c *Comm) world(peer int) int {
	switch {
	case c.Ranks == nil:
		return peer
	case peer >= c.Size:
		return c.Remote.World(peer - c.Size)
	}
	return c.Ranks.World(peer)
}

// rankOf is the rank of a rank of the job, in the local group, or -1.
func (c *Comm) rankOf(world int) int {
	if c.Ranks == nil {
		return world
	}
	return c.Ranks.Rank(world)
}

// numbered is what errors call a rank of the job that is in the communicator, or in its
// remote group.
func (c *Comm) numbered(world int) (rank int, remote bool) {
	if rank = c.rankOf(world); rank < 0 && c.Remote != nil {
		return c.Remote.Rank(world), true
	}
	return rank, false
}

// A message of a collective call has the call and its number in the communicator as
// its tag, and whether the call is nonblocking or persistent: neither matches a blocking one
// (MPI-4.0 §6.12, §6.13). The last barrier's messages and those that prepare flags are
// outside of this range.
//
// The number of a persistent call is that of its Init, and all its Starts have the same. Of
// two such calls of one kind that are 1<<seqBits calls apart, messages can't be told
// apart; they would have to be under way at once to mix.
const (
	collTag    = 1 << 28
	laterTag   = 1 << 29 // of a nonblocking call, besides collTag
	persistTag = 1 << 30 // of a persistent one, besides collTag
	callBits   = 5
	seqBits    = 23
	seqMask    = 1<<seqBits - 1
)

func tagOf(call coll.Call, seq uint32) int32 {
	return collTag | int32(call)<<seqBits | int32(seq&seqMask)
}

// before reports whether a tag is one of a collective call before number seq, which a
// persistent one never is: it may be started behind any.
func before(tag int32, seq uint32) bool {
	return numbered(tag) && tag&persistTag == 0 && (uint32(tag)-seq)&seqMask > seqMask/2
}

// numbered reports whether a tag is one of a collective call.
func numbered(tag int32) bool { return tag >= 0 && tag&collTag != 0 }

// callOf is the call of such a tag.
func callOf(tag int32) coll.Call { return coll.Call(tag >> seqBits & (1<<callBits - 1)) }

// numberOf is the number of the collective call of a tag, one of the last ones.
func (c *Comm) numberOf(tag int32) uint32 {
	now := c.seq.Load()
	return now - (now-uint32(tag))&seqMask
}
