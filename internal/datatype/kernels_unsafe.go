package datatype

import (
	"unsafe"

	"github.com/weft-mpi/weft/internal/prefetch"
)

// word is what is copied through a register at once: an array of bytes, so that it
// may lie at any address. The compiler turns copies of longer arrays into calls.
type word interface {
	[1]byte | [2]byte | [4]byte | [8]byte | [16]byte
}

func put[W word](dst, src unsafe.Pointer) { *(*W)(dst) = *(*W)(src) }

func put12(dst, src unsafe.Pointer) {
	type block struct {
		a [8]byte
		b [4]byte
	}
	d, s := (*block)(dst), (*block)(src)
	d.a = s.a
	d.b = s.b
}

func put24(dst, src unsafe.Pointer) {
	type block struct {
		a [16]byte
		b [8]byte
	}
	d, s := (*block)(dst), (*block)(src)
	d.a = s.a
	d.b = s.b
}

func put32(dst, src unsafe.Pointer) {
	d, s := (*[2][16]byte)(dst), (*[2][16]byte)(src)
	d[0] = s[0]
	d[1] = s[1]
}

func put64(dst, src unsafe.Pointer) {
	d, s := (*[4][16]byte)(dst), (*[4][16]byte)(src)
	d[0] = s[0]
	d[1] = s[1]
	d[2] = s[2]
	d[3] = s[3]
}

func putLong(dst, src unsafe.Pointer, size int) {
	copy(unsafe.Slice((*byte)(dst), size), unsafe.Slice((*byte)(src), size))
}

const (
	lineSize = 64 // bytes of a cache line

	// mostLines is the longest block that is copied line by line. From there on what
	// begins a memmove costs little, and it is faster.
	mostLines = 2 << 10

	// mostClaimed is how many bytes are claimed before they are written: more would push
	// one another out of the first-level cache.
	mostClaimed = 8 << 10
)

// strided copies n blocks of size bytes, n above 0. The i-th one is i steps behind
// the first. Loops by size have no call per block; those of the lengths between
// copy the first and the last word of a block, which share some bytes.
func strided(dst, src unsafe.Pointer, n, dstStep, srcStep, size int) {
	switch {
	case size == 8:
		fixed[[8]byte](dst, src, n, dstStep, srcStep)
	case size == 4:
		fixed[[4]byte](dst, src, n, dstStep, srcStep)
	case size == 16:
		fixed[[16]byte](dst, src, n, dstStep, srcStep)
	case size == 1:
		fixed[[1]byte](dst, src, n, dstStep, srcStep)
	case size == 2:
		fixed[[2]byte](dst, src, n, dstStep, srcStep)
	case size == 12:
		strided12(dst, src, n, dstStep, srcStep)
	case size == 24:
		strided24(dst, src, n, dstStep, srcStep)
	case size == 32:
		strided32(dst, src, n, dstStep, srcStep)
	case size < 4:
		ends[[2]byte](dst, src, n, dstStep, srcStep, size)
	case size < 8:
		ends[[4]byte](dst, src, n, dstStep, srcStep, size)
	case size < 16:
		ends[[8]byte](dst, src, n, dstStep, srcStep, size)
	case size < 32:
		ends[[16]byte](dst, src, n, dstStep, srcStep, size)
	case size < lineSize:
		ends32(dst, src, n, dstStep, srcStep, size)
	case size <= mostLines:
		stridedLines(dst, src, n, dstStep, srcStep, size)
	default:
		stridedLong(dst, src, n, dstStep, srcStep, size)
	}
}

// fixed copies blocks that are one word.
func fixed[W word](dst, src unsafe.Pointer, n, dstStep, srcStep int) {
	d, s := 0, 0
	for range n {
		put[W](unsafe.Add(dst, d), unsafe.Add(src, s))
		d, s = d+dstStep, s+srcStep
	}
}

// ends copies blocks that are longer than a word and shorter than two.
func ends[W word](dst, src unsafe.Pointer, n, dstStep, srcStep, size int) {
	tail := size - int(unsafe.Sizeof(*new(W)))
	d, s := 0, 0
	for range n {
		put[W](unsafe.Add(dst, d), unsafe.Add(src, s))
		put[W](unsafe.Add(dst, d+tail), unsafe.Add(src, s+tail))
		d, s = d+dstStep, s+srcStep
	}
}

func strided12(dst, src unsafe.Pointer, n, dstStep, srcStep int) {
	d, s := 0, 0
	for range n {
		put12(unsafe.Add(dst, d), unsafe.Add(src, s))
		d, s = d+dstStep, s+srcStep
	}
}

