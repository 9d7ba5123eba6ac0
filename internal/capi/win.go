package capi

import (
	"sync"

	"github.com/weft-mpi/weft/mpi"
)

// parts is what C may ask of a window and package mpi does not tell.
type parts struct {
	of []part // by rank; nil of a dynamic window

	mu    sync.Mutex
	empty map[uint64]int // memory of no bytes that is attached, by address, and how often
}

// part is a rank's part of a window.
type part struct{ bytes, unit int64 }

// partsOf has the parts of each window: an attribute ends with its window.
var partsOf = mpi.NewWinKeyval[*parts](nil)

// winOptions is what the arguments say of a new window, and the parts of all ranks. A unit
// that is none fails at all ranks, by the call that makes the window.
func (a *Args) winOptions(c *mpi.Comm, size, unit, info int) (mpi.WinOptions, *parts, error) {
	mine := part{int64(a.count(size)), int64(a.count(unit))}
	o := mpi.WinOptions{DispUnit: int(mine.unit), Adjoining: true, Info: a.info(info)}
	if o.DispUnit == 0 {
		o.DispUnit = -1
	}
	if c == nil || c.TestInter() {
		return o, nil, nil // windows of those are refused
	}
	all := make([]int64, 2*c.Size())
	if err := mpi.Allgather(c, []int64{mine.bytes, mine.unit}, all); err != nil {
		return o, nil, err
	}
	p := &parts{of: make([]part, c.Size())}
	for r := range p.of {
		p.of[r] = part{all[2*r], all[2*r+1]}
	}
	return o, p, nil
}

// winCreate is MPI_Win_create. Memory that is none fails at all ranks, as a wrong unit does.
func winCreate(a *Args) error {
	c := a.comm(4)
	o, p, err := a.winOptions(c, 1, 2, 3)
	if err != nil {
		return err
	}
	b, wrong := a.bytes(0, 1)
	if wrong != nil {
		o.DispUnit = -1
	}
	w, err := mpi.WinCreate(c, b, o)
	switch {
	case err == nil:
		return a.setWin(5, w.Win, int(a.words[0]), p)
	case wrong != nil:
		return wrong
	}
	return err
}

func winAllocate(a *Args) error { return a.allocated(mpi.WinAllocate[byte]) }

func winAllocateShared(a *Args) error { return a.allocated(mpi.WinAllocateShared[byte]) }

// allocated makes a window whose memory is new.
func (a *Args) allocated(allocate func(*mpi.Comm, int, mpi.WinOptions) (mpi.Window[byte], error)) error {
	c := a.comm(3)
	o, p, err := a.winOptions(c, 0, 1, 2)
	if err != nil {
		return err
	}
	w, err := allocate(c, a.count(0), o)
	if err != nil {
		return err
	}
	base := startOf(w.Local())
	if base == 0 {
		if base, _, err = p.reach(w.Win, c.Rank()); err != nil {
			return err
		}
	}
	a.setAint(4, base)
	return a.setWin(5, w.Win, base, p)
}

func winCreateDynamic(a *Args) error {
	w, err := mpi.WinCreateDynamic(a.comm(1), mpi.WinOptions{Info: a.info(0)})
	if err != nil {
		return err
	}
	return a.setWin(2, w, bottom, &parts{})
}

// setWin gives a new window a handle, which argument i points to. Whatever its communicator
// has, its errors are fatal until the program wants something else (MPI-4.0 §9.3).
func (a *Args) setWin(i int, w *mpi.Win, base int, p *parts) error {
	const errorsAreFatal = 0x141
	if err := w.SetErrhandler(noteWin); err != nil {
		return err
	}
	if err := partsOf.Set(w, p); err != nil {
		return err
	}
	h, err := wins.add(&win{w}, func(s *slot) {
		s.ints = [3]int32{int32(w.DispUnit()), int32(w.Flavor()), int32(w.Model())}
		s.words = [3]int64{int64(base), int64(w.Size())}
		s.setHandler(errorsAreFatal)
	})
	if err == nil {
		*a.handleAt(i) = uint64(h)
	}
	return err
}

// winFree is MPI_Win_free. Some errors leave the window as it is, others come with its end;
// a window that has ended explains nothing.
func winFree(a *Args) error {
	var w *mpi.Win
	if o := wins.get(*a.handleAt(0)); o != nil { // else another thread has just freed it
		w = o.w
	}
	err := w.Free()
	if w.Explain() == "" {
		drop(a, 0, wins, winNull)
	}
	return err
}

