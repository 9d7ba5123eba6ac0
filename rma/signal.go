package rma

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/expiry"
	"github.com/weft-mpi/weft/internal/membar"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// Post, Start, Complete and Wait (MPI-4.0 §12.5.2) are signals between two ranks: a
// rank tells each of its group that it has exposed its part, and is told by each that
// the access has ended. They are counted for each rank by itself, and counts only grow:
// a rank may post for its next epoch before others have seen all of this one.
//
// A rank that reaches the other's control block stores its count there and knocks. The
// others send packets.

// signals are those of one kind that a rank gets in a window.
type signals struct {
	words signalBlock
	kind  int
	heard map[int]uint64 // by packets, of the ranks that do not reach the words. The owner's
	taken []uint64       // how many of each rank's calls have waited for. The call's
}

// signalBlock is the part of a control block with the counts: two words for each rank
// of the window, which that rank stores.
type signalBlock []uint64

// The kinds of signals.
const (
	signalPost = iota
	signalEnd
	signalKinds
)

func (b signalBlock) word(kind, origin int) *uint64 { return &b[signalKinds*origin+kind] }

// came reports whether a rank's next signal is there, as far as words say.
func (s *signals) came(rank int) bool {
	return atomic.LoadUint64(s.words.word(s.kind, rank)) > s.taken[rank] // pairs with the store in signal
}

// all is came for a group. If all signals are there, it takes them.
func (s *signals) all(ranks []int) bool {
	if s.taken == nil {
		s.taken = make([]uint64, len(s.words)/signalKinds)
	}
	for _, r := range ranks {
		if !s.came(r) {
			return false
		}
	}
	for _, r := range ranks {
		s.taken[r]++
	}
	return true
}

// signalWait is the condition that there is a signal of each rank of a group, or its
// death. A wait that is given up has taken none.
type signalWait struct {
	w     *Win
	s     *signals
	what  string
	ranks []int
	next  int   // the first whose signal may not be there
	dead  error // of the first of them that is
}

func (x *signalWait) Ready() (bool, error) {
	for ; x.next < len(x.ranks); x.next++ {
		r := x.ranks[x.next]
		if x.there(r) {
			continue
		}
		err := x.w.targets[r].deadErr()
		if err == nil {
			return false, nil
		}
		x.dead = cmp.Or(x.dead, err)
	}
	return true, nil
}

// there reports whether a rank's signal is. For the owner.
func (x *signalWait) there(rank int) bool { return x.s.came(rank) || x.s.heard[rank] > x.s.taken[rank] }

// Describe says what is waited for.
func (x *signalWait) Describe(_ *progress.Request, words bool) (i progress.Info) {
	if words {
		i.What = x.what + inWindow(x.w)
		if x.next < len(x.ranks) {
			of := map[int]string{signalPost: "Post", signalEnd: "Complete"}[x.s.kind]
			i.State = fmt.Sprintf("waits for the %s of rank %d of the window", of, x.ranks[x.next])
		}
	}
	return i
}

// take takes the signals that are there, once there is nothing left to wait for.
func (x *signalWait) take() {
	for _, r := range x.ranks {
		if x.there(r) {
			x.s.taken[r]++
		}
	}
}

// await waits for one signal of each rank. ended says that it has waited for all, and
// err that one of them is dead, or why it has given up.
func (w *Win) await(ctx context.Context, what string, s *signals, ranks []int) (ended bool, err error) {
	if s.all(ranks) {
		return true, nil
	}
	x := &signalWait{w: w, s: s, what: what, ranks: ranks}
	if err := w.e.loop.WaitFor(expiry.Of(ctx), x); err != nil {
		return false, err
	}
	w.e.loop.Exclusive(x.take)
	return true, x.dead
}

// awaited is await without waiting.
func (w *Win) awaited(what string, s *signals, ranks []int) (ended bool, err error) {
	if s.all(ranks) {
		return true, nil
	}
	x := &signalWait{w: w, s: s, what: what, ranks: ranks}
	w.e.loop.Glance(func() bool {
		if ended, _ = x.Ready(); ended {
			x.take()
		}
		return ended
	})
	return ended, x.dead
}

// signal gives a signal to each rank. Calls that give signals of one kind come one
// after the other.
func (w *Win) signal(kind int, ranks []int) {
	packets := false
	for _, r := range ranks {
		t := &w.targets[r]
		if t.signals == nil {
			packets = true
			continue
		}
		p := t.signals.word(kind, w.rank)
		membar.StoreRelease(p, atomic.LoadUint64(p)+1) // pairs with the load in came
		if r == w.rank {
			w.e.loop.Exclusive(func() {}) // whose end looks at conditions
		} else {
			t.ep.Knock(false)
		}
	}
	if !packets {
		return
	}
	w.e.loop.Exclusive(func() {
		for _, r := range ranks {
			if t := &w.targets[r]; t.signals == nil {
				w.e.loop.Conn(t.peer).Post([]uint8{wire.RPost, wire.RComplete}[kind], uint64(w.id), nil)
			}
		}
	})
}

// onSignal takes a packet with one.
func (e *Engine) onSignal(from fabric.Peer, kind uint8, imm uint64) bool {
	w := e.win(from, imm)
	if w == nil {
		return e.stray(imm, nil)
	}
	s := &w.ends
	if kind == wire.RPost {
		s = &w.posts
	}
	if s.heard == nil {
		s.heard = map[int]uint64{}
	}
	s.heard[w.rankOf(from)]++
	return true
}
