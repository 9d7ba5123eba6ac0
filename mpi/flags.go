package mpi

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/membar"
	"github.com/weft-mpi/weft/progress"
	"github.com/weft-mpi/weft/pt2pt"
)

// The barrier of ranks that reach each other's memory goes by flags. It is
// dissemination with more than one rank at a time: in round k a rank raises a flag
// of its own, wakes those that look at it, and waits for the flags of the ranks i·8ᵏ
// before it, i = 1 to 7. So up to eight ranks have one round, 64 have two. A flag
// holds the number of the barrier, which only grows: it needs no clearing, and a
// rank that is late finds it raised still.
//
// A flag's store pairs with the load in look. The sleep of a rank that waits is that
// of progress.Watched.

// radix is how many ranks one round joins.
const radix = 8

// barrier is a communicator's barrier, of one rank. Which way it goes is the same
// at all ranks at all times: the first barrier goes by messages, since most
// communicators have one at most; the second prepares the flags and goes by messages
// that also tell whether every rank could.
type barrier struct {
	p2p        *pt2pt.Engine
	loop       *progress.Loop
	flags      *flagPool
	cid        uint32 // of the library's messages
	rank, size int

	mu     sync.Mutex // for the whole of a barrier
	calls  uint64
	way    way
	broken error // of an earlier barrier: the ranks are no longer in step

	// By flags; the loop's owner's while a barrier is under way.
	mine   flagBlock
	number uint64 // of the barrier, from 1 on
	rounds []flagRound
	at     int  // the round under way
	raised bool // its flag is
	next   int  // the first of its sources whose flag may not be raised
}

type way uint8

const (
	untried way = iota
	byFlags
	byMessages
)

// flagRound is what a rank does in a round.
type flagRound struct {
	flag     *uint64 // our own
	sources  []source
	watchers []fabric.Endpoint // who looks at our flag
}

// source is a rank whose flag we look at.
type source struct {
	peer   fabric.Peer
	remote fabric.Remote
	flag   *uint64
	base   uint64 // the flag's value at barrier 0
}

// flagBlock is a rank's flags of a communicator, a cache line each.
type flagBlock struct {
	fabric.Segment
	base uint64 // the value of all of them at barrier 0
}

const flagLine = 64

// flagPool keeps the blocks of communicators that were freed. Their values go on
// growing: a rank that still looks at one for the freed communicator finds what it
// waits for.
type flagPool struct {
	mu   sync.Mutex
	free map[int][]flagBlock // by length in bytes
}

func (p *flagPool) take(n int) (b flagBlock, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l := p.free[n]; len(l) > 0 {
		b, p.free[n] = l[len(l)-1], l[:len(l)-1]
		return b, true
	}
	return b, false
}

func (p *flagPool) give(b flagBlock) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free == nil {
		p.free = map[int][]flagBlock{}
	}
	p.free[len(b.Bytes)] = append(p.free[len(b.Bytes)], b)
}

func newBarrier(p2p *pt2pt.Engine, loop *progress.Loop, flags *flagPool, cid uint32, rank, size int) *barrier {
	return &barrier{p2p: p2p, loop: loop, flags: flags, cid: cid, rank: rank, size: size}
}

// free gives the flags back. No barrier of the communicator is under way here, so
// all ranks have raised their flags for the last one.
func (b *barrier) free() {
	if !b.mu.TryLock() {
		return // one is, against the rules
	}
	defer b.mu.Unlock()
	if b.way == byFlags && b.broken == nil {
		b.mine.base += b.number
		b.flags.give(b.mine)
		b.way = byMessages
	}
}

// wait blocks until all ranks have called it as often as this one.
func (b *barrier) wait(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.broken != nil {
		return b.broken
	}
	err := b.step(ctx)
	if err != nil {
		b.broken = fmt.Errorf("an earlier collective call has failed, so that the ranks are not in step: %w", err)
	}
	return err
}

