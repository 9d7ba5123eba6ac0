package rma

import (
	"context"
	"fmt"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/progress"
	"github.com/weft-mpi/weft/wire"
)

// Post, Start, Complete and Wait (MPI-4.0 §12.5.2) are signals between two ranks: a
// rank tells each of its group that it has exposed its part, and is told by each that
// the access has ended. They are counted for each rank by itself: a rank may post for
// its next epoch before others have seen all of this one.

// signals are those of one kind that a rank gets in a window.
type signals struct {
	spare   map[int]int  // that nobody has waited for yet, by rank
	awaited map[int]bool // ranks of which one is awaited now
	group   []int        // and those of which it was there already, as long as wait is set
	wait    *action      // what waits, or nil
}

// expect waits for one signal of each rank of a group, as w.
func (s *signals) expect(o *action, ranks []int, dead func(rank int) error) {
	s.wait, s.group = o, ranks
	for _, r := range ranks {
		switch {
		case s.spare[r] > 0:
			if s.spare[r]--; s.spare[r] == 0 {
				delete(s.spare, r)
			}
			continue
		case dead(r) != nil:
			o.note(dead(r))
			continue
		case s.awaited == nil:
			s.awaited = map[int]bool{}
		}
		s.awaited[r] = true
	}
	if len(s.awaited) == 0 {
		s.end(nil)
	}
}

// take counts a signal of a rank.
func (s *signals) take(rank int, err error) {
	switch {
	case s.awaited[rank]:
		delete(s.awaited, rank)
		if len(s.awaited) == 0 {
			s.end(err)
		} else if err != nil {
			s.wait.note(err)
		}
	case err == nil:
		s.add(rank)
	}
}

// add keeps a signal for later.
func (s *signals) add(rank int) {
	if s.spare == nil {
		s.spare = map[int]int{}
	}
	s.spare[rank]++
}

func (s *signals) end(err error) {
	o := s.wait
	s.wait, s.group = nil, nil
	o.done(err)
}

// signal sends a signal to each rank.
func (w *Win) signal(kind uint8, ranks []int) {
	for _, r := range ranks {
		if r == w.rank {
			w.signals(kind).take(r, nil)
			continue
		}
		w.e.loop.Conn(w.targets[r].peer).Post(kind, uint64(w.id), nil)
	}
}

func (w *Win) signals(kind uint8) *signals {
	if kind == wire.RPost {
		return &w.posts
	}
	return &w.ends
}

// await starts to wait for one signal of each rank.
func (w *Win) await(ctx context.Context, what string, s *signals, ranks []int) progress.Handle {
	return w.wait(ctx, what, []*target{}, false, func(all *action) {
		all.left++
		s.expect(all, ranks, func(r int) error { return w.targets[r].deadErr() })
	})
}

// onSignal takes one.
func (e *Engine) onSignal(from fabric.Peer, kind uint8, imm uint64) bool {
	w := e.win(from, imm)
	if w == nil {
		return e.stray(imm, nil)
	}
	w.signals(kind).take(w.rankOf(from), nil)
	return true
}

// peerDown ends what needs a rank that is down.
func (w *Win) peerDown(p fabric.Peer, err error) {
	r := w.rankOf(p)
	if r < 0 {
		return
	}
	t := &w.targets[r]
	err = &RankError{Rank: r, Err: err}
	w.bereft.Store(true)
	t.dead.Store(&err) // pairs with the loads in deadErr and down
	for o := t.open.first; o != nil; o = t.open.first {
		o.end(err)
	}
	for f := t.flushes.first; f != nil; f = t.flushes.first {
		f.note(err)
		f.endFlush()
	}
	for _, k := range t.kept {
		t.deregister(k.region)
	}
	t.kept, t.native, t.unacked = nil, false, false
	t.settled()
	w.posts.take(r, err)
	w.ends.take(r, err)
	w.lostLocks(r)
}

// firstDead is the death of a rank of the window, or nil.
func (w *Win) firstDead() error {
	if !w.bereft.Load() { // pairs with the store in peerDown
		return nil
	}
	for i := range w.targets {
		if err := w.targets[i].deadErr(); err != nil {
			return err
		}
	}
	return nil
}

// RankError is an error about a rank of the window.
type RankError struct {
	Rank int // in the window
	Err  error
}

func (e *RankError) Error() string { return fmt.Sprintf("rank %d of the window: %v", e.Rank, e.Err) }
func (e *RankError) Unwrap() error { return e.Err }

// forsake undoes expect for a wait that is given up.
func (w *Win) forsake(o *action) {
	for _, s := range []*signals{&w.posts, &w.ends} {
		if s.wait != o {
			continue
		}
		for _, r := range s.group {
			if !s.awaited[r] && w.targets[r].deadErr() == nil {
				s.add(r)
			}
		}
		clear(s.awaited)
		s.wait, s.group = nil, nil
	}
}