// winSharedQuery is MPI_Win_shared_query. MPI_PROC_NULL is the first rank that has memory.
func winSharedQuery(a *Args) error {
	w, rank := a.win(0), a.int(1)
	p, _, err := partsOf.Get(w)
	switch {
	case err != nil:
		return err
	case w.Flavor() == mpi.FlavorDynamic:
		return fail(mpi.ErrRMAFlavor, "a dynamic window has no parts: ask windows of MPI_Win_allocate_shared, MPI_Win_allocate or MPI_Win_create")
	case rank == mpi.ProcNull:
		rank = max(p.neighbor(-1, 1), 0)
	case rank < 0 || rank >= len(p.of):
		return fail(mpi.ErrRank, "rank %d is none of the window's, which has %d", rank, len(p.of))
	}
	base, bytes, err := p.reach(w, rank)
	if err != nil {
		return err
	}
	a.setAint(2, bytes)
	a.setCount(3, int(p.of[rank].unit))
	a.setAint(4, base)
	return nil
}

// reach is where loads and stores of this rank reach the part of another. One that they
// don't reach has no bytes, unless the window is there to be reached. In such a window a part
// of no bytes lies between those of its neighbors, so that a program may count on from it.
func (p *parts) reach(w *mpi.Win, rank int) (base, bytes int, err error) {
	shared := w.Flavor() == mpi.FlavorShared
	if p.of[rank].bytes > 0 {
		mem, err := mpi.Window[byte]{Win: w}.Shared(rank)
		if err != nil && shared {
			return 0, 0, err
		}
		return startOf(mem), len(mem), nil
	}
	if !shared {
		return 0, 0, nil
	}
	if r := p.neighbor(rank, -1); r >= 0 {
		base, bytes, err = p.reach(w, r)
	} else if r = p.neighbor(rank, 1); r >= 0 {
		base, _, err = p.reach(w, r)
	}
	return base + bytes, 0, err
}

// neighbor is the next rank whose part has memory, up or down, or -1.
func (p *parts) neighbor(rank, step int) int {
	for r := rank + step; r >= 0 && r < len(p.of); r += step {
		if p.of[r].bytes > 0 {
			return r
		}
	}
	return -1
}

// winAttach is MPI_Win_attach. An address is what MPI_Get_address says, which is what
// package mpi returns.
func winAttach(a *Args) error {
	w := a.win(0)
	b, err := a.bytes(1, 2)
	if err != nil {
		return err
	}
	if _, err = mpi.Attach(w, b); err != nil || len(b) > 0 {
		return err
	}
	p, _, err := partsOf.Get(w)
	if err == nil {
		p.attachEmpty(a.words[1])
	}
	return err
}

// winDetach is MPI_Win_detach, which knows the memory by its beginning.
func winDetach(a *Args) error {
	w := a.win(0)
	if p, _, err := partsOf.Get(w); err != nil || p.detachEmpty(a.words[1]) {
		return err
	}
	b := bytesAt(a.words[1], 1)
	if b == nil {
		return fail(mpi.ErrRMAAttach, "no memory at %#x is attached to the window", a.words[1])
	}
	return mpi.Detach(w, b)
}

// attachEmpty notes memory of no bytes, of which package mpi attaches nothing.
func (p *parts) attachEmpty(addr uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.empty == nil {
		p.empty = map[uint64]int{}
	}
	p.empty[addr]++
}

// detachEmpty reports whether memory of no bytes was attached there, and is not any more.
func (p *parts) detachEmpty(addr uint64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.empty[addr]
	if n == 0 {
		return false
	}
	if p.empty[addr]--; n == 1 {
		delete(p.empty, addr)
	}
	return true
}

func winGetGroup(a *Args) error { return a.setGroup(1, a.win(0).Group()) }

func winSetInfo(a *Args) error { return a.win(0).SetInfo(a.info(1)) }

func winGetInfo(a *Args) error {
	info, err := a.win(0).Info()
	if err != nil {
		return err
	}
	return a.setInfo(1, info)
}

// winSetName is MPI_Win_set_name. A name that is too long is cut (MPI-4.0 §7.8).
func winSetName(a *Args) error {
	name := a.string(1)
	return a.win(0).SetName(name[:min(len(name), mpi.MaxObjectName)])
}

func winGetName(a *Args) error {
	a.setInt(2, a.setString(1, a.win(0).Name(), mpi.MaxObjectName+1))
	return nil
}