func (b *barrier) step(ctx context.Context) error {
	b.calls++
	switch {
	case b.way == byFlags:
		b.number++
		b.at, b.raised, b.next = 0, false, 0
		return b.loop.WaitFor(progress.Expires(ctx), b)
	case b.way == byMessages || b.calls == 1 || b.size == 1:
		_, err := b.messages(ctx, barrierTag, true)
		return err
	}
	can, err := b.prepare(ctx)
	if err != nil {
		return err
	}
	all, err := b.messages(ctx, barrierTag, can)
	if b.way = byMessages; all {
		b.way = byFlags
	}
	return err
}

// Tags of the library's messages. Those of a barrier are followed by a step, which
// is a power of two, or by a round and a number in it. Finalize has its own: it is
// in step also where a barrier of the user's has failed.
const (
	barrierTag  = 0
	finalizeTag = 1 << 29
	flagsTag    = 1 << 30
)

// messages is the barrier by messages: in round k each rank hears from the one 2ᵏ
// before it and tells the one 2ᵏ after it, ⌈log₂ n⌉ rounds in all. It answers
// whether all ranks have said yes.
func (b *barrier) messages(ctx context.Context, tag int, yes bool) (all bool, err error) {
	out, in := [1]byte{1}, [1]byte{}
	for step := 1; step < b.size; step *= 2 {
		if !yes {
			out[0] = 0
		}
		to, from := (b.rank+step)%b.size, (b.rank-step%b.size+b.size)%b.size
		if err := b.exchange(ctx, out[:], to, in[:], from, tag+step); err != nil {
			return false, err
		}
		yes = yes && in[0] == 1
	}
	return yes, nil
}

func (b *barrier) exchange(ctx context.Context, out []byte, to int, in []byte, from, tag int) error {
	if b.p2p.TrySend(to, b.cid, int32(tag), out) {
		_, err := b.p2p.Recv(ctx, from, b.cid, int32(tag), in)
		return err
	}
	both := b.p2p.Isendrecv(ctx, b.cid, out, to, int32(tag), in, from, int32(tag))
	_, err := progress.WaitResult(&both)
	return err
}

// prepare tells the ranks that look at our flags where they are, and finds those
// that we look at. It answers whether all are reached. An error is one of the
// messages.
func (b *barrier) prepare(ctx context.Context) (can bool, err error) {
	b.rounds = nil
	var to [][]int
	for dist := 1; dist < b.size; dist *= radix {
		var r flagRound
		var watchers []int
		for i := 1; i < radix && i*dist < b.size; i++ {
			r.sources = append(r.sources, source{peer: fabric.Peer((b.rank - i*dist + b.size) % b.size)})
			watchers = append(watchers, (b.rank+i*dist)%b.size)
		}
		b.rounds, to = append(b.rounds, r), append(to, watchers)
	}
	can = b.share()
	var requests []progress.Handle
	var in [][]byte
	for k := range b.rounds {
		r := &b.rounds[k]
		var place [32]byte
		if can {
			at := b.mine.Region.Remote
			encodePlace(place[:], fabric.Remote{Addr: at.Addr + uint64(k)*flagLine, Len: 8, Key: at.Key}, b.mine.base)
		}
		for i, s := range r.sources {
			buf := make([]byte, len(place))
			in = append(in, buf)
			tag := int32(flagsTag + 1 + k*radix + i)
			requests = append(requests, b.p2p.Irecv(ctx, int(s.peer), b.cid, tag, buf),
				b.p2p.Isend(ctx, to[k][i], b.cid, tag, place[:]))
		}
	}
	if err := progress.WaitAll(requests, nil); err != nil {
		return false, err
	}
	for k := range b.rounds {
		for i := range b.rounds[k].sources {
			s := &b.rounds[k].sources[i]
			s.remote, s.base = decodePlace(in[0])
			in = in[1:]
			can = can && s.remote.Len == 8 && aligned(s.remote)
		}
	}
	if !can {
		return false, nil
	}
	find := finding{b: b, to: to, can: true}
	if err := b.loop.WaitFor(progress.Expires(ctx), &find); err != nil {
		return false, err
	}
	return find.can, nil
}

