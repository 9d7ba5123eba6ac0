package shm

import (
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// offset returns the offset of b in the arena.
func (a *Arena) offset(b []byte) (uint64, bool) {
	p := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	// Pairs with the stores of alloc: a goroutine with memory of the arena sees
	// bounds that include it. lo is stored before hi leaves zero.
	hi := a.hi.Load()
	lo := a.lo.Load()
	if p < lo || hi == 0 || p+uintptr(len(b)) > hi {
		return 0, false
	}
	return uint64(p - lo), true
}

// at is the n bytes at off, which a peer has named.
func (a *Arena) at(off, n uint64) ([]byte, error) {
	hi, lo := a.hi.Load(), a.lo.Load()
	if size := uint64(hi - lo); hi == 0 || off > size || n > size-off {
		return nil, fabric.ErrBadRemote
	}
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(a.base)), off)), n), nil
}

func (a *Arena) setBounds() {
	lo := uintptr(unsafe.Pointer(unsafe.SliceData(a.base)))
	a.lo.Store(lo)
	a.hi.Store(lo + uintptr(a.size))
}

// mapFile puts a range of the file into the reserved address space.
func (a *Arena) mapFile(off, n int) error {
	at := unsafe.Add(unsafe.Pointer(unsafe.SliceData(a.base)), off)
	_, err := unix.MmapPtr(a.file, int64(off), at, uintptr(n), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED|unix.MAP_FIXED|unix.MAP_POPULATE)
	return err
}
