package shm

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// Arena is the memory of this process that local peers map: the memory of
// mpi.Alloc. It is one memfd that only grows; freed ranges give their pages back
// to the system. Safe for concurrent use.
type Arena struct {
	file   int
	lo, hi atomic.Uintptr // address range of the memory handed out so far
	held   atomic.Uint64  // bytes of live: changed under mu, loaded by Stats

	mu    sync.Mutex
	base  []byte // address space reserved for the arena; nil before the first Alloc
	size  int    // bytes of the file
	free  []span // sorted, never adjacent
	live  map[int]allocation
	order []int  // the keys of live, sorted
	last  uint64 // serial
}

type span struct{ off, n int }

// arenaSpace is the address space an arena may grow into.
const arenaSpace = 1 << 36

var processArena = sync.OnceValues(func() (*Arena, error) {
	fd, err := memfdCreate("weft-arena", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL)
	}
	if err != nil {
		return nil, &fabric.Error{Op: "create arena", Err: err,
			Remedy: "allow memfd_create (a seccomp profile may refuse it) and check the limit on open files"}
	}
	return &Arena{file: fd, live: map[int]allocation{}}, nil
})

// Alloc returns n zeroed bytes, page-aligned, that transfers between local
// ranks reach without a system call. They are the caller's until Free; the
// garbage collector does not know them. It takes whole pages of 4 KB.
func Alloc(n int) ([]byte, error) {
	a, err := processArena()
	if err != nil {
		return nil, err
	}
	b, err := a.alloc(n)
	if err == nil {
		inUse.Store(a)
	}
	return b, err
}

// Free frees memory of Alloc. b is the slice that Alloc returned.
func Free(b []byte) error {
	a, err := processArena()
	if err != nil {
		return err
	}
	return a.release(b)
}

// ErrNotArena is returned by Free for memory that is not, or no longer, Alloc's.
var ErrNotArena = errors.New("shm: memory is not from Alloc or has been freed")

func (a *Arena) fd() int { return a.file }

func (a *Arena) alloc(n int) ([]byte, error) {
	if n < 0 || n > arenaSpace {
		return nil, fmt.Errorf("allocate %d bytes: out of range 0 to %d", n, arenaSpace)
	}
	page := os.Getpagesize()
	size := max((n+page-1)&^(page-1), page)
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.base == nil {
		base, err := unix.Mmap(-1, 0, arenaSpace, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
		if err != nil {
			return nil, &fabric.Error{Op: "reserve address space for the arena", Err: err,
				Remedy: "raise the limit on address space (ulimit -v)"}
		}
		a.base = base
	}
	i := slices.IndexFunc(a.free, func(s span) bool { return s.n >= size })
	off := a.size
	if i >= 0 {
		off = a.free[i].off
	} else if off+size > arenaSpace {
		return nil, fmt.Errorf("allocate %d bytes: the arena of %d bytes is full", n, arenaSpace)
	}
	if err := reserve(a.file, int64(off), int64(size)); err != nil {
		return nil, err
	}
	if i < 0 {
		if err := a.mapFile(off, size); err != nil {
			return nil, fmt.Errorf("map arena: %w", err)
		}
		a.size += size
		a.setBounds()
	} else if s := &a.free[i]; s.n == size {
		a.free = slices.Delete(a.free, i, i+1)
	} else {
		s.off, s.n = s.off+size, s.n-size
	}
	a.last++
	a.live[off] = allocation{size, a.last}
	a.held.Add(uint64(size))
	at, _ := slices.BinarySearch(a.order, off)
	a.order = slices.Insert(a.order, at, off)
	return a.base[off : off+n : off+size], nil
}

func (a *Arena) release(b []byte) error {
	if off, ok := a.offset(b[:0:cap(b)]); ok {
		freeing(a.lo.Load() + uintptr(off))
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	off64, ok := a.offset(b[:0:cap(b)])
	off := int(off64)
	l, live := a.live[off]
	if !ok || !live {
		return ErrNotArena
	}
	size := l.size
	delete(a.live, off)
	a.held.Add(-uint64(size))
	if at, ok := slices.BinarySearch(a.order, off); ok {
		a.order = slices.Delete(a.order, at, at+1)
	}
	// Only a lack of memory can keep the pages from going back: then they stay.
	unix.Fallocate(a.file, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, int64(off), int64(size))
	i, _ := slices.BinarySearchFunc(a.free, off, func(s span, off int) int { return s.off - off })
	a.free = slices.Insert(a.free, i, span{off, size})
	if i+1 < len(a.free) && a.free[i].off+a.free[i].n == a.free[i+1].off {
		a.free[i].n += a.free[i+1].n
		a.free = slices.Delete(a.free, i+1, i+2)
	}
	if i > 0 && a.free[i-1].off+a.free[i-1].n == a.free[i].off {
		a.free[i-1].n += a.free[i].n
		a.free = slices.Delete(a.free, i, i+1)
	}
	return nil
}

// arenaView is a peer's arena. It is mapped once, with all the space that the
// file may grow into, so that memory in it keeps its address. at is safe for
// concurrent use; nobody is in it when close is called.
type arenaView struct {
	fd int
	// mem is the mapping. It is stored once, and after that size: how long the
	// file was when last checked. A load of size that covers a range is followed
	// by one of mem that sees the mapping.
	mem  atomic.Pointer[[]byte]
	size atomic.Uint64
	mu   sync.Mutex // whoever maps or checks
}

// at returns the n bytes of the peer's arena at off. The file can't shrink, so a
// range that was valid once stays valid. Without address space for the view,
// transfers use messages, as for other memory of the peer that can't be reached.
func (v *arenaView) at(off, n uint64) ([]byte, error) {
	end := off + n
	if end < off || end > arenaSpace {
		return nil, fabric.ErrBadRemote
	}
	if end > v.size.Load() || v.mem.Load() == nil {
		if err := v.extend(end); err != nil {
			return nil, err
		}
	}
	return (*v.mem.Load())[off:end:end], nil
}

// extend maps the arena, and checks that the file has come to contain end.
func (v *arenaView) extend(end uint64) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	var st unix.Stat_t
	if err := unix.Fstat(v.fd, &st); err != nil {
		return fmt.Errorf("stat peer arena: %w", err)
	}
	size := uint64(st.Size)
	if size < end {
		return fabric.ErrBadRemote
	}
	if v.mem.Load() == nil {
		mem, err := unix.Mmap(v.fd, 0, arenaSpace, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE)
		if err != nil {
			return fmt.Errorf("%w: map peer arena: %w", fabric.ErrUnsupported, err)
		}
		v.mem.Store(&mem)
	}
	v.size.Store(size)
	return nil
}

func (v *arenaView) close() {
	if mem := v.mem.Load(); mem != nil {
		unix.Munmap(*mem)
	}
	unix.Close(v.fd)
}
