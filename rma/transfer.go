package rma

import (
	"github.com/weft-mpi/weft/internal/frames"
	"github.com/weft-mpi/weft/internal/op"
	"github.com/weft-mpi/weft/progress"
)

// Transfer is an operation on the part of one target (MPI-4.0 §12.3).
//
// A Put and a Get have no Code: they copy Src to the target, or from there to Old. An
// accumulate combines Src with the elements by its operator, each element at once as
// others see it. With Old it returns what they were. Src of op.CodeNoOp may be nil. A
// compare-and-swap has Compare, one element, besides.
type Transfer struct {
	Code   op.Code
	Kind   op.Kind // of the elements; 0 of a Put or Get
	Target int
	At     int // of the first element in the target's part, in bytes

	Src, Old, Compare []byte
}

// Do carries the transfer out, or begins it. The memory is the window's until a flush
// covers the operation. Local.
func (w *Win) Do(x *Transfer) error {
	if err := w.epochs.op(x.Target); err != nil {
		return err
	}
	if t := &w.targets[x.Target]; x.Kind == 0 && t.mem != nil && t.dead.Load() == nil { // as in direct, with no call between; pairs with the store in peerDown
		to := t.mem[x.At : x.At+x.bytes()]
		if x.Old != nil {
			move(x.Old, to)
		} else {
			move(to, x.Src)
		}
		return nil
	}
	w.do(x)
	return nil
}

// DoNothing is Do, or Begin if it is named, of an operation with no process (MPI-4.0
// §12.3), which an epoch has to allow. Local.
func (w *Win) DoNothing(named bool) error {
	if named {
		return w.epochs.requestOp(-1)
	}
	return w.epochs.op(-1)
}

func (w *Win) do(x *Transfer) {
	if !w.direct(x) {
		w.begin(x, false, [3]uintptr{})
	}
}

// Begin is Do with a request, which completes when the memory is the caller's again,
// and Old has its elements (MPI-4.0 §12.3.5). Local.
func (w *Win) Begin(x *Transfer) (h progress.Handle, err error) {
	if err := w.epochs.requestOp(x.Target); err != nil {
		return h, err
	}
	// A result that there is none of is the request's failure, so in a dynamic window the
	// own memory is accessed with a request too.
	if t := &w.targets[x.Target]; (t.mem != nil || t.rank != w.rank) && w.direct(x) {
		w.e.loop.Exclusive(func() { h = w.e.loop.Instant() })
		return h, nil
	}
	var place [3]uintptr
	frames.Callers(&place)
	return w.begin(x, true, place), nil
}

// direct carries a transfer out by loads and stores, and reports whether it could.
//
// Elements that processors do not change at once are changed by the owner of the
// target's loop alone, for everybody. What comes behind them goes the same way until a
// flush, so that accumulates keep their order.
func (w *Win) direct(x *Transfer) bool {
	t := &w.targets[x.Target]
	switch {
	case t.mem == nil && t.rank == w.rank:
		own, line := *x, w.acting() // so that x, which no closure has, is not on the heap
		w.e.loop.Exclusive(func() {
			if err := w.applyAttached(&own, line); err != nil {
				t.touch()
				t.fail(err)
			}
		})
		return true
	case t.mem == nil, t.dead.Load() != nil: // pairs with the store in peerDown
		return false
	case x.Kind == 0:
		x.apply(t.mem[x.At : x.At+x.bytes()])
		return true
	case x.bytes() == 0:
		return true
	case t.touched.Load():
		return false
	}
	to := t.mem[x.At : x.At+x.bytes()]
	if needsOwner(x.Kind.Size(), addressOf(to)) {
		if t.rank != w.rank {
			return false
		}
		own := *x
		w.e.loop.Exclusive(func() {
			own.apply(to)
			own.owned(w.e)
		})
		return true
	}
	if x.Compare != nil {
		compareAndSwap(x.Kind, to, x.Compare, x.Src, x.Old)
	} else {
		accumulate(x.Code, x.Kind, to, x.Src, x.Old)
	}
	return true
}

