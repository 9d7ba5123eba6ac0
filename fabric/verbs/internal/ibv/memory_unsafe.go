package ibv

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Map returns n bytes of zeroed pages outside the Go heap, which the caller gives
// back with Unmap.
func Map(n int) ([]byte, error) {
	m, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_POPULATE)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes: %w", n, err)
	}
	return m, nil
}

// Unmap gives back what Map returned, nil too. No device may use it any more.
func Unmap(m []byte) {
	if m != nil {
		unix.Munmap(m)
	}
}

// Addr is where b begins, as work requests name it.
func Addr(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

// Locate tells work requests where they are. For rings that do not come from Open.
func (r *Rings) Locate() {
	for i := range r.Sends {
		s := &r.Sends[i]
		s.list, s.OwnAddr = uint64(uintptr(unsafe.Pointer(&s.SGE))), uint64(uintptr(unsafe.Pointer(&s.Own)))
	}
}

// newRings makes rings in one mapping, which is returned too.
func newRings() (Rings, []byte, error) {
	const (
		sends = MaxSends * int(unsafe.Sizeof(SendWR{}))
		done  = MaxWC * int(unsafe.Sizeof(WC{}))
		recvs = MaxRecvs * 4
	)
	m, err := Map(sends + 2*done + recvs)
	if err != nil {
		return Rings{}, nil, err
	}
	p := unsafe.Pointer(unsafe.SliceData(m))
	r := Rings{
		Sends:  unsafe.Slice((*SendWR)(p), MaxSends),
		RecvWC: unsafe.Slice((*WC)(unsafe.Add(p, sends)), MaxWC),
		SendWC: unsafe.Slice((*WC)(unsafe.Add(p, sends+done)), MaxWC),
		Recvs:  unsafe.Slice((*uint32)(unsafe.Add(p, sends+2*done)), MaxRecvs),
	}
	r.Locate()
	return r, m, nil
}
