package shm

import (
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// arenaView is a peer's arena. at is safe for concurrent use; nobody is in it when close
// is called.
type arenaView struct {
	fd int
	// maps are the mappings, each of them from the beginning of the file and longer than the
	// one before. A range is found in the first that has it, so that it keeps its address.
	// The list is stored, and after that size: how long the file was when last checked. A
	// load of size that covers a range is followed by one of maps that sees its mapping.
	maps atomic.Pointer[[][]byte]
	size atomic.Uint64
	mu   sync.Mutex // whoever maps or checks
}

// at returns the n bytes of the peer's arena at off. The file can't shrink, so a
// range that was valid once stays valid. Without address space for the view,
// transfers use messages, as for other memory of the peer that can't be reached.
func (v *arenaView) at(off, n uint64) ([]byte, error) {
	end := off + n
	if end < off {
		return nil, fabric.ErrBadRemote
	}
	if end > v.size.Load() || v.maps.Load() == nil {
		if err := v.extend(end); err != nil {
			return nil, err
		}
	}
	for _, m := range *v.maps.Load() {
		if end <= uint64(len(m)) {
			return m[off:end:end], nil
		}
	}
	return nil, fabric.ErrBadRemote
}

// extend checks that the file has come to contain end, and maps it.
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
	var maps [][]byte
	if p := v.maps.Load(); p != nil {
		maps = *p
	}
	if len(maps) == 0 || uint64(len(maps[len(maps)-1])) < size {
		mem, err := v.mapAll(int(size))
		if err != nil {
			return fmt.Errorf("%w: map peer arena: %w", fabric.ErrUnsupported, err)
		}
		maps = append(maps[:len(maps):len(maps)], mem)
		v.maps.Store(&maps)
	}
	v.size.Store(size)
	return nil
}

// mapAll maps the file, and as much again for it to grow into where address space has no limit.
func (v *arenaView) mapAll(size int) (mem []byte, err error) {
	room := spare(max(1<<bits.Len(uint(size)), firstPiece))
	for _, n := range []int{max(size, room), max(size, 1)} {
		if mem, err = unix.Mmap(v.fd, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_NORESERVE); err == nil {
			break
		}
	}
	return mem, err
}

func (v *arenaView) close() {
	if maps := v.maps.Load(); maps != nil {
		for _, m := range *maps {
			unix.Munmap(m)
		}
	}
	unix.Close(v.fd)
}
