package bench

import (
	"errors"
	"time"

	"github.com/weft-mpi/weft/mpi"
)

// rounds are one rank's calls of a synchronization. All but round may be nil.
type rounds struct {
	enter func() error // before the first round
	open  func() error // before each round; the clock starts behind the first timed one
	round func() error // nil: this rank makes no calls
	leave func() error // behind the last round

	issues  bool // this rank has operations
	suffers bool // the peer has some
	halves  bool // a round has the operations of both ranks, one behind the other
}

// flow is in which directions operations go.
type flow uint8

const (
	pingPongs flow = iota // from rank 0, and back where the target makes calls
	oneWay                // from rank 0
	bothWays              // from both at once
)

// rounds are OSU's calls for the synchronization of the run.
func (w *access) rounds(f flow) (rounds, error) {
	first := w.j.c.Rank() == 0
	r := rounds{issues: first, suffers: !first}
	if !w.j.o.Sync.active() {
		if f == bothWays {
			return r, errors.New("both ranks are targets: the synchronization (-s) is pscw or fence")
		}
		if first {
			w.passive(&r)
		}
		return r, nil
	}
	r.halves = f == pingPongs
	if f != oneWay {
		r.issues, r.suffers = true, true
	}
	if w.j.o.Sync == ByFence {
		r.round = w.fences(f, first)
		return r, nil
	}
	return r, w.pscw(&r, f, first)
}

// passive sets the calls of rank 0 where rank 1 makes none.
func (w *access) passive(r *rounds) {
	win, peer := w.win, w.peer
	kind := mpi.LockShared
	if w.j.Name == "get_acc_latency" { // so in OSU
		kind = mpi.LockExclusive
	}
	lock := func() error { return win.Lock(kind, peer) }
	unlock := func() error { return win.Unlock(peer) }
	around := func(before, after func() error) func() error {
		return func() error {
			if err := before(); err != nil {
				return err
			}
			if err := w.issue(); err != nil {
				return err
			}
			return after()
		}
	}
	switch w.j.o.Sync {
	case ByLock:
		r.round = around(lock, unlock)
	case ByLockAll:
		r.round = around(func() error { return win.LockAll() }, win.UnlockAll)
	case ByFlushLocal:
		r.enter, r.leave = lock, unlock
		r.round = func() error {
			if err := w.issue(); err != nil {
				return err
			}
			return win.FlushLocal(peer)
		}
	default:
		r.enter, r.leave = lock, unlock
		r.round = func() error {
			for k := range w.count {
				if err := w.call(k); err != nil {
					return err
				}
			}
			return win.Flush(peer)
		}
	}
}

// fences are the calls of a round with fences. In a ping-pong rank 1's operation comes
// behind the second one.
func (w *access) fences(f flow, first bool) func() error {
	fence := func() error { return w.win.Fence() }
	switch {
	case f == pingPongs && first:
		return inTurn(fence, w.issue, fence, fence)
	case f == pingPongs:
		return inTurn(fence, fence, w.issue, fence)
	case f == oneWay && !first:
		return inTurn(fence, fence)
	}
	return inTurn(fence, w.issue, fence)
}

// pscw sets the calls of a round with post, start, complete and wait.
func (w *access) pscw(r *rounds, f flow, first bool) error {
	win := w.win
	group, err := win.Group().Incl(w.peer)
	if err != nil {
		return err
	}
	post := func() error { return win.Post(group) }
	start := func() error { return win.Start(group) }
	switch {
	case f == bothWays:
		r.round = inTurn(post, start, w.issue, win.Complete, win.Wait)
	case f == pingPongs && first:
		r.open, r.round = start, inTurn(w.issue, win.Complete, post, win.Wait)
	case f == pingPongs:
		r.round = inTurn(post, win.Wait, start, w.issue, win.Complete)
	case first:
		r.open, r.round = start, inTurn(w.issue, win.Complete)
	default:
		r.round = inTurn(post, win.Wait)
	}
	return nil
}

// inTurn is calls one behind the other, up to the first that fails.
func inTurn(calls ...func() error) func() error {
	return func() error {
		for _, call := range calls {
			if err := call(); err != nil {
				return err
			}
		}
		return nil
	}
}

// measure makes the rounds, and returns the time of the timed ones together. each,
// unless nil, is called with the time of each: then the clock is read in every round,
// and else twice in all.
func (r *rounds) measure(c *mpi.Comm, iterations, warmup int, each func(time.Duration)) (total time.Duration, err error) {
	if err := c.Barrier(); err != nil {
		return 0, err
	}
	if r.round == nil {
		return 0, c.Barrier()
	}
	if r.enter != nil {
		if err := r.enter(); err != nil {
			return 0, err
		}
	}
	var start, before time.Duration
	for i := range warmup + iterations {
		if r.open != nil {
			if err := r.open(); err != nil {
				return 0, err
			}
		}
		if i == warmup {
			start = now()
		}
		if each != nil {
			before = now()
		}
		if err := r.round(); err != nil {
			return 0, err
		}
		if each != nil && i >= warmup {
			each(now() - before)
		}
	}
	total = now() - start
	if r.leave != nil {
		if err := r.leave(); err != nil {
			return 0, err
		}
	}
	return total, c.Barrier()
}
