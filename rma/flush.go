package rma

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/expiry"
	"github.com/weft-mpi/weft/internal/frames"
	"github.com/weft-mpi/weft/internal/membar"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// A flush of a target waits until the operations that began before it have been handed
// over. Then the fabric confirms the Puts among them, and the target the packets,
// while the last results come.

// flush blocks until this rank's operations with a target have ended: at the target
// too, or with local only here. It returns the first failure of an operation since the
// last one.
func (w *Win) flush(ctx context.Context, target int, local bool) error {
	t := &w.targets[target]
	if !t.touched.Load() {
		w.look()
		return t.deadErr()
	}
	if ctx == nil {
		var place [3]uintptr
		frames.Callers(&place)
		if l := w.e.loop; l.Enter() {
			if !l.Over() {
				return t.flushHere(local, place)
			}
			l.Leave()
		}
	}
	h := w.wait(ctx, "flush", t.alone(), local)
	_, err := progress.WaitResult(&h)
	return err
}

// flushHere flushes the target and waits, where nothing ends the wait before. The caller
// owns the loop, and does not any more when flushHere returns.
func (t *target) flushHere(local bool, place [3]uintptr) error {
	e := t.w.e
	f, r := e.action(t), e.loop.New()
	f.what, f.local = "flush", local
	f.fill(r, kindFlush, place)
	e.add(f, r)
	e.loop.Begin(e, r)
	_, err := e.loop.Await(r)
	return err
}

// flushAll is flush for all targets. A failure of one does not keep it from waiting
// for the others.
func (w *Win) flushAll(ctx context.Context, local bool) error {
	if !w.any.Load() {
		w.look()
		return w.firstDead()
	}
	h := w.wait(ctx, "flush of all targets", nil, local)
	_, err := progress.WaitResult(&h)
	return err
}

// Flushed is Flush where that has nothing to do and nothing to say. It reports whether
// it was so. Local.
func (w *Win) Flushed(target int) bool {
	t := &w.targets[target]
	if w.check != nil || !w.epochs.passive(target) || t.touched.Load() || t.deadErr() != nil {
		return false
	}
	w.look()
	return true
}

func (t *target) alone() []*target { return []*target{t} }

// look makes progress now and then for a program that loops over flushes.
func (w *Win) look() {
	n := atomic.LoadUint64(&w.looks) + 1
	membar.StoreRelease(&w.looks, n) // a lost count is as good
	if n%lookEvery == 0 {
		w.e.loop.Glance(func() bool { return false })
	}
}

// lookEvery is after how many flushes without anything to do a rank polls.
const lookEvery = 64

// deadErr is the death of the target's rank, or nil.
func (t *target) deadErr() error {
	if err := t.dead.Load(); err != nil { // pairs with the store in peerDown
		return *err
	}
	return nil
}

// waiter is an action that the program waits for, which ends when all it has been given
// to wait for, one thing for a start, is done. For the owner.
func (w *Win) waiter(what string, until expiry.Expiry, place [3]uintptr) (*action, progress.Handle) {
	l := w.e.loop
	all, r := &action{w: w, what: what, left: 1}, l.New()
	all.fill(r, kindAll, place)
	r.Until = until
	h := r.Handle()
	all.r = r
	if l.Begin(w.e, r); !l.Over() {
		w.e.add(all, r)
	} else {
		all.over = true
	}
	return all, h
}

// wait starts to flush targets, nil for all that need it.
func (w *Win) wait(ctx context.Context, what string, targets []*target, local bool) (h progress.Handle) {
	until := expiry.Of(ctx)
	var place [3]uintptr
	frames.Callers(&place)
	w.e.loop.Exclusive(func() {
		e := w.e
		if targets == nil {
			targets = w.touched
		}
		var all *action
		if all, h = w.waiter(what, until, place); all.over {
			return
		}
		for _, t := range append([]*target(nil), targets...) {
			if !t.touched.Load() {
				all.note(t.deadErr())
				continue
			}
			all.left++
			f, r := e.action(t), e.loop.New()
			f.what, f.local, f.parent = what, local, all
			f.fill(r, kindFlush, place)
			f.start(r)
		}
		all.done(nil)
	})
	return h
}

// note keeps the first failure.
func (o *action) note(err error) {
	o.failure = cmp.Or(o.failure, err)
}

// done counts one of the things that a wait for several waits for.
func (o *action) done(err error) {
	o.note(err)
	if o.left--; o.left > 0 || o.over {
		return
	}
	o.w.e.remove(o, o.failure)
}

func (o *action) beginFlush() {
	o.number = o.t.count
	o.t.flushes.add(o)
	o.t.advance()
}

// advance begins the flushes whose operations have ended, Gets that the fabric has taken
// apart: confirmations need not wait for those, but the flush does.
func (t *target) advance() {
	for f := t.flushes.first; f != nil; {
		next := f.behind
		if !f.going {
			gets, ok := t.handed(f.number)
			if !ok {
				return
			}
			f.going, f.left = true, gets
			f.confirm()
		}
		f = next
	}
}

