package rma

import (
	"math"

	"github.com/weft-mpi/weft/internal/datatype"
	"github.com/weft-mpi/weft/internal/frames"
	"github.com/weft-mpi/weft/internal/op"
	"github.com/weft-mpi/weft/progress"
)

// Operations on elements that lie apart: in memory of the origin, of the target, or both.
// Where all of them are one range each the operation is a Transfer, and goes as that.
// Otherwise cursors over the memories take the place of slices. By loads and stores the
// bytes go from one memory to the other without anything between. The fabric gets each
// piece that is one range in both as a Put or Get, if these are few or long
// (typed_native.go). Packets carry packed bytes; the target gets the type once, before
// the first of them (typed_cache.go).

// Elements are elements of a committed type in memory of this rank, which has all that
// they touch.
type Elements struct {
	Type   *datatype.Type
	Count  int
	Mem    []byte
	Origin int // of displacement 0 in Mem
}

// Typed is a Transfer whose elements are those of types (MPI-4.0 §12.3). Those at the
// target, of Src and of Old have equally many bytes, more than none. The zero Elements
// are none, as nil is in a Transfer. The elements of an accumulate are all of Kind; those
// at the target, and of Old, do not overlap.
type Typed struct {
	Code   op.Code
	Kind   op.Kind // of the basic elements; 0 of a Put or Get
	Target int
	At     int // where displacement 0 is in the target's part, in bytes, or would be

	Type  *datatype.Type // of the elements at the target
	Count int

	Src, Old Elements
}

// KindOf is the kind that accumulates know elements of a predefined type as, or 0.
func KindOf(k datatype.Kind) op.Kind {
	switch {
	case k == datatype.Byte:
		return op.Uint8
	case k == datatype.Packed:
		return 0
	}
	return op.Kind(k)
}

// bytes is how many bytes the transfer moves.
func (x *Typed) bytes() int { return x.Count * x.Type.Size() }

// plain makes the same Transfer, and reports whether there is one.
func (x *Typed) plain(p *Transfer) bool {
	off, _, ok := x.Type.Range(x.Count)
	if !ok || isPair(x.Kind) {
		return false
	}
	p.Code, p.Kind, p.Target, p.At = x.Code, x.Kind, x.Target, x.At+off
	p.Src, ok = x.Src.plain()
	if ok {
		p.Old, ok = x.Old.plain()
	}
	return ok
}

// plain is the memory of the elements if it is one range, nil of none.
func (e *Elements) plain() (b []byte, ok bool) {
	if e.Type == nil {
		return nil, true
	}
	off, n, ok := e.Type.Range(e.Count)
	if !ok {
		return nil, false
	}
	return e.Mem[e.Origin+off:][:n:n], true
}

// DoTyped is Do. Local.
func (w *Win) DoTyped(x *Typed) error {
	var p Transfer
	if x.plain(&p) {
		return w.Do(&p)
	}
	if err := w.epochs.op(x.Target); err != nil {
		return err
	}
	done, err := w.directTyped(x)
	if err == nil && done < x.bytes() {
		_, err = w.beginTyped(x, done, false, [3]uintptr{})
	}
	return err
}

// BeginTyped is Begin. Local.
func (w *Win) BeginTyped(x *Typed) (h progress.Handle, err error) {
	var p Transfer
	if x.plain(&p) {
		return w.Begin(&p)
	}
	if err := w.epochs.requestOp(x.Target); err != nil {
		return h, err
	}
	done := 0
	if t := &w.targets[x.Target]; t.mem != nil || t.rank != w.rank { // as in Begin
		if done, err = w.directTyped(x); err != nil {
			return h, err
		}
	}
	if done == x.bytes() {
		w.e.loop.Exclusive(func() { h = w.e.loop.Instant() })
		return h, nil
	}
	var place [3]uintptr
	frames.Callers(&place)
	return w.beginTyped(x, done, true, place)
}

// directTyped carries the transfer out by loads and stores, and returns how many of its
// bytes that were. As in direct, elements that processors do not change at once are for
// the owner of the target's loop. With the first of them that leaves the rest: each
// element is changed once, and those behind it go there too until a flush.
func (w *Win) directTyped(x *Typed) (done int, err error) {
	t := &w.targets[x.Target]
	switch {
	case t.mem == nil && t.rank == w.rank:
		w.ownAttached(*x)
		return x.bytes(), nil
	case t.mem == nil, t.dead.Load() != nil, x.Kind != 0 && t.touched.Load():
		return 0, nil
	}
	var s sides
	if err := s.open(x, t.mem, x.At); err != nil {
		return 0, err
	}
	if x.Kind == 0 {
		s.move(x)
		return x.bytes(), nil
	}
	if s.accumulate(x, false); s.to.Len() == 0 || t.rank != w.rank {
		return s.to.Pos(), nil
	}
	return x.bytes(), w.ownRest(*x, s.to.Pos())
}

