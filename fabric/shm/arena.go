package shm

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// Arena is the memory of mpi.Alloc of this process. Local peers map it: it is one memfd
// that only grows; freed ranges give their pages back to the system. Where such memory
// can't be had, an allocation is ordinary memory, which nobody maps. Safe for concurrent use.
type Arena struct {
	file int   // -1 if there is none
	why  error // why there is none
	// pieces are where the file is mapped. The list is replaced when there is one more. Its
	// store pairs with the load in offset: a goroutine with memory of the arena sees the
	// piece that it is in.
	pieces atomic.Pointer[[]piece]
	size   atomic.Uint64 // bytes of the file
	// lo and hi are around all that was allocated so far. lo is stored first, and loaded last.
	lo, hi atomic.Uintptr
	held   atomic.Uint64 // bytes of live: changed under mu, loaded by Stats

	// use is held by whoever copies from at what a peer has named, and by shrink.
	use sync.RWMutex

	mu    sync.Mutex
	end   int    // of the pieces, in the file
	free  []span // sorted by off, those of one piece never adjacent
	live  map[uintptr]allocation
	order []uintptr // the keys of live, sorted
	last  uint64    // serial
}

// piece is a range of the file that is mapped, also beyond the file's end.
type piece struct {
	mem []byte
	off int // in the file
}

// within is the n bytes at off of the file, if one piece has them, whether the file is as
// long or not; else nil.
func within(pieces *[]piece, off, n uint64) []byte {
	if pieces == nil {
		return nil
	}
	for i := range *pieces {
		p := &(*pieces)[i]
		if into := off - uint64(p.off); into <= uint64(len(p.mem)) && n <= uint64(len(p.mem))-into {
			return p.mem[into : into+n : into+n]
		}
	}
	return nil
}

type span struct{ off, n int }

// firstPiece is the least address space that a piece takes where there is no limit on it.
const firstPiece = 64 << 20

var processArena = sync.OnceValue(func() *Arena {
	fd, err := memfdCreate("weft-arena", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	call := "memfd_create"
	if err == nil {
		if _, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL); err != nil {
			call = "fcntl"
			unix.Close(fd)
		}
	}
	if err != nil {
		fd, err = -1, denied("create arena", call, err)
	}
	return &Arena{file: fd, why: err, live: map[uintptr]allocation{}}
})

// Alloc returns n zeroed bytes, page-aligned, that transfers between local ranks reach
// without a system call, if the system permits that. They are the caller's until Free; the
// garbage collector does not know them. It takes whole pages of 4 KB.
func Alloc(n int) ([]byte, error) {
	a := processArena()
	b, err := a.alloc(n)
	if err == nil {
		inUse.Store(a)
	}
	return b, err
}

// Free frees memory of Alloc. b is the slice that Alloc returned.
func Free(b []byte) error { return processArena().release(b) }

// ErrNotArena is returned by Free for memory that is not, or no longer, Alloc's.
var ErrNotArena = errors.New("shm: memory is not from Alloc or has been freed")

func (a *Arena) fd() int { return a.file }

