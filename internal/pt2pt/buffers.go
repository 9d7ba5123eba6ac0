package pt2pt

import (
	"encoding/binary"
	"math/bits"
)

// buffers keeps the memory of unexpected messages for later ones, by powers of
// two, so that steady traffic does not allocate. It keeps at most keepBytes of
// each size.
type buffers struct{ free [classes][][]byte }

const (
	minClass  = 6  // 64 bytes
	classes   = 11 // up to 64 KB
	keepBytes = 1 << 20
)

func class(n int) int { return max(bits.Len(uint(max(n, 1)-1))-minClass, 0) }

// take returns an empty slice with room for n bytes.
func (p *buffers) take(n int) []byte {
	c := class(n)
	if c >= classes {
		return make([]byte, 0, n)
	}
	f := p.free[c]
	if len(f) == 0 {
		return make([]byte, 0, 1<<(c+minClass))
	}
	b := f[len(f)-1]
	p.free[c] = f[:len(f)-1]
	return b
}

// give takes back a slice that take returned.
func (p *buffers) give(b []byte) {
	c := class(cap(b))
	if c < classes && cap(b) == 1<<(c+minClass) && len(p.free[c]) < keepBytes>>(c+minClass) {
		p.free[c] = append(p.free[c], b[:0])
	}
}

// place copies a message into the buffer of its receive, a word or two without a
// call.
func place(dst, src []byte) {
	n := len(src)
	if n < 8 || n > 16 || len(dst) < n {
		copy(dst, src)
		return
	}
	ne := binary.NativeEndian
	head, tail := ne.Uint64(src), ne.Uint64(src[n-8:])
	ne.PutUint64(dst, head)
	ne.PutUint64(dst[n-8:], tail)
}
