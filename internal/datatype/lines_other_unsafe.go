//go:build !amd64 || race

package datatype

import "unsafe"

// stridedLines copies blocks of lineSize to mostLines bytes. In Go the race detector sees
// what it reads and writes.
func stridedLines(dst, src unsafe.Pointer, n, dstStep, srcStep, size int) {
	if size > lineSize {
		stridedLong(dst, src, n, dstStep, srcStep, size)
		return
	}
	d, s := 0, 0
	for range n {
		put64(unsafe.Add(dst, d), unsafe.Add(src, s))
		d, s = d+dstStep, s+srcStep
	}
}
