package rma

import (
	"encoding/binary"
	"sync/atomic"
	"unsafe"
)

var bigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

func sizeOf[W word]() int {
	var w W
	return int(unsafe.Sizeof(w))
}

// addressOf is where b begins.
func addressOf(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

// wordsOf is b as words, which it is aligned for.
func wordsOf[W word](b []byte) []W {
	return unsafe.Slice((*W)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/sizeOf[W]())
}

// wordAround is the aligned word in which b begins, and how many bytes of it are before
// b. A page has whole words, and so has each object that Go allocates, or a group of
// them in one block: the word is in memory.
func wordAround(b []byte) (w *uint64, before int) {
	p := unsafe.Pointer(unsafe.SliceData(b))
	before = int(uintptr(p) % 8)
	return (*uint64)(unsafe.Add(p, -before)), before
}

// getWord and putWord are for private memory, aligned or not.

func getWord[W word](b []byte) W {
	if sizeOf[W]() == 8 {
		return W(binary.NativeEndian.Uint64(b))
	}
	return W(binary.NativeEndian.Uint32(b))
}

func putWord[W word](b []byte, v W) {
	if sizeOf[W]() == 8 {
		binary.NativeEndian.PutUint64(b, uint64(v))
	} else {
		binary.NativeEndian.PutUint32(b, uint32(v))
	}
}

// Atomic operations on elements in window memory. Each pairs with all of them, of any
// goroutine and process that the memory is mapped in.

func loadWord[W word](p *W) W {
	if sizeOf[W]() == 8 {
		return W(atomic.LoadUint64((*uint64)(unsafe.Pointer(p))))
	}
	return W(atomic.LoadUint32((*uint32)(unsafe.Pointer(p))))
}

// addWord returns the element before, as all of these do.
func addWord[W word](p *W, x W) W {
	if sizeOf[W]() == 8 {
		return W(atomic.AddUint64((*uint64)(unsafe.Pointer(p)), uint64(x))) - x
	}
	return W(atomic.AddUint32((*uint32)(unsafe.Pointer(p)), uint32(x))) - x
}

func swapWord[W word](p *W, x W) W {
	if sizeOf[W]() == 8 {
		return W(atomic.SwapUint64((*uint64)(unsafe.Pointer(p)), uint64(x)))
	}
	return W(atomic.SwapUint32((*uint32)(unsafe.Pointer(p)), uint32(x)))
}

func andWord[W word](p *W, x W) W {
	if sizeOf[W]() == 8 {
		return W(atomic.AndUint64((*uint64)(unsafe.Pointer(p)), uint64(x)))
	}
	return W(atomic.AndUint32((*uint32)(unsafe.Pointer(p)), uint32(x)))
}

func orWord[W word](p *W, x W) W {
	if sizeOf[W]() == 8 {
		return W(atomic.OrUint64((*uint64)(unsafe.Pointer(p)), uint64(x)))
	}
	return W(atomic.OrUint32((*uint32)(unsafe.Pointer(p)), uint32(x)))
}

func casWord[W word](p *W, was, now W) bool {
	if sizeOf[W]() == 8 {
		return atomic.CompareAndSwapUint64((*uint64)(unsafe.Pointer(p)), uint64(was), uint64(now))
	}
	return atomic.CompareAndSwapUint32((*uint32)(unsafe.Pointer(p)), uint32(was), uint32(now))
}
