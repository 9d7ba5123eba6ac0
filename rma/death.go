package rma

import (
	"fmt"

	"github.com/weft-mpi/weft/fabric"
)

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

// firstDeadOf is firstDead of some of them.
func (w *Win) firstDeadOf(ranks []int) error {
	if !w.bereft.Load() { // pairs with the store in peerDown
		return nil
	}
	for _, r := range ranks {
		if err := w.targets[r].deadErr(); err != nil {
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

func (e *RankError) Error() string {
	why := e.Err.Error()
	if named, ok := e.Err.(*fabric.Error); ok {
		why = named.Unnumbered()
	}
	return fmt.Sprintf("rank %d of the window: %s", e.Rank, why)
}
func (e *RankError) Unwrap() error { return e.Err }
