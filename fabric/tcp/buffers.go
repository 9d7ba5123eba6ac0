package tcp

// buffers are those that no connection uses, all of bufferSize. They belong to the
// owner.
type buffers struct{ free [][]byte }

func (p *buffers) take() []byte {
	k := len(p.free)
	if k == 0 {
		return make([]byte, bufferSize)
	}
	b := p.free[k-1]
	p.free = p.free[:k-1]
	return b
}

// put takes a buffer back, whatever its length.
func (p *buffers) put(b []byte) {
	if len(p.free) < freeBuffers {
		p.free = append(p.free, b[:bufferSize])
	}
}
