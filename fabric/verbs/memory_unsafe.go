package verbs

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapMemory returns zeroed pages outside the Go heap.
func mapMemory(n int) ([]byte, error) {
	m, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_POPULATE)
	if err != nil {
		return nil, fmt.Errorf("map %d bytes: %w", n, err)
	}
	return m, nil
}

func unmap(m []byte) {
	if m != nil {
		unix.Munmap(m)
	}
}

// newRings makes the descriptors that Go and the shim share.
func newRings() (rings, []byte, error) {
	const (
		sends = sendRing * int(unsafe.Sizeof(sendDesc{}))
		done  = doneRing * int(unsafe.Sizeof(doneDesc{}))
		recvs = recvRing * 4
	)
	m, err := mapMemory(sends + 2*done + recvs)
	if err != nil {
		return rings{}, nil, err
	}
	p := unsafe.Pointer(unsafe.SliceData(m))
	r := rings{
		sends: unsafe.Slice((*sendDesc)(p), sendRing),
		rdone: unsafe.Slice((*doneDesc)(unsafe.Add(p, sends)), doneRing),
		sdone: unsafe.Slice((*doneDesc)(unsafe.Add(p, sends+done)), doneRing),
		recvs: unsafe.Slice((*uint32)(unsafe.Add(p, sends+2*done)), recvRing),
	}
	r.locate()
	return r, m, nil
}

// locate tells the descriptors where they are.
func (r *rings) locate() {
	for i := range r.sends {
		s := &r.sends[i]
		s.list, s.ownAt = uint64(uintptr(unsafe.Pointer(&s.seg))), uint64(uintptr(unsafe.Pointer(&s.own)))
	}
}

// addressOf is where b begins.
func addressOf(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

// loadWord reads 8 aligned bytes that a device writes.
func loadWord(b []byte, off int) uint64 {
	return atomic.LoadUint64((*uint64)(unsafe.Pointer(&b[off])))
}

// heapSlot is the part of the address space that the Go heap grows in: the
// runtime reserves its arenas upwards from a multiple of 1<<38, where neither
// the kernel's mmap nor a C heap puts anything. Memory elsewhere, or a heap
// grown beyond, counts as foreign, which costs the cache and nothing else.
var (
	heapProbe = new([64]uint64)
	heapSlot  = uint64(uintptr(unsafe.Pointer(heapProbe))) >> 38
)

// onHeap says whether an address is the Go heap's.
func onHeap(addr uint64) bool { return addr>>38 == heapSlot }
