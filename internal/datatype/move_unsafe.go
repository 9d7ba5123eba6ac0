package datatype

import "unsafe"

// Pack copies the next bytes of the elements to dst and moves the cursor behind
// them. It returns how many: len(dst), or Len if that is less. dst must not overlap
// the memory of the elements.
func (c *Cursor) Pack(dst []byte) int {
	if c.size-c.pos >= len(dst) && c.root != nil && c.root.op == codeBlock {
		at := c.origin + c.pos
		c.pos += len(dst)
		return copy(dst, c.mem[at:])
	}
	return c.move(dst, false)
}

// Unpack copies src to the next bytes of the elements and moves the cursor behind
// them. It returns how many: len(src), or Len if that is less. src must not overlap
// the memory of the elements.
func (c *Cursor) Unpack(src []byte) int {
	if c.size-c.pos >= len(src) && c.root != nil && c.root.op == codeBlock {
		at := c.origin + c.pos
		c.pos += len(src)
		return copy(c.mem[at:], src)
	}
	return c.move(src, true)
}

func (c *Cursor) move(buf []byte, unpack bool) int {
	done := 0
	for done < len(buf) && c.pos < c.size {
		leaf := c.leafCode()
		at := c.pos - c.start
		n := min(leaf.size-at, len(buf)-done)
		if leaf.op == codeBlock {
			m, b := c.mem[c.base+at:][:n], buf[done:]
			if unpack {
				copy(m, b)
			} else {
				copy(b, m)
			}
		} else {
			f := flow{unsafe.Pointer(&c.mem[c.base]), unsafe.Pointer(&buf[done]), unpack}
			f.leaf(leaf, at, n)
		}
		done += n
		c.pos += n
		if at+n == leaf.size && c.pos < c.size {
			c.next()
		}
	}
	return done
}

// flow is a copy between memory, from a leaf's first byte on, and packed bytes. Its
// methods are given offsets in both. Cursor.Reset has checked that all bytes of all
// leaves are in the memory, and move that the packed bytes are in the buffer.
// Pointers are made only to bytes that are copied: one to any other place could
// lie outside of the slice.
type flow struct {
	mem, buf unsafe.Pointer
	unpack   bool // else pack
}

// leaf copies n bytes of a leaf from the packed offset at on.
func (f flow) leaf(leaf *code, at, n int) {
	switch leaf.op {
	case codeGrid:
		f.grid(leaf, at, n)
	case codeList:
		f.list(leaf.list, 0, 0, at, n)
	case codeRows:
		f.rows(leaf, at, n)
	}
}

// one copies n bytes, which are one range.
func (f flow) one(mem, buf, n int) {
	m, b := unsafe.Add(f.mem, mem), unsafe.Add(f.buf, buf)
	if f.unpack {
		m, b = b, m
	}
	copy(unsafe.Slice((*byte)(b), n), unsafe.Slice((*byte)(m), n))
}

// blocks copies n blocks of size bytes.
func (f flow) blocks(mem, memStep, buf, bufStep, n, size int) {
	if n == 0 {
		return
	}
	m, b := unsafe.Add(f.mem, mem), unsafe.Add(f.buf, buf)
	if f.unpack {
		strided(m, b, n, memStep, bufStep, size)
	} else {
		strided(b, m, n, bufStep, memStep, size)
	}
}

// fewColumns is how many blocks a row may have that is copied column by column.
const fewColumns = 16

// batch is how many rows are copied column by column before the next ones: few
// enough that their cache lines stay in the first-level cache.
const batch = 64

// grid copies n bytes of a codeGrid from the packed offset at on.
func (f flow) grid(g *code, at, n int) {
	i, done := 0, 0
	if at > 0 {
		i = at / g.b
		if off := at - i*g.b; off > 0 {
			done = min(g.b-off, n)
			f.one(g.block(i)+off, 0, done)
			i++
		}
	}
	whole := n - done
	if whole == g.size {
		whole = g.n1 * g.n2
	} else {
		whole /= g.b
	}
	f.gridBlocks(g, i, whole, done)
	done += whole * g.b
	if done < n {
		f.one(g.block(i+whole), done, n-done)
	}
}

// block is where the i-th block of a codeGrid lies.
func (c *code) block(i int) int {
	if c.n2 == 1 {
		return i * c.s1
	}
	return i/c.n1*c.s2 + i%c.n1*c.s1
}

// gridBlocks copies n whole blocks from the i-th on.
func (f flow) gridBlocks(g *code, i, n, buf int) {
	if g.n2 == 1 {
		f.blocks(i*g.s1, g.s1, buf, g.b, n, g.b)
		return
	}
	row, col := i/g.n1, i%g.n1
	if col > 0 { // the rest of a row
		k := min(g.n1-col, n)
		f.blocks(row*g.s2+col*g.s1, g.s1, buf, g.b, k, g.b)
		buf, n, row = buf+k*g.b, n-k, row+1
	}
	width := g.n1 * g.b
	rows := n / g.n1
	end := row + rows
	if g.n1 <= fewColumns && rows > g.n1 {
		for ; row < end; row += batch {
			k := min(batch, end-row)
			for j := range g.n1 {
				f.blocks(row*g.s2+j*g.s1, g.s2, buf+j*g.b, width, k, g.b)
			}
			buf += k * width
		}
	} else {
		for ; row < end; row++ {
			f.blocks(row*g.s2, g.s1, buf, g.b, g.n1, g.b)
			buf += width
		}
	}
	f.blocks(end*g.s2, g.s1, buf, g.b, n-rows*g.n1, g.b)
}

// list copies n bytes of a list from the packed offset at on.
func (f flow) list(l *parts, mem, buf, at, n int) {
	i := 0
	if at > 0 {
		var start int
		i, start = l.find(at)
		if off := at - start; off > 0 {
			k := min(l.bytes(i)-off, n)
			f.one(mem+l.disps[i]+off, buf, k)
			buf, n, i = buf+k, n-k, i+1
		}
	}
	if l.b == 0 {
		for ; n > 0; i++ {
			k := min(l.bytes(i), n)
			f.one(mem+l.disps[i], buf, k)
			buf, n = buf+k, n-k
		}
		return
	}
	whole := n / l.b
	if whole > 0 {
		m, b := f.mem, unsafe.Add(f.buf, buf)
		if f.unpack {
			scatter(m, b, mem, l.disps[i:i+whole], l.b)
		} else {
			gather(b, m, mem, l.disps[i:i+whole], l.b)
		}
	}
	if done := whole * l.b; done < n {
		f.one(mem+l.disps[i+whole], buf+done, n-done)
	}
}

// rows copies n bytes of a codeRows from the packed offset at on.
func (f flow) rows(r *code, at, n int) {
	l, row, buf := r.list, 0, 0
	if at > 0 {
		row = at / l.size
		if off := at - row*l.size; off > 0 {
			buf = min(l.size-off, n)
			f.list(l, row*r.s2, 0, off, buf)
			row++
		}
	}
	end := row + (n-buf)/l.size
	if len(l.disps) <= fewColumns {
		for ; row < end; row += batch {
			k := min(batch, end-row)
			start := 0
			for j, d := range l.disps {
				b := l.bytes(j)
				f.blocks(row*r.s2+d, r.s2, buf+start, l.size, k, b)
				start += b
			}
			buf += k * l.size
		}
		row = end
	}
	for ; row < end; row++ {
		f.list(l, row*r.s2, buf, 0, l.size)
		buf += l.size
	}
	if buf < n {
		f.list(l, row*r.s2, buf, 0, n-buf)
	}
}
