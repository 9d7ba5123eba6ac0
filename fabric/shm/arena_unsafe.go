package shm

import (
	"unsafe"

	"github.com/weft-mpi/weft/fabric"
)

// offset returns the offset of b in the arena's file. Memory that is not mapped by peers has none.
func (a *Arena) offset(b []byte) (uint64, bool) {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	pieces := a.pieces.Load()
	if pieces == nil {
		return 0, false
	}
	for i := range *pieces {
		p := &(*pieces)[i]
		into := at - uintptr(unsafe.Pointer(unsafe.SliceData(p.mem)))
		if into < uintptr(len(p.mem)) {
			return uint64(p.off) + uint64(into), uintptr(len(b)) <= uintptr(len(p.mem))-into
		}
	}
	return 0, false
}

// at is the n bytes at off, which a peer has named. The caller holds use.
func (a *Arena) at(off, n uint64) ([]byte, error) {
	if size := a.size.Load(); off <= size && n <= size-off {
		if b := within(a.pieces.Load(), off, n); b != nil {
			return b, nil
		}
	}
	return nil, fabric.ErrBadRemote
}