// apply does what the transfer says with elements of a part.
func (x *Transfer) apply(to []byte) {
	switch {
	case x.Compare != nil:
		swap(x.Kind, to, x.Compare, x.Src, x.Old)
	case x.Kind != 0:
		combine(x.Code, x.Kind, to, x.Src, x.Old)
	case x.Old != nil:
		move(x.Old, to)
	default:
		move(to, x.Src)
	}
}

// move copies src to dst in pieces: a copy of a megabyte or more goes around the caches
// in Go's runtime, which takes half as long again where the data are used soon.
func move(dst, src []byte) {
	const piece = 256 << 10
	for len(src) > piece {
		copy(dst[:piece], src[:piece])
		dst, src = dst[piece:], src[piece:]
	}
	copy(dst, src)
}

// applyAttached does it with memory of this rank that has to be looked up: in a dynamic
// window, or in one with separate memory.
func (w *Win) applyAttached(x *Transfer, line string) error {
	n := uint64(x.bytes())
	to := w.find(uint64(x.At), n)
	if to == nil && n > 0 {
		return &RangeError{w.rank, uint64(x.At), n}
	}
	if w.check != nil {
		w.check.own(x, line)
	}
	x.apply(to)
	x.owned(w.e)
	return nil
}

// combine accumulates operands to elements of this rank's part, for the owner of its
// loop, or of a part that this rank reaches.
func combine(c op.Code, k op.Kind, to, operands, old []byte) {
	if needsOwner(k.Size(), addressOf(to)) {
		accumulateOwned(c, k, to, operands, old)
	} else {
		accumulate(c, k, to, operands, old)
	}
}

// swap is combine for a compare-and-swap.
func swap(k op.Kind, to, compare, value, old []byte) {
	if needsOwner(k.Size(), addressOf(to)) {
		compareAndSwapOwned(to, compare, value, old)
	} else {
		compareAndSwap(k, to, compare, value, old)
	}
}

// Swaps returns why elements of a kind can't be compared and swapped, or nil.
func Swaps(k op.Kind) error { return comparesBits(k) }

// bytes is how many bytes of the target's part the transfer is about.
func (x *Transfer) bytes() int { return max(len(x.Src), len(x.Old)) }

// begin has the loop carry the transfer out.
func (w *Win) begin(x *Transfer, named bool, place [3]uintptr) (h progress.Handle) {
	var act *access
	if w.check != nil {
		act = w.check.describe(x, named, w.acting())
	}
	if l := w.e.loop; l.Enter() {
		defer l.Leave() // as in Exclusive
		return w.transfer(x, named, act, place)
	}
	return w.beginInTurn(x, named, act, place)
}

func (w *Win) beginInTurn(x *Transfer, named bool, act *access, place [3]uintptr) (h progress.Handle) {
	own := *x // as in direct
	w.e.loop.Exclusive(func() { h = w.transfer(&own, named, act, place) })
	return h
}

// transfer is begin for the owner.
func (w *Win) transfer(x *Transfer, named bool, act *access, place [3]uintptr) (h progress.Handle) {
	l := w.e.loop
	o, r := w.e.action(&w.targets[x.Target]), l.New()
	o.named, o.get, o.cas, o.code, o.kind, o.elem = named, x.Old != nil, x.Compare != nil, x.Code, x.Kind, max(x.Kind.Size(), 1)
	o.at, o.src, o.dst, o.compare, o.n, o.act = x.At, x.Src, x.Old, x.Compare, x.bytes(), act
	o.fill(r, kindTransfer, place)
	if !named {
		o.start(r)
		return h
	}
	if !l.Over() {
		w.e.add(o, r)
	}
	h = r.Handle()
	l.Begin(w.e, r)
	return h
}
