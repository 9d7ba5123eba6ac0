package bench

import (
	"github.com/weft-mpi/weft/mpi"
)

// tagAddress is of the messages with addresses in dynamic windows.
const tagAddress = 107

// oneSided is one rank's part of a one-sided benchmark at one size: a window with
// memory of both ranks, and the buffers of the operations.
type oneSided[T element] struct {
	j     *job
	win   *mpi.Win
	local []T // this rank's part of the window
	free  func() error

	peer  int
	at    int // displacement of the peer's part
	unit  int // displacement from an element to the next
	n     int // elements of an operation
	count int // operations of a round, each with a place of its own

	origin, result, compare []T
	call                    func(k int) error // operation k of a round
	sent                    []bool            // which elements of an operation are sent; nil: all
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
	w := &oneSided[T]{j: j, peer: 1 - j.c.Rank(), unit: 1, n: n, count: max(j.o.Window, 1), sent: j.o.Derived.mask(n)}
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
	if j.o.Derived.Kind == NotDerived {
		w.call = w.operation()
	} else {
		w.call, err = w.derived()
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

// places are the origins of the operations of a round, and their displacements at the
// target.
func (w *oneSided[T]) places() (parts [][]T, places []int) {
	for k := range w.count {
		parts, places = append(parts, w.origin[k*w.n:(k+1)*w.n]), append(places, w.at+k*w.n*w.unit)
	}
	return parts, places
}

// derived is the call with the origin and the target of a derived type.
func (w *oneSided[T]) derived() (func(k int) error, error) {
	base, err := mpi.TypeOf[T]()
	if err != nil {
		return nil, err
	}
	t, count, err := w.j.o.Derived.elements(base, w.n)
	if err != nil {
		return nil, err
	}
	_, places := w.places()
	return w.j.onBufs(w.win, mpi.As(t, w.origin, count), w.n*width[T](), places), nil
}

// onBufs is the call with origins that begin size bytes apart.
func (j *job) onBufs(win *mpi.Win, first mpi.Buf, size int, places []int) func(k int) error {
	peer, t, count := 1-j.c.Rank(), first.Type(), first.Count()
	origins := make([]mpi.Buf, len(places))
	for k := range origins {
		origins[k] = first.At(k * size)
	}
	if j.gets() {
		return func(k int) error { return win.Get(origins[k], peer, places[k], count, t) }
	}
	return func(k int) error { return win.Put(origins[k], peer, places[k], count, t) }
}

// operation is the call that the benchmark times.
func (w *oneSided[T]) operation() func(k int) error {
	win, peer := w.win, w.peer
	parts, places := w.places()
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
func (w *oneSided[T]) issue() error {
	for k := range w.count {
		if err := w.call(k); err != nil {
			return err
		}
	}
	return nil
}
