package comm

import (
	"cmp"
	"context"
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/expiry"
	"github.com/weft-mpi/weft/internal/membar"
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/progress"
)

// flags is the barrier of ranks that reach one another's memory: dissemination with
// seven ranks at a time. In round k a rank raises a flag of its own, knocks at the
// ranks i·8ᵏ behind it, i = 1 to 7, which look at the flag, and waits for the flags
// of the ranks i·8ᵏ before it. Up to 8 ranks have one round, up to 64 two.
//
// A flag holds the number of the barrier, which only grows: it needs no clearing,
// and a rank that looks late finds it raised still. Its store pairs with the load in
// look; the sleep of a rank that waits is that of progress.Watched.
//
// All fields belong to the owner of the loop while a barrier is under way.
type flags struct {
	in      *Instance
	context uint32 // for reports

	mine   flagBlock
	number uint64 // of the barrier, from 1 on
	call   uint32 // the barrier's number among the communicator's collective calls
	rounds []flagRound
	at     int  // the round under way
	raised bool // its flag is
	next   int  // the first of its sources whose flag may not be raised
}

// radix is how many ranks one round joins.
const radix = 8

// flagRound is one round of a rank's barrier.
type flagRound struct {
	flag    *uint64 // our own
	sources []source
	lookers []looker
}

// source is a rank whose flag this rank loads.
type source struct {
	rank   int
	remote fabric.Remote
	flag   *uint64
	base   uint64 // the flag's value before the first barrier
}

// looker is a rank that loads this rank's flag.
type looker struct {
	rank int
	ep   fabric.Endpoint
}

// flagBlock is a rank's flags of a communicator, a cache line for each round.
type flagBlock struct {
	fabric.Segment
	base uint64 // the value of all of them before the first barrier
}

const flagLine = 64

