package datatype

// frame is a step of a program of which a child is under way.
type frame struct {
	code *code // nil for the cursor's top
	base int   // where it lies
	i    int   // the child
}

// inlineFrames is how deep a program may be nested without memory of its own for a
// cursor's frames.
const inlineFrames = 4

// Cursor is a position in the bytes of count elements of a type in some memory. It
// stops after any byte and goes on there. The zero value has nothing to copy. It
// must not be copied after Reset and is used by one goroutine at a time. It
// allocates only for types that are nested deeply, and once.
type Cursor struct {
	mem  []byte
	pos  int // packed bytes before the position
	size int // packed bytes in all

	root   *code // count elements; nil if that is top
	top    code
	origin int // where their first byte lies in mem

	// The leaf at the position, unless pos is size: its code, or nil for top; where
	// it lies in mem; and how many packed bytes are before it.
	leaf  *code
	base  int
	start int

	depth  int // frames in use
	inline [inlineFrames]frame
	more   []frame // those that inline has no room for
}

// Reset sets the cursor to the beginning of count elements of a committed type.
// Displacement 0 is at mem[origin]. The memory must have all bytes that the
// elements touch, see [Type.Span]; it is the cursor's until the last use. An error
// is an *ArgError; the cursor has nothing to copy then.
func (c *Cursor) Reset(t *Type, count int, mem []byte, origin int) error {
	if t != nil && count == 1 && uint(origin) <= uint(len(mem)) {
		if p := t.prog.Load(); p != nil && p.root != nil && p.lo >= -origin && p.hi <= len(mem)-origin {
			c.mem = mem
			if p.root.op >= codeLoop {
				c.one(p.root, origin+t.at)
				return nil
			}
			c.pos, c.start, c.size = 0, 0, p.root.size
			c.root, c.leaf = p.root, p.root
			c.origin = origin + t.at
			c.base = c.origin
			return nil
		}
	}
	return c.reset(t, count, mem, origin)
}

func (c *Cursor) reset(t *Type, count int, mem []byte, origin int) error {
	c.pos, c.size, c.mem, c.root = 0, 0, nil, nil
	if t == nil {
		return call("Reset").bad(1, "t", ErrNilType)
	}
	p := t.prog.Load()
	if p == nil {
		return call("Reset").bad(1, "t", ErrNotCommitted)
	}
	if count <= 0 || p.root == nil {
		return call("Reset").count(2, "count", count)
	}
	if err := t.within(call("Reset"), 2, count, mem, origin); err != nil {
		return err
	}
	c.mem = mem
	c.many(p.root, count, t.ub-t.lb, origin+t.at)
	return nil
}

// one starts the cursor with one element. Next needs no memory.
func (c *Cursor) one(root *code, origin int) {
	c.pos, c.size, c.origin, c.root = 0, root.size, origin, root
	if root.op < codeLoop {
		c.leaf, c.base, c.start = root, origin, 0
		return
	}
	c.room(root.levels)
	c.depth = 0
	c.descend(root, origin, 0)
}

// many is one for any number of elements above 0.
func (c *Cursor) many(root *code, count, extent, origin int) {
	if count == 1 {
		c.one(root, origin)
		return
	}
	c.top = times(root, count, extent)
	c.pos, c.size, c.origin, c.root = 0, c.top.size, origin, nil
	c.room(c.top.levels)
	c.depth = 0
	c.descend(nil, origin, 0)
}

// room makes sure of so many frames.
func (c *Cursor) room(levels int) {
	if levels > inlineFrames+len(c.more) {
		c.more = make([]frame, levels-inlineFrames)
	}
}

// within checks that count elements, more than none, lie in memory. The arguments
// are those at pos and behind it.
func (t *Type) within(c call, pos, count int, mem []byte, origin int) error {
	lo, hi, ok := t.span(count)
	switch {
	case !ok:
		return c.badValue(pos, "count", count, ErrTooLarge)
	case origin < 0 || origin > len(mem):
		return hint(c.badValue(pos+2, "origin", origin, ErrMemory), "the memory has %d bytes", len(mem))
	case lo < -origin || hi > len(mem)-origin:
		return hint(c.bad(pos+1, "mem", ErrMemory), "%d elements touch the bytes from %d to %d from the origin, the memory has those from %d to %d",
			count, lo, hi, -origin, len(mem)-origin)
	}
	return nil
}

// Pos is the number of packed bytes before the cursor.
func (c *Cursor) Pos() int { return c.pos }

// Len is the number of packed bytes behind the cursor.
func (c *Cursor) Len() int { return c.size - c.pos }

// Size is the number of packed bytes of all elements.
func (c *Cursor) Size() int { return c.size }

// Seek moves the cursor to the packed byte pos, from 0 to Size; other numbers are
// taken to the nearer end. It takes time in the depth of the type, and in the
// logarithm of the length of its lists.
func (c *Cursor) Seek(pos int) {
	pos = min(max(pos, 0), c.size)
	if pos == c.pos {
		return
	}
	if c.pos < c.size { // a leaf is known
		if at := pos - c.start; at >= 0 && at < c.leafCode().size {
			c.pos = pos
			return
		}
	}
	c.pos = pos
	if pos == c.size {
		return
	}
	c.depth = 0
	c.descend(c.root, c.origin, pos)
}

func (c *Cursor) leafCode() *code {
	if c.leaf == nil {
		return &c.top
	}
	return c.leaf
}

func (c *Cursor) frame(depth int) *frame {
	if depth < inlineFrames {
		return &c.inline[depth]
	}
	return &c.more[depth-inlineFrames]
}

// descend goes from a step, nil for the top, that lies at base to the leaf in which
// pos lies, at bytes behind the step's beginning.
func (c *Cursor) descend(step *code, base, at int) {
	for {
		s := step
		if s == nil {
			s = &c.top
		}
		if s.op < codeLoop {
			c.leaf, c.base, c.start = step, base, c.pos-at
			return
		}
		f := c.frame(c.depth)
		c.depth++
		f.code, f.base = step, base
		if s.op == codeLoop {
			f.i = 0
			if at >= s.child.size {
				f.i = at / s.child.size
				at -= f.i * s.child.size
			}
			step, base = s.child, base+f.i*s.s2
			continue
		}
		f.i = 0
		if at > 0 {
			var start int
			f.i, start = s.list.find(at)
			at -= start
		}
		step, base = s.list.kid(f.i), base+s.list.disps[f.i]
	}
}

// next goes to the leaf behind the present one, of which there is one.
func (c *Cursor) next() {
	for {
		f := c.frame(c.depth - 1)
		s := f.code
		if s == nil {
			s = &c.top
		}
		f.i++
		switch {
		case s.op == codeLoop && f.i < s.n2:
			c.descend(s.child, f.base+f.i*s.s2, 0)
			return
		case s.op == codeSeq && f.i < len(s.list.disps):
			c.descend(s.list.kid(f.i), f.base+s.list.disps[f.i], 0)
			return
		}
		c.depth--
	}
}