// ownAttached carries a transfer out with memory of this rank that has to be looked up.
// As with any other rank a failure is that of the next flush.
func (w *Win) ownAttached(x Typed) {
	line := w.acting()
	w.e.loop.Exclusive(func() {
		if err := w.applyTyped(&x, line); err != nil {
			t := &w.targets[w.rank]
			t.touch()
			t.fail(err)
		}
	})
}

// ownRest carries out as the owner what is left of an accumulate with the own part.
func (w *Win) ownRest(x Typed, done int) (err error) {
	w.e.loop.Exclusive(func() {
		var s sides
		if err = s.open(&x, w.targets[w.rank].mem, x.At); err == nil {
			s.seek(done)
			s.accumulate(&x, true)
			x.owned(w.e)
		}
	})
	return err
}

// owned counts an operation that the owner has carried out in its call.
func (x *Typed) owned(e *Engine) {
	code := x.Code
	if x.Kind == 0 {
		code = codeBytes
	}
	e.counts.done[mannerOf(code, x.Old.Type != nil, false)][pathOwner].add(x.bytes())
}

// sides are cursors over the memories of a transfer. They stand at the same byte.
type sides struct {
	to, src, old datatype.Cursor
	part         []byte // what the elements at the target touch
	from, into   []byte // the memory of src and old
}

// open sets the cursors. The elements at the target are in memory of which at is where
// displacement 0 would be.
func (s *sides) open(x *Typed, mem []byte, at int) error {
	lo, hi, err := x.Type.Span(x.Count)
	if err != nil {
		return err
	}
	s.part = mem[at+lo : at+hi : at+hi]
	if err := s.to.ResetSpan(x.Type, x.Count, s.part); err != nil {
		return err
	}
	return s.openOwn(x)
}

// openOwn sets those over memory of this rank.
func (s *sides) openOwn(x *Typed) error {
	s.from, s.into = x.Src.Mem, x.Old.Mem
	if x.Src.Type != nil {
		if err := s.src.Reset(x.Src.Type, x.Src.Count, x.Src.Mem, x.Src.Origin); err != nil {
			return err
		}
	}
	if x.Old.Type != nil {
		return s.old.Reset(x.Old.Type, x.Old.Count, x.Old.Mem, x.Old.Origin)
	}
	return nil
}

func (s *sides) seek(pos int) {
	s.to.Seek(pos)
	s.src.Seek(pos)
	s.old.Seek(pos)
}

// move copies the bytes of a Put or Get.
func (s *sides) move(x *Typed) {
	if x.Old.Type != nil {
		datatype.Copy(&s.old, &s.to, x.bytes())
	} else {
		datatype.Copy(&s.to, &s.src, x.bytes())
	}
}

// accumulate combines elements from the cursors on, piece by piece that is one range in
// all memories. Unless the owner of the target's loop calls it, it ends before a piece
// with elements that are for the owner.
func (s *sides) accumulate(x *Typed, owner bool) {
	if isPair(x.Kind) {
		if owner {
			s.accumulatePairs(x)
		}
		return
	}
	for s.to.Len() > 0 {
		at := s.to.Pos()
		a, n := s.to.Next(math.MaxInt)
		if !owner && needsOwner(x.Kind.Size(), addressOf(s.part[a:])) {
			s.seek(at)
			return
		}
		for n > 0 {
			b, m := s.src.Next(n)
			if m == 0 {
				m = n // NoOp has no operands
			}
			n -= m
			for m > 0 {
				c, k := s.old.Next(m)
				if k == 0 {
					k = m
				}
				combine(x.Code, x.Kind, s.part[a:a+k], cut(s.from, b, k), cut(s.into, c, k))
				a, b, m = a+k, b+k, m-k
			}
		}
	}
}

// cut is n bytes of memory from at on, or nil if there is none.
func cut(b []byte, at, n int) []byte {
	if b == nil {
		return nil
	}
	return b[at : at+n]
}

// applyTyped does it with memory of this rank that has to be looked up, as
// applyAttached. For the owner.
func (w *Win) applyTyped(x *Typed, line string) error {
	mem, err := w.spanOf(x.Type, x.Count, x.At)
	if err != nil {
		return err
	}
	var s sides
	lo, _, _ := x.Type.Span(x.Count)
	if err := s.open(x, mem, -lo); err != nil {
		return err
	}
	if w.check != nil {
		w.check.ownTyped(x, &s, line)
	}
	if x.Kind == 0 {
		s.move(x)
	} else {
		s.accumulate(x, true)
	}
	x.owned(w.e)
	return nil
}
