package capi

import (
	"math"

	"github.com/weft-mpi/weft/mpi"
)

// The basic elements of messages (MPI-5.0 §5.1.11). Package mpi counts them, but for types
// with raw elements, such as a long double, which it has as so many bytes. All constructors
// but that of structs repeat one type, so what is said of a part of its bytes is said of one
// of those.

// countBasics sets how many basic elements a type with raw ones has.
func (l *layout) countBasics() {
	l.basics = 0
	l.blocks(func(p *layout, n int) bool {
		l.basics += n * p.count()
		return true
	})
}

// count is how many basic elements the type has.
func (l *layout) count() int {
	if l.raw {
		return l.basics
	}
	return mpi.Status{Bytes: uint64(l.t.Size())}.Elements(l.t)
}

// blocks calls visit with the parts of a type and how many elements of each follow one
// another, until that returns false.
func (l *layout) blocks(visit func(p *layout, n int) bool) {
	if len(l.parts) == 1 {
		if size := l.parts[0].t.Size(); size > 0 {
			visit(l.parts[0], l.t.Size()/size)
		}
		return
	}
	for i, p := range l.parts {
		if !visit(p, l.lens[i]) {
			return
		}
	}
}

// elements is how many basic elements a message of some bytes has, or mpi.Undefined if the
// last one is not whole.
func (l *layout) elements(bytes int) int {
	size := l.t.Size()
	switch {
	case bytes < 0:
		return mpi.Undefined
	case !l.raw:
		return mpi.Status{Bytes: uint64(bytes)}.Elements(l.t)
	case bytes == 0:
		return 0
	case size == 0:
		return mpi.Undefined
	}
	n, rest := bytes/size*l.basics, bytes%size
	if l.predefined != nil || l.fortran != nil {
		switch {
		case rest == 0:
			return n
		case l.basics == 2 && rest == rawAlign: // the value of a pair
			return n + 1
		}
		return mpi.Undefined
	}
	l.blocks(func(p *layout, k int) bool {
		size := p.t.Size()
		here := min(rest, k*size)
		e := p.elements(here)
		if n, rest = n+e, rest-here; e == mpi.Undefined {
			n = mpi.Undefined
		}
		return rest > 0 && n >= 0
	})
	return n
}

// elementBytes is how many bytes the first basic elements of a message have; false if no
// message has so many.
func (l *layout) elementBytes(n int) (bytes int, ok bool) {
	switch {
	case n == 0:
		return 0, true
	case n < 0:
		return 0, false
	case !l.raw:
		var st mpi.Status
		err := st.SetElements(l.t, n)
		return int(st.Bytes), err == nil
	case l.basics == 0 || n/l.basics > math.MaxInt/l.t.Size():
		return 0, false
	}
	bytes, rest := n/l.basics*l.t.Size(), n%l.basics
	if l.predefined != nil || l.fortran != nil {
		return bytes + rest*rawAlign, true // of a pair there may be the value alone
	}
	l.blocks(func(p *layout, k int) bool {
		here := min(rest, k*p.count())
		b, _ := p.elementBytes(here)
		bytes, rest = bytes+b, rest-here
		return rest > 0
	})
	return bytes, true
}

func getElements(a *Args) error {
	n, err := a.elementsIn()
	if err == nil {
		a.setCount(2, n)
	}
	return err
}

func getElementsX(a *Args) error {
	n, err := a.elementsIn()
	if err == nil {
		a.setAint(2, n)
	}
	return err
}

// elementsIn is how many basic elements of the type that argument 1 is the message of the
// status that argument 0 is has.
func (a *Args) elementsIn() (int, error) {
	st := a.status(0)
	l, _ := a.part(1)
	switch {
	case l == nil:
		return 0, errDatatype
	case st == nil:
		return 0, errNull
	}
	return l.elements(int(st.get().Bytes)), nil
}

func statusSetElements(a *Args) error {
	st := a.status(0)
	l, _ := a.part(1)
	switch {
	case l == nil:
		return errDatatype
	case st == nil:
		return errNull
	}
	n, ok := l.elementBytes(a.count(2))
	if !ok {
		return fail(mpi.ErrCount, "no message of the type has %d basic elements", a.count(2))
	}
	st.bytes = [2]int32{int32(uint32(n)), int32(n >> 32)}
	return nil
}

func statusSetElementsX(a *Args) error { return statusSetElements(a) }