func (a *Arena) alloc(n int) ([]byte, error) {
	page := os.Getpagesize()
	if n < 0 || n > math.MaxInt-page {
		return nil, fmt.Errorf("allocate %d bytes: out of range 0 to %d", n, math.MaxInt-page)
	}
	size := max((n+page-1)&^(page-1), page)
	// The kernel would take the memory of other processes for a file, and end some.
	if most := installed(); uint64(size) > most {
		return nil, &fabric.Error{Op: fmt.Sprintf("allocate %d bytes", n), Err: unix.ENOMEM,
			Remedy: fmt.Sprintf("ask for less: this machine has %d bytes", most)}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	var why error
	b, err := a.allocMapped(size)
	if err != nil && !errors.Is(err, unix.ENOSPC) && !errors.Is(err, unix.ENOMEM) {
		why = err
		b, err = allocApart(size)
	}
	if err != nil {
		return nil, err
	}
	a.last++
	at := uintptr(addressOf(b))
	if lo := a.lo.Load(); lo == 0 || at < lo {
		a.lo.Store(at)
	}
	a.hi.Store(max(a.hi.Load(), at+uintptr(size)))
	a.live[at] = allocation{b, a.last, why}
	a.held.Add(uint64(size))
	i, _ := slices.BinarySearch(a.order, at)
	a.order = slices.Insert(a.order, i, at)
	return b[:n], nil
}

// allocMapped takes whole pages of the file.
func (a *Arena) allocMapped(size int) ([]byte, error) {
	if a.file < 0 {
		return nil, a.why
	}
	i := slices.IndexFunc(a.free, func(s span) bool { return s.n >= size })
	if i < 0 {
		if err := a.grow(size); err != nil {
			return nil, err
		}
		i = len(a.free) - 1
	}
	s := &a.free[i]
	b := within(a.pieces.Load(), uint64(s.off), uint64(size))
	err := reserve(a.file, int64(s.off), int64(size))
	if err == nil {
		a.size.Store(max(a.size.Load(), uint64(s.off+size)))
		err = populate(b)
	}
	if err != nil {
		vacate(a.file, s.off, b)
		return nil, err
	}
	if s.off, s.n = s.off+size, s.n-size; s.n == 0 {
		a.free = slices.Delete(a.free, i, i+1)
	}
	return b[:size:size], nil
}

// grow maps one more piece: as much as there is, so that pieces are few, where address
// space has no limit; or what is needed.
func (a *Arena) grow(size int) error {
	more := func(n int) ([]byte, error) {
		return unix.Mmap(a.file, int64(a.end), n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE)
	}
	mem, err := more(max(size, spare(max(a.end, firstPiece))))
	if err != nil {
		mem, err = more(size)
	}
	if err != nil && a.shrink() {
		mem, err = more(size)
	}
	if err != nil {
		return fmt.Errorf("map arena: %w", noMemory(err))
	}
	pieces := []piece{{mem, a.end}}
	if p := a.pieces.Load(); p != nil {
		pieces = append(slices.Clone(*p), pieces...)
	}
	a.pieces.Store(&pieces)
	a.free = append(a.free, span{a.end, len(mem)})
	a.end += len(mem)
	return nil
}

// shrink gives back the address space of pieces that are free, and reports whether there
// were any. Their part of the file, which has no pages, is not used again.
func (a *Arena) shrink() bool {
	var pieces, free []piece
	if p := a.pieces.Load(); p != nil {
		pieces = slices.Clone(*p)
	}
	pieces = slices.DeleteFunc(pieces, func(p piece) bool {
		i := slices.Index(a.free, span{p.off, len(p.mem)})
		if i >= 0 {
			free, a.free = append(free, p), slices.Delete(a.free, i, i+1)
		}
		return i >= 0
	})
	a.pieces.Store(&pieces)
	a.use.Lock() // a peer may have named memory there
	defer a.use.Unlock()
	for _, p := range free {
		unix.Munmap(p.mem)
	}
	return len(free) > 0
}

// spare is so much address space, or the part of a limit on it that the program does not miss.
func spare(n int) int { return min(n, addressLimit()/64) &^ (os.Getpagesize() - 1) }

// addressLimit is the limit on address space. It is a variable for tests.
var addressLimit = func() int {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_AS, &r) != nil {
		return math.MaxInt
	}
	return int(min(r.Cur, math.MaxInt))
}

// installed is the memory of the machine, in bytes.
func installed() uint64 {
	var s unix.Sysinfo_t
	if unix.Sysinfo(&s) != nil {
		return math.MaxInt
	}
	return (uint64(s.Totalram) + uint64(s.Totalswap)) * uint64(s.Unit)
}

// allocApart takes memory of this process.
func allocApart(size int) ([]byte, error) {
	b, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_POPULATE)
	if err != nil {
		return nil, noMemory(err)
	}
	return b, nil
}

func (a *Arena) release(b []byte) error {
	at := uintptr(addressOf(b))
	a.mu.Lock()
	_, live := a.live[at]
	a.mu.Unlock()
	if live {
		freeing(at)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	l, live := a.live[at]
	if !live {
		return ErrNotArena
	}
	delete(a.live, at)
	a.held.Add(-uint64(len(l.mem)))
	if i, ok := slices.BinarySearch(a.order, at); ok {
		a.order = slices.Delete(a.order, i, i+1)
	}
	at64, ok := a.offset(l.mem)
	if !ok {
		return unix.Munmap(l.mem)
	}
	off, size := int(at64), len(l.mem)
	if !vacate(a.file, off, l.mem) {
		clear(l.mem)
	}
	i, _ := slices.BinarySearchFunc(a.free, off, func(s span, off int) int { return s.off - off })
	a.free = slices.Insert(a.free, i, span{off, size})
	if i+1 < len(a.free) && a.adjacent(i) {
		a.free[i].n += a.free[i+1].n
		a.free = slices.Delete(a.free, i+1, i+2)
	}
	if i > 0 && a.adjacent(i-1) {
		a.free[i-1].n += a.free[i].n
		a.free = slices.Delete(a.free, i, i+1)
	}
	return nil
}

// adjacent reports whether the i-th free span and the next one are one.
func (a *Arena) adjacent(i int) bool {
	end := a.free[i].off + a.free[i].n
	return end == a.free[i+1].off && !slices.ContainsFunc(*a.pieces.Load(), func(p piece) bool { return p.off == end })
}

// vacate gives the pages of a range back, and reports whether the system permits that.
func vacate(file, off int, mem []byte) bool {
	return fallocate(file, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, int64(off), int64(len(mem))) == nil ||
		madvise(mem, unix.MADV_REMOVE) == nil
}
