package datatype

import "iter"

// Next returns the contiguous memory that the next packed bytes lie in, at most
// limit bytes, and moves the cursor behind it: mem[off:off+n] of Reset's memory. n
// is 0 at the end, or if limit is. Pieces that follow one another in memory are
// joined.
func (c *Cursor) Next(limit int) (off, n int) {
	for n < limit && c.pos < c.size {
		leaf := c.leafCode()
		in := c.pos - c.start
		at, k := leaf.at(in)
		at += c.base
		if n > 0 && at != off+n {
			break
		}
		if n == 0 {
			off = at
		}
		k = min(k, limit-n)
		n += k
		c.pos += k
		if in+k == leaf.size && c.pos < c.size {
			c.next()
		}
	}
	return off, n
}

// Runs is Next until the end, or until the loop ends: the contiguous pieces of
// memory, each at most limit bytes, for iovecs, scatter lists of RDMA and the like.
// The cursor moves with it.
func (c *Cursor) Runs(limit int) iter.Seq2[int, int] {
	return func(yield func(off, n int) bool) {
		for {
			off, n := c.Next(limit)
			if n == 0 || !yield(off, n) {
				return
			}
		}
	}
}

// at returns where the packed offset at of a leaf lies, from the leaf's first byte,
// and how many bytes are left of its block.
func (c *code) at(at int) (off, left int) {
	switch c.op {
	case codeBlock:
		return at, c.b - at
	case codeGrid:
		i := at / c.b
		in := at - i*c.b
		return c.block(i) + in, c.b - in
	case codeRows:
		row := at / c.list.size
		off, left = c.list.at(at - row*c.list.size)
		return off + row*c.s2, left
	}
	return c.list.at(at)
}

func (l *parts) at(at int) (off, left int) {
	i, start := l.find(at)
	return l.disps[i] + at - start, start + l.bytes(i) - at
}
