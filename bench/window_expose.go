package bench

import (
	"github.com/weft-mpi/weft/mpi"
)

// tagAddress is of the messages with addresses in dynamic windows.
const tagAddress = 107

// oneSided is one rank's part of a one-sided benchmark at one size: a window with
// memory of both ranks, and the buffers of the operations.
type oneSided[T element] struct {
	access
	local []T // this rank's part of the window

	at   int // displacement of the peer's part
	unit int // displacement from an element to the next
	n    int // elements of an operation

	origin, result, compare []T
	sent                    []bool // which elements of an operation are sent; nil: all
}

// access is one rank's part without its memory.
type access struct {
	j     *job
	win   *mpi.Win
	free  func() error
	peer  int
	count int               // operations of a round, each with a place of its own
	call  func(k int) error // operation k of a round
}

// memory holds the buffers of one rank for a run over one datatype: each is made once,
// large enough for the largest size.
type memory[T element] struct {
	buffers[T]
	exposed, origin, result, compare []T
}

// of returns the first n elements of a buffer.
func (m *memory[T]) of(b *[]T, n int) ([]T, error) {
	if *b == nil {
		most := m.o.MaxSize / width[T]() * max(m.o.Window, 1)
		made, err := m.make(max(n, most))
		if err != nil {
			return nil, err
		}
		clear(made) // uses every page, as OSU does
		*b = made
	}
	return (*b)[:n], nil
}

// expose makes the window and the buffers for operations of n elements. All ranks call
// it.
func expose[T element](j *job, m *memory[T], n int) (*oneSided[T], error) {
	w := &oneSided[T]{
		access: access{j: j, peer: 1 - j.c.Rank(), count: max(j.o.Window, 1)},
		unit:   1, n: n, sent: j.o.Derived.mask(n),
	}
	all := n * w.count
	var err error
	if w.origin, err = m.of(&m.origin, all); err != nil {
		return nil, err
	}
	set(w.origin, 'a')
	if j.hasResult() {
		if w.result, err = m.of(&m.result, all); err != nil {
			return nil, err
		}
	}
	if j.Name == "cas_latency" {
		if w.compare, err = m.of(&m.compare, all); err != nil {
			return nil, err
		}
		set(w.compare, 'a')
	}
	switch j.o.Creation {
	case WinCreate:
		err = w.create(m, all)
	case WinDynamic:
		err = w.attach(m, all)
	default:
		err = w.allocate(all)
	}
	if err != nil {
		return nil, err
	}
	set(w.local, 'b')
	places := make([]int, w.count)
	for k := range places {
		places[k] = w.at + k*n*w.unit
	}
	if j.o.Derived.Kind == NotDerived {
		w.call = w.operation(places)
	} else {
		err = w.derived(w.origin, n, places)
	}
	return w, err
}

func (w *oneSided[T]) allocate(all int) error {
	win, err := mpi.WinAllocate[T](w.j.c, all, mpi.WinOptions{})
	if err != nil {
		return err
	}
	w.win, w.local, w.free = win.Win, win.Local(), win.Free
	return nil
}

func (w *oneSided[T]) create(m *memory[T], all int) error {
	local, err := m.of(&m.exposed, all)
	if err != nil {
		return err
	}
	win, err := mpi.WinCreate(w.j.c, local, mpi.WinOptions{})
	if err != nil {
		return err
	}
	w.win, w.local, w.free = win.Win, local, win.Free
	return nil
}

// attach makes a dynamic window. Its displacements are addresses, of which each rank
// tells the other its own.
func (w *oneSided[T]) attach(m *memory[T], all int) error {
	c := w.j.c
	local, err := m.of(&m.exposed, all)
	if err != nil {
		return err
	}
	win, err := mpi.WinCreateDynamic(c, mpi.WinOptions{})
	if err != nil {
		return err
	}
	mine, err := mpi.Attach(win, local)
	if err != nil {
		return err
	}
	theirs := make([]int64, 1)
	if _, err := mpi.Sendrecv(c, []int64{int64(mine)}, w.peer, tagAddress, theirs, w.peer, tagAddress); err != nil {
		return err
	}
	w.win, w.local, w.at, w.unit = win, local, int(theirs[0]), width[T]()
	w.free = func() error {
		// The peer's operations have ended: measure waits for both ranks.
		if err := mpi.Detach(win, local); err != nil {
			return err
		}
		return win.Free()
	}
	return nil
}

// hasResult reports whether the operations have a result beside the origin.
func (j *job) hasResult() bool {
	switch j.Name {
	case "get_acc_latency", "fop_latency", "cas_latency":
		return true
	}
	return false
}

// gets reports whether the operations are gets, which have the origin as their result.
func (j *job) gets() bool { return j.Name == "get_latency" || j.Name == "get_bw" }

// derived sets the call with the origin, which is a slice of elements, and the target of a
// derived type: places are the displacements of operations of n elements.
func (w *access) derived(origin any, n int, places []int) error {
	base, width := baseOf(origin)
	t, count, err := w.j.o.Derived.elements(base, n)
	if err != nil {
		return err
	}
	first, origins := bufOf(t, origin, count), make([]mpi.Buf, len(places))
	for k := range origins {
		origins[k] = first.At(k * n * width)
	}
	if w.j.gets() {
		w.call = func(k int) error { return w.win.Get(origins[k], w.peer, places[k], count, t) }
	} else {
		w.call = func(k int) error { return w.win.Put(origins[k], w.peer, places[k], count, t) }
	}
	return nil
}

// operation is the call that the benchmark times, with the displacements of a round.
func (w *oneSided[T]) operation(places []int) func(k int) error {
	win, peer, parts := w.win, w.peer, make([][]T, w.count)
	for k := range parts {
		parts[k] = w.origin[k*w.n : (k+1)*w.n]
	}
	switch w.j.Name {
	case "get_latency", "get_bw":
		return func(k int) error { return mpi.Get(win, parts[k], peer, places[k]) }
	case "acc_latency":
		return func(int) error { return mpi.Accumulate(win, mpi.Sum, w.origin, peer, w.at) }
	case "get_acc_latency":
		return func(int) error { return mpi.GetAccumulate(win, mpi.Sum, w.origin, w.result, peer, w.at) }
	case "fop_latency":
		return func(int) error { return mpi.FetchAndOp(win, mpi.Sum, &w.origin[0], &w.result[0], peer, w.at) }
	case "cas_latency":
		return func(int) error {
			return mpi.CompareAndSwap(win, &w.compare[0], &w.origin[0], &w.result[0], peer, w.at)
		}
	}
	return func(k int) error { return mpi.Put(win, parts[k], peer, places[k]) }
}

// issue calls the operations of a round.
func (w *access) issue() error {
	for k := range w.count {
		if err := w.call(k); err != nil {
			return err
		}
	}
	return nil
}
