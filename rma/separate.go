package rma

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/weft-mpi/weft/internal/op"
)

// A window with separate memory (MPI-4.0 §12.4) has two copies of each rank's part: the
// private one is the program's, the public one that of operations. What is stored goes
// from the first to the second in the calls that call publish, and what operations have
// changed goes back in those that call acquire: no sooner than §12.7 says they must. All
// operations go in packets, which the owner of the target's loop carries out, and each is
// announced by a packet with the line of its call: so the target can tell which of them
// conflict. Both ranks and the target get a ConflictError then.

// checker is that of a window.
type checker struct {
	w     *Win
	line  func() string // of the program's call on this goroutine
	phase atomic.Uint64 // fences that this rank has ended: stored by synced, pairs with describe

	// The owner's.
	ledger ledger
	copies []copies // by address
	since  access   // what stores of this rank are reported as
	found  []*ConflictError
}

// copies are those of memory of this rank: a part, or what is attached to a dynamic
// window.
type copies struct {
	at              uint64
	private, public []byte
	was             []byte // what the private copy was when it last was made like the public one
}

func newChecker(w *Win, line func() string) *checker {
	return &checker{w: w, line: line, since: access{origin: w.rank, call: accessStore}}
}

// separate adds memory of the program, and returns the public copy. For the owner.
func (c *checker) separate(at uint64, private []byte) (public []byte) {
	i, _ := slices.BinarySearchFunc(c.copies, at, func(x copies, at uint64) int { return cmp.Compare(x.at, at) })
	public = slices.Clone(private)
	c.copies = slices.Insert(c.copies, i, copies{at, private, public, slices.Clone(private)})
	return public
}

// detach takes it out again. For the owner.
func (c *checker) detach(at uint64) {
	c.copies = slices.DeleteFunc(c.copies, func(x copies) bool {
		if x.at == at {
			c.ledger.forget(at, uint64(len(x.private)))
		}
		return x.at == at
	})
}

// each calls f for what of some bytes is in the copies, from an offset to another one.
func (c *checker) each(where spans, f func(x *copies, from, to uint64)) {
	for i := range c.copies {
		x := &c.copies[i]
		for _, s := range where[where.from(x.at+1):] {
			from, to := max(s.at, x.at), min(s.end, x.at+uint64(len(x.private)))
			if from >= to {
				break
			}
			f(x, from-x.at, to-x.at)
		}
	}
}

// stored is what this rank has stored and not published.
func (c *checker) stored() (where spans) {
	for i := range c.copies {
		x := &c.copies[i]
		for from := 0; ; {
			at, end := unlike(x.private, x.was, from)
			if at == end {
				break
			}
			where.add(span{x.at + uint64(at), x.at + uint64(end)})
			from = end
		}
	}
	return where
}

// exposed is the memory that operations of others go to.
func (w *Win) exposed(at uint64, mem []byte) []byte {
	if w.check == nil {
		return mem
	}
	return w.check.separate(at, mem)
}

// publish begins a call that makes this rank's stores visible to operations (rule 5 of
// MPI-4.0 §12.7).
func (w *Win) publish(c Call) {
	if w.check != nil {
		w.check.publish(c)
	}
}

func (c *checker) publish(call Call) {
	line := c.line()
	c.w.e.loop.Exclusive(func() {
		stored := c.stored()
		c.compare(stored, call == CallFence)
		c.each(stored, func(x *copies, from, to uint64) {
			copy(x.public[from:to], x.private[from:to])
			copy(x.was[from:to], x.private[from:to])
		})
		c.follow(call, line)
	})
}

// follow notes the call behind which stores come.
func (c *checker) follow(call Call, line string) { c.since.code, c.since.line = op.Code(call), line }

// compare finds what conflicts with stores of this rank.
func (c *checker) compare(stored spans, hold bool) {
	for _, k := range c.ledger.stores(c.since, stored, hold) {
		c.report(k)
	}
}

// acquire makes visible in the private copy what operations have changed (rule 6).
func (c *checker) acquire() {
	c.each(c.ledger.seen(), func(x *copies, from, to uint64) {
		copy(x.private[from:to], x.public[from:to])
		copy(x.was[from:to], x.public[from:to])
	})
}

// synced ends a call that has its effect, or has failed with err. Calls that end an
// epoch or operations return the conflicts that have been found; those that begin
// one leave them to these.
func (w *Win) synced(ctx context.Context, call Call, target int, err error) error {
	if w.check == nil {
		return err
	}
	return w.check.synced(ctx, call, target, err)
}

func (c *checker) synced(ctx context.Context, call Call, target int, err error) error {
	begins := call == CallLock || call == CallLockAll
	if gaveUp(ctx, err) || begins && err != nil {
		return err
	}
	line := c.line()
	self := target < 0 || target == c.w.rank
	var found []*ConflictError
	c.w.e.loop.Exclusive(func() {
		switch call {
		case CallFence:
			c.ledger.fenced(c.phase.Add(1)) // pairs with describe
			c.acquire()
		case CallSync:
			c.acquire()
		case CallWait, CallTest, CallLock, CallLockAll:
			stored := c.stored()
			c.compare(stored, false)
			if !begins {
				c.ledger.waited()
			}
			c.acquire()
			if stored == nil {
				c.follow(call, line)
			}
		case CallFlush, CallFlushAll:
			if self {
				c.ledger.flushed(c.w.rank, false)
			}
		case CallFlushLocal, CallFlushLocalAll:
			if self {
				c.ledger.flushed(c.w.rank, true)
			}
		}
		if begins {
			return
		}
		// Others may be behind the fence already: what they do there is the next one's.
		var later []*ConflictError
		for _, e := range c.found {
			if call == CallFence && e.phase >= c.phase.Load() {
				later = append(later, e)
			} else {
				found = append(found, e)
			}
		}
		c.found = later
	})
	for _, e := range found {
		err = errors.Join(err, e)
	}
	return err
}

// Conflicts are those that no call has returned yet: the window is to end. Local.
func (w *Win) Conflicts() (err error) {
	if w.check == nil {
		return nil
	}
	w.e.loop.Exclusive(func() {
		for _, e := range w.check.found {
			err = errors.Join(err, e)
		}
		w.check.found = nil
	})
	return err
}

// Separate reports whether the window has separate memory. Local.
func (w *Win) Separate() bool { return w.check != nil }

// Restrict says what the hint accumulate_ops allows concurrent accumulates of an
// element: that they are of one operator, and with none also NoOp. Without it, for the
// empty hint, they may be of any. Local.
func (w *Win) Restrict(hint string) {
	if w.check == nil {
		return
	}
	rule := map[string]opsRule{"same_op": opsSame, "same_op_no_op": opsSameOrNone}[hint]
	w.e.loop.Exclusive(func() { w.check.ledger.rule = rule })
}