// flagPool keeps the blocks of communicators that were freed, by length in bytes.
// Their values go on growing: a rank that still looks at one for the freed
// communicator finds what it waits for.
type flagPool struct {
	mu   sync.Mutex
	free map[int][]flagBlock
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

// release gives our flags back. All ranks have raised theirs for the last barrier.
func (f *flags) release() {
	f.mine.base += f.number
	f.in.flags.give(f.mine)
}

// mayShare reports whether the ranks that are to look at our flags, and those at whose we
// look, are such that reach one another's memory.
func (f *flags) mayShare() bool {
	d := f.in.Loop.Via(fabric.Peer(f.rounds[0].sources[0].rank))
	if !d.Caps().Reach {
		return false
	}
	for _, r := range f.rounds {
		for i := range r.sources {
			if f.in.Loop.Via(fabric.Peer(r.sources[i].rank)) != d || f.in.Loop.Via(fabric.Peer(r.lookers[i].rank)) != d {
				return false
			}
		}
	}
	return true
}

// begin begins the next barrier.
func (f *flags) begin(call uint32) {
	f.number++
	f.call = call
	f.at, f.raised, f.next = 0, false, 0
}

// plan lists, for each round, the ranks whose flags a rank loads and the ranks
// that load its own, as ranks of the job, which world gives.
func plan(rank, size int, world func(rank int) int) (rounds []flagRound) {
	for dist := 1; dist < size; dist *= radix {
		var r flagRound
		for i := 1; i < radix && i*dist < size; i++ {
			r.sources = append(r.sources, source{rank: world((rank - i*dist + size) % size)})
			r.lookers = append(r.lookers, looker{rank: world((rank + i*dist) % size)})
		}
		rounds = append(rounds, r)
	}
	return rounds
}

// placeSize is the length of the message with the place of a flag.
const placeSize = 32

// prepare sends the places of this rank's flags to the ranks that load them, and
// maps the flags that this rank loads. It returns 1 if it reaches all of them,
// and 0 otherwise; an error is one of the messages'. A rank that can't share its
// flags sends that too, since the others wait for its message.
func (f *flags) prepare(ctx context.Context, c *Comm) (can byte, err error) {
	ok := f.share()
	var requests []progress.Handle
	var places [][]byte
	for k, r := range f.rounds {
		place := f.place(k, ok)
		for i := range r.sources {
			in := make([]byte, placeSize)
			places = append(places, in)
			tag := int32(flagsTag + k*radix + i)
			requests = append(requests, c.P2P.Irecv(ctx, r.sources[i].rank, f.context, tag, in),
				c.P2P.Isend(ctx, pt2pt.Standard, r.lookers[i].rank, f.context, tag, place))
		}
	}
	if err := progress.WaitAll(requests, nil); err != nil {
		return 0, err
	}
	for _, r := range f.rounds {
		for i := range r.sources {
			ok = r.sources[i].decode(places[0]) && ok
			places = places[1:]
		}
	}
	if !ok {
		return 0, nil
	}
	find := finding{f: f, can: 1}
	err = c.in.Loop.WaitFor(expiry.Of(ctx), &find)
	return find.can, err
}

// share makes our flags, and reports whether the ranks that are to look at them may
// reach them.
func (f *flags) share() (can bool) {
	in, n := f.in, len(f.rounds)*flagLine
	in.Loop.Exclusive(func() {
		if !f.mayShare() {
			return
		}
		if f.mine, can = in.flags.take(n); !can {
			s, err := in.Loop.Via(fabric.Peer(f.rounds[0].sources[0].rank)).Share(n)
			f.mine, can = flagBlock{Segment: s}, err == nil
		}
	})
	for k := range f.rounds {
		if can {
			f.rounds[k].flag = flagAt(f.mine.Bytes[k*flagLine:])
		}
	}
	return can
}

// place is the message that tells where our flag of a round is, or that it is
// nowhere.
func (f *flags) place(k int, can bool) []byte {
	b := make([]byte, placeSize)
	if at := f.mine.Region.Remote; can {
		for i, v := range [...]uint64{at.Addr + uint64(k)*flagLine, 8, at.Key, f.mine.base} {
			binary.LittleEndian.PutUint64(b[8*i:], v)
		}
	}
	return b
}

// decode reads such a message and reports whether the flag is anywhere.
func (s *source) decode(b []byte) bool {
	le := binary.LittleEndian
	s.remote = fabric.Remote{Addr: le.Uint64(b), Len: le.Uint64(b[8:]), Key: le.Uint64(b[16:])}
	s.base = le.Uint64(b[24:])
	return s.remote.Len == 8
}

// finding waits until the connections stand over which we reach the flags of the
// ranks that we look at, and knock at those that look at ours.
type finding struct {
	progress.Passive
	f   *flags
	can byte
}

func (w *finding) Ready() (bool, error) {
	l := w.f.in.Loop
	for _, r := range w.f.rounds {
		for i := range r.sources {
			s, k := &r.sources[i], &r.lookers[i]
			from, to := l.Conn(fabric.Peer(s.rank)), l.Conn(fabric.Peer(k.rank))
			switch {
			case from.Down() != nil:
				return false, from.Down()
			case to.Down() != nil:
				return false, to.Down()
			case s.flag != nil:
				continue
			}
			b, err := from.Endpoint().Reach(s.remote)
			switch {
			case err == fabric.ErrAgain:
				return false, nil
			case err != nil || !canHold(b):
				w.can = 0
				return true, nil
			}
			s.flag, k.ep = flagAt(b), to.Endpoint()
		}
	}
	return true, nil
}

// Ready takes the barrier as far as it goes: flags is a progress.Watched.
func (f *flags) Ready() (bool, error) {
	for ; f.at < len(f.rounds); f.at, f.raised, f.next = f.at+1, false, 0 {
		r := &f.rounds[f.at]
		if !f.raised {
			f.raised = true
			membar.StoreRelease(r.flag, f.mine.base+f.number)
			for i := range r.lookers {
				r.lookers[i].ep.Knock(false)
			}
		}
		if !f.look(r) {
			return false, f.lost(r)
		}
	}
	return true, nil
}

// look reports whether all flags of a round are raised.
func (f *flags) look(r *flagRound) bool {
	for ; f.next < len(r.sources); f.next++ {
		if s := &r.sources[f.next]; atomic.LoadUint64(s.flag)-s.base < f.number {
			return false
		}
	}
	return true
}

// lost is why a flag that is not raised never will be, nil if it may be.
func (f *flags) lost(r *flagRound) error {
	if err := cmp.Or(f.in.P2P.DeadIn(f.context), f.in.P2P.Forbidden(f.context)); err != nil {
		return err
	}
	return f.in.Loop.Conn(fabric.Peer(r.sources[f.next].rank)).Down()
}

// Describe says which rank has not raised its flag.
func (f *flags) Describe(*progress.Request, bool) progress.Info {
	i := progress.Info{Context: f.context}
	if f.at < len(f.rounds) && f.raised && !f.look(&f.rounds[f.at]) {
		i.Needs, i.Caller = true, fabric.Peer(f.rounds[f.at].sources[f.next].rank)
	}
	return i
}