// share makes our flags, and reports whether all partners may reach them.
func (b *barrier) share() (can bool) {
	n := len(b.rounds) * flagLine
	b.loop.Exclusive(func() {
		first := b.loop.Via(b.rounds[0].sources[0].peer)
		for _, r := range b.rounds {
			for _, s := range r.sources {
				if b.loop.Via(s.peer) != first {
					return
				}
			}
		}
		if !first.Caps().Reach {
			return
		}
		var ok bool
		if b.mine, ok = b.flags.take(n); !ok {
			s, err := first.Share(n)
			if err != nil {
				return
			}
			b.mine = flagBlock{Segment: s}
		}
		can = true
	})
	if !can {
		return false
	}
	for k := range b.rounds {
		b.rounds[k].flag = flagAt(b.mine.Bytes, k*flagLine)
	}
	return true
}

func encodePlace(b []byte, r fabric.Remote, base uint64) {
	for i, v := range [...]uint64{r.Addr, r.Len, r.Key, base} {
		binary.LittleEndian.PutUint64(b[8*i:], v)
	}
}

func decodePlace(b []byte) (r fabric.Remote, base uint64) {
	le := binary.LittleEndian
	return fabric.Remote{Addr: le.Uint64(b), Len: le.Uint64(b[8:]), Key: le.Uint64(b[16:])}, le.Uint64(b[24:])
}

// finding waits until the connections stand over which we reach the flags of the
// ranks that we look at, and wake those that look at ours.
type finding struct {
	b   *barrier
	to  [][]int
	can bool
}

func (f *finding) Ready() (bool, error) {
	l := f.b.loop
	for k := range f.b.rounds {
		r := &f.b.rounds[k]
		for i := range r.sources {
			s := &r.sources[i]
			if s.flag != nil {
				continue
			}
			c := l.Conn(s.peer)
			if err := c.Down(); err != nil {
				return false, err
			}
			m, err := c.Endpoint().Reach(s.remote)
			switch {
			case err == fabric.ErrAgain:
				return false, nil
			case err != nil:
				f.can = false
				return true, nil
			}
			s.flag = flagAt(m, 0)
		}
		for len(r.watchers) < len(f.to[k]) {
			c := l.Conn(fabric.Peer(f.to[k][len(r.watchers)]))
			if err := c.Down(); err != nil {
				return false, err
			}
			r.watchers = append(r.watchers, c.Endpoint())
		}
	}
	return true, nil
}

// Ready takes the barrier as far as it goes: it makes barrier a progress.Watched.
func (b *barrier) Ready() (bool, error) {
	for b.at < len(b.rounds) {
		r := &b.rounds[b.at]
		if !b.raised {
			b.raised = true
			membar.StoreRelease(r.flag, b.mine.base+b.number)
			for _, ep := range r.watchers {
				ep.Knock(false)
			}
		}
		if !b.look(r) {
			return false, b.why(r)
		}
		b.at, b.raised, b.next = b.at+1, false, 0
	}
	return true, nil
}

// look reports whether all flags of a round are raised.
func (b *barrier) look(r *flagRound) bool {
	for ; b.next < len(r.sources); b.next++ {
		if s := &r.sources[b.next]; atomic.LoadUint64(s.flag)-s.base < b.number {
			return false
		}
	}
	return true
}

// why is why a flag will never be raised, nil if it may be.
func (b *barrier) why(r *flagRound) error {
	if err := b.p2p.Dead(); err != nil {
		return err
	}
	return b.loop.Conn(r.sources[b.next].peer).Down()
}

// Needs makes barrier a progress.Needing.
func (b *barrier) Needs() (fabric.Peer, uint32, bool) {
	if b.at >= len(b.rounds) {
		return 0, 0, false
	}
	r := &b.rounds[b.at]
	if !b.raised || b.look(r) {
		return 0, 0, false
	}
	return r.sources[b.next].peer, b.cid, true
}
