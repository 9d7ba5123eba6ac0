package datatype

import "unsafe"

const (
	// copyRoom is how many packed bytes lie between two memories whose blocks differ: few,
	// so that they stay in the first-level cache.
	copyRoom = 4 << 10

	// copyRun is how long a block is, in bytes, from which on it is copied by itself.
	copyRun = 1 << 10

	// copyMost is how much of one range is copied at once, in bytes: more would go around
	// the caches.
	copyMost = 256 << 10
)

// Copy copies n bytes from one cursor to another, or as many as both have, and moves the
// cursors behind them. It returns how many. The two memories must not overlap. Blocks
// of one length go straight from place to place.
func Copy(to, from *Cursor, n int) int {
	n = min(n, to.Len(), from.Len())
	for left := n; left > 0; {
		k := copyGrid(to, from, left)
		if k == 0 {
			k = copyLong(to, from, min(left, copyMost))
		}
		if k == 0 {
			k = copyPacked(to, from, left)
		}
		left -= k
	}
	return n
}

// copyGrid copies blocks that are alike in both memories and at strides, at most n bytes.
func copyGrid(to, from *Cursor, n int) int {
	a, b := to.leafCode(), from.leafCode()
	if a.op != codeGrid || b.op != codeGrid || a.b != b.b || a.n2 > 1 || b.n2 > 1 {
		return 0
	}
	i, j := to.pos-to.start, from.pos-from.start
	if i%a.b != 0 || j%a.b != 0 {
		return 0
	}
	blocks := min(n, a.size-i, b.size-j) / a.b
	if blocks == 0 {
		return 0
	}
	dst := unsafe.Pointer(&to.mem[to.base+i/a.b*a.s1])
	src := unsafe.Pointer(&from.mem[from.base+j/a.b*b.s1])
	strided(dst, src, blocks, a.s1, b.s1, a.b)
	to.advance(blocks * a.b)
	from.advance(blocks * a.b)
	return blocks * a.b
}

// copyPacked copies by way of packed bytes, at most n, until a long block comes.
func copyPacked(to, from *Cursor, n int) (done int) {
	var room [copyRoom]byte
	for done < n {
		k := from.Pack(room[:min(n-done, copyRoom)])
		to.Unpack(room[:k])
		if done += k; done < n && (to.long() || from.long()) {
			break
		}
	}
	return done
}

// copyLong copies what is one range in one of the memories, if it is long, at most n
// bytes.
func copyLong(to, from *Cursor, n int) int {
	if at, k := to.run(n); k >= min(n, copyRun) {
		from.Pack(to.mem[at : at+k])
		to.advance(k)
		return k
	}
	if at, k := from.run(n); k >= min(n, copyRun) {
		to.Unpack(from.mem[at : at+k])
		from.advance(k)
		return k
	}
	return 0
}

// long reports whether a long block is next.
func (c *Cursor) long() bool {
	_, k := c.run(copyRun)
	return k == copyRun
}

// run is where the next bytes lie that are one range of memory, and how many these are, at
// most n.
func (c *Cursor) run(n int) (at, k int) {
	at, k = c.leafCode().at(c.pos - c.start)
	return c.base + at, min(k, n)
}

// advance moves the cursor over n bytes of the leaf.
func (c *Cursor) advance(n int) {
	c.pos += n
	if c.pos-c.start == c.leafCode().size && c.pos < c.size {
		c.next()
	}
}
