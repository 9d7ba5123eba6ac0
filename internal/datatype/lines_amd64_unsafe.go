//go:build amd64 && !race

package datatype

import "unsafe"

// linesAhead is how many bytes before it is copied a line is asked for: as many lines as a
// core can wait for at once.
const linesAhead = 16 * lineSize

// stridedLines copies blocks of lineSize to mostLines bytes. Of such as lie apart the
// processor does not foresee the next line, so it is told, and of packed ones it is told
// that they will be written. Behind the last block the next piece of a message goes on.
func stridedLines(dst, src unsafe.Pointer, n, dstStep, srcStep, size int) {
	ahead := max(1, linesAhead/size)
	if dstStep > size {
		copyLines(dst, src, n, dstStep, srcStep, size, ahead*dstStep, 0)
	} else {
		copyLines(dst, src, n, dstStep, srcStep, size, linesAhead, ahead*srcStep)
	}
}

// copyLines copies n blocks, n above 0, of size bytes, at least 64. With each line it asks
// for those at dstAhead and srcAhead behind it, which may lie outside of any memory.
//
//go:noescape
func copyLines(dst, src unsafe.Pointer, n, dstStep, srcStep, size, dstAhead, srcAhead int)