func strided24(dst, src unsafe.Pointer, n, dstStep, srcStep int) {
	d, s := 0, 0
	for range n {
		put24(unsafe.Add(dst, d), unsafe.Add(src, s))
		d, s = d+dstStep, s+srcStep
	}
}

func strided32(dst, src unsafe.Pointer, n, dstStep, srcStep int) {
	d, s := 0, 0
	for range n {
		put32(unsafe.Add(dst, d), unsafe.Add(src, s))
		d, s = d+dstStep, s+srcStep
	}
}

func ends32(dst, src unsafe.Pointer, n, dstStep, srcStep, size int) {
	d, s, tail := 0, 0, size-32
	for range n {
		put32(unsafe.Add(dst, d), unsafe.Add(src, s))
		put32(unsafe.Add(dst, d+tail), unsafe.Add(src, s+tail))
		d, s = d+dstStep, s+srcStep
	}
}

// stridedLong claims the lines of packed blocks, which another core has read, in a transport's
// ring, before they are written: they come at once, and not one after another.
func stridedLong(dst, src unsafe.Pointer, n, dstStep, srcStep, size int) {
	d, s := 0, 0
	for range n {
		if dstStep == size {
			prefetch.Write(unsafe.Add(dst, d), uintptr(min(size, mostClaimed)))
		}
		putLong(unsafe.Add(dst, d), unsafe.Add(src, s), size)
		d, s = d+dstStep, s+srcStep
	}
}

// gather copies blocks of size bytes that lie at displacements from src plus at to
// dst, one after another.
func gather(dst, src unsafe.Pointer, at int, disps []int, size int) {
	switch size {
	case 1:
		gatherFixed[[1]byte](dst, src, at, disps)
	case 2:
		gatherFixed[[2]byte](dst, src, at, disps)
	case 4:
		gatherFixed[[4]byte](dst, src, at, disps)
	case 8:
		gatherFixed[[8]byte](dst, src, at, disps)
	case 12:
		for i, disp := range disps {
			put12(unsafe.Add(dst, i*12), unsafe.Add(src, at+disp))
		}
	case 16:
		gatherFixed[[16]byte](dst, src, at, disps)
	case 24:
		for i, disp := range disps {
			put24(unsafe.Add(dst, i*24), unsafe.Add(src, at+disp))
		}
	case 32:
		for i, disp := range disps {
			put32(unsafe.Add(dst, i*32), unsafe.Add(src, at+disp))
		}
	case 64:
		for i, disp := range disps {
			put64(unsafe.Add(dst, i*64), unsafe.Add(src, at+disp))
		}
	default:
		for i, disp := range disps {
			putLong(unsafe.Add(dst, i*size), unsafe.Add(src, at+disp), size)
		}
	}
}

func gatherFixed[W word](dst, src unsafe.Pointer, at int, disps []int) {
	for i, disp := range disps {
		put[W](unsafe.Add(dst, i*int(unsafe.Sizeof(*new(W)))), unsafe.Add(src, at+disp))
	}
}

// scatter is gather backwards: dst plus at is where displacements count from.
func scatter(dst, src unsafe.Pointer, at int, disps []int, size int) {
	switch size {
	case 1:
		scatterFixed[[1]byte](dst, src, at, disps)
	case 2:
		scatterFixed[[2]byte](dst, src, at, disps)
	case 4:
		scatterFixed[[4]byte](dst, src, at, disps)
	case 8:
		scatterFixed[[8]byte](dst, src, at, disps)
	case 12:
		for i, disp := range disps {
			put12(unsafe.Add(dst, at+disp), unsafe.Add(src, i*12))
		}
	case 16:
		scatterFixed[[16]byte](dst, src, at, disps)
	case 24:
		for i, disp := range disps {
			put24(unsafe.Add(dst, at+disp), unsafe.Add(src, i*24))
		}
	case 32:
		for i, disp := range disps {
			put32(unsafe.Add(dst, at+disp), unsafe.Add(src, i*32))
		}
	case 64:
		for i, disp := range disps {
			put64(unsafe.Add(dst, at+disp), unsafe.Add(src, i*64))
		}
	default:
		for i, disp := range disps {
			putLong(unsafe.Add(dst, at+disp), unsafe.Add(src, i*size), size)
		}
	}
}

func scatterFixed[W word](dst, src unsafe.Pointer, at int, disps []int) {
	for i, disp := range disps {
		put[W](unsafe.Add(dst, at+disp), unsafe.Add(src, i*int(unsafe.Sizeof(*new(W)))))
	}
}
