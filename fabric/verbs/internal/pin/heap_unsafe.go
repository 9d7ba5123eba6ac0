package pin

import "unsafe"

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