// handed counts the operations up to a number that have not ended, and reports whether all
// of them are Gets that the fabric has taken.
func (t *target) handed(number uint64) (n int, ok bool) {
	for o := t.open.first; o != nil && o.number <= number; o = o.behind {
		if !o.get || !o.given {
			return n, false
		}
		n++
	}
	return n, true
}

// ended tells the flushes of the end of an operation.
func (t *target) ended(number uint64) {
	for f := t.flushes.first; f != nil; {
		next := f.behind
		if f.going && f.number >= number {
			f.flushed(nil)
		}
		f = next
	}
	t.advance()
}

// confirm asks for what has to be confirmed.
func (f *action) confirm() {
	t, e := f.t, f.w.e
	f.left++
	switch {
	case t.deadErr() != nil:
		f.flushed(t.deadErr())
		return
	case t.down() != nil:
		return // peerDown ends it, when the memory is out of the peer's reach
	}
	// What another flush has asked for, and not heard of yet, is this one's too.
	if t.native || t.flushes.any(func(o *action) bool { return o.fabric }) {
		t.native, f.kept, t.kept = false, t.kept, f.kept
		f.left++
		f.fabric = true
		if c := f.conn(); c.Busy() || f.flushFabric() == fabric.ErrAgain {
			c.Enqueue(f.r)
		}
	}
	asks := t.unacked || t.flushes.any(func(o *action) bool { return o.asks })
	if !f.local && asks || f.local && t.unacked && f.w.check != nil {
		t.unacked = t.unacked && f.local
		if f.w.check != nil {
			f.w.check.conclude(t, f.local)
		}
		f.left++
		f.asks = true
		f.conn().Post(wire.RFlush, uint64(f.w.id), wire.MakeNumber(e.hdr[:], uint64(f.r.Op())))
	}
	f.flushed(nil)
}

// flushFabric has the fabric flush.
func (f *action) flushFabric() error {
	err := f.conn().Endpoint().Flush(f.r.Op())
	switch {
	case err == nil:
		f.w.e.loop.Rouse()
	case err != fabric.ErrAgain:
		f.flushed(err)
	}
	return err
}

// flushed counts one confirmation.
func (f *action) flushed(err error) {
	f.note(err)
	if f.left--; f.left > 0 {
		return
	}
	f.endFlush()
}

func (f *action) endFlush() {
	t := f.t
	for _, k := range f.kept {
		t.deregister(k.region)
	}
	t.flushes.remove(f)
	err, parent := f.failure, f.parent
	if t.err != nil {
		err, t.err = errors.Join(t.err, err), nil
	}
	switch {
	case err != nil && parent != nil && parent.over:
		t.err = err // the program has given the wait up, so the next flush tells of it
	case t.open.first == nil && t.flushes.first == nil && !t.native && !t.unacked:
		t.settled()
	}
	if parent == nil {
		f.w.e.remove(f, err)
		return
	}
	f.w.e.remove(f, nil)
	parent.done(err)
}

// settled notes that a flush has nothing to do.
func (t *target) settled() {
	if !t.touched.Load() {
		return
	}
	t.touched.Store(false)
	w := t.w
	for i, other := range w.touched {
		if other == t {
			last := len(w.touched) - 1
			w.touched[i] = w.touched[last]
			w.touched = w.touched[:last]
			break
		}
	}
	w.any.Store(len(w.touched) > 0)
}

// onFlush replies when everything that the peer has sent before is done.
func (e *Engine) onFlush(from fabric.Peer, imm, request uint64) bool {
	w := e.win(from, imm)
	if w == nil {
		return e.stray(imm, func() { e.loop.Conn(from).Post(wire.RFlushed, request, wire.MakeRRefused(e.hdr[:], wire.RGone, 1)) })
	}
	bad := w.refused[from]
	delete(w.refused, from)
	e.loop.Conn(from).Post(wire.RFlushed, request, wire.MakeRRefused(e.hdr[:], bad[0], bad[1]))
	return true
}

// onFlushed takes that reply.
func (e *Engine) onFlushed(from fabric.Peer, request uint64, h wire.RRefusedHeader) bool {
	r := e.loop.Named(e, request)
	if r == nil {
		return true // it has been given up
	}
	o := e.ops[r.Found]
	if r.Kind != kindFlush || r.Peer != int32(from) || !o.asks {
		return false
	}
	o.asks = false
	var err error
	if h.Bytes() > 0 {
		err = refusal(o.t.rank, h)
	}
	o.flushed(err)
	return true
}

// abandon ends a wait that the program gives up, and what it waits for goes on.
func (o *action) abandon(err error) {
	if o.r.Kind == kindAll {
		if o.give != nil {
			o.give()
		}
		if o.failure != nil {
			err = errors.Join(err, o.failure) // no other call tells of it
		}
		o.w.e.remove(o, err)
	}
}
