package shm

import (
	"fmt"
	"math"
	"math/bits"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// arenaView is a peer's arena. at is safe for concurrent use; nobody is in it when close
// is called.
type arenaView struct {
	fd int
	// size is how long the file was when last checked. It can't shrink.
	size atomic.Uint64
	// maps are parts of the file, which may overlap. A range is found in the first that has
	// it, so that it keeps its address. The list is replaced when there is one more.
	maps atomic.Pointer[[]piece]
	mu   sync.Mutex // whoever maps or checks
}

// at returns the n bytes of the peer's arena at off. Without address space for the view,
// transfers use messages, as for other memory of the peer that can't be reached.
func (v *arenaView) at(off, n uint64) ([]byte, error) {
	end := off + n
	if end < off {
		return nil, fabric.ErrBadRemote
	}
	if end <= v.size.Load() {
		if b := within(v.maps.Load(), off, n); b != nil {
			return b, nil
		}
	}
	return v.extend(off, n)
}

// extend checks that the file has come to contain a range, and maps it.
func (v *arenaView) extend(off, n uint64) ([]byte, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	var st unix.Stat_t
	if err := unix.Fstat(v.fd, &st); err != nil {
		return nil, fmt.Errorf("stat peer arena: %w", err)
	}
	v.size.Store(uint64(st.Size))
	if off+n > uint64(st.Size) {
		return nil, fabric.ErrBadRemote
	}
	if b := within(v.maps.Load(), off, n); b != nil {
		return b, nil
	}
	if err := v.mapPart(int(off), int(off+n), int(st.Size)); err != nil {
		return nil, fmt.Errorf("%w: map peer arena: %w", fabric.ErrUnsupported, err)
	}
	return within(v.maps.Load(), off, n), nil
}

// mapPart maps a range of the file of so many bytes, with much around it and behind the end,
// so that mappings are few, where address space has no limit; less, or only the range, where
// it has one. What a limit leaves when three quarters of it are taken is the program's.
func (v *arenaView) mapPart(from, to, size int) (err error) {
	page := os.Getpagesize()
	much := max(spare(max(1<<bits.Len(uint(size)), firstPiece)), page)
	left := addressesLeft()
	for _, unit := range []int{much, page} {
		at, end := from/unit*unit, max((to+unit-1)/unit, from/unit+1)*unit
		if err = unix.ENOMEM; end-at > left {
			continue
		}
		var mem []byte
		if mem, err = unix.Mmap(v.fd, int64(at), end-at, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE); err == nil {
			var maps []piece
			if p := v.maps.Load(); p != nil {
				maps = *p
			}
			maps = append(maps[:len(maps):len(maps)], piece{mem, at})
			v.maps.Store(&maps)
			return nil
		}
	}
	return err
}

// addressesLeft is how much address space this process may take before it has three quarters
// of the limit.
func addressesLeft() int {
	limit := addressLimit()
	if limit == math.MaxInt {
		return limit
	}
	return limit/4*3 - addressesTaken()
}

// addressesTaken is the address space of this process, or 0 where that can't be read: mmap
// has the last word.
func addressesTaken() (n int) {
	b, _ := os.ReadFile("/proc/self/statm")
	fmt.Sscan(string(b), &n)
	return n * os.Getpagesize()
}

func (v *arenaView) close() {
	if maps := v.maps.Load(); maps != nil {
		for _, m := range *maps {
			unix.Munmap(m.mem)
		}
	}
	unix.Close(v.fd)
}
