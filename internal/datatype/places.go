package datatype

// ResetSpan is Reset for memory that has nothing but the bytes that the elements touch,
// those of [Type.Span]: its first one is mem[0]. Displacement 0 need not be among them.
func (c *Cursor) ResetSpan(t *Type, count int, mem []byte) error {
	const who = call("ResetSpan")
	n, err := c.span(who, t, count)
	switch {
	case err != nil:
		return err
	case n != len(mem):
		c.pos, c.size = 0, 0
		return hint(who.bad(3, "mem", ErrMemory), "%d elements touch %d bytes, the memory has %d", count, n, len(mem))
	}
	c.mem = mem
	return nil
}

// span sets the cursor to the beginning of the elements, where offset 0 is the first
// byte that they touch, and returns how many bytes it is up to the last one.
func (c *Cursor) span(who call, t *Type, count int) (n int, err error) {
	c.pos, c.size, c.mem, c.root = 0, 0, nil, nil
	if t == nil {
		return 0, who.bad(1, "t", ErrNilType)
	}
	p := t.prog.Load()
	if p == nil {
		return 0, who.bad(1, "t", ErrNotCommitted)
	}
	if count <= 0 || p.root == nil {
		return 0, who.count(2, "count", count)
	}
	lo, hi, ok := t.span(count)
	if !ok {
		return 0, who.badValue(2, "count", count, ErrTooLarge)
	}
	c.many(p.root, count, t.ub-t.lb, t.at-lo)
	return hi - lo, nil
}

// Places is a cursor without memory: it tells where the bytes of elements lie that are
// another rank's. The zero value has none. Like a Cursor it must not be copied after
// Reset and is used by one goroutine at a time.
type Places struct{ c Cursor }

// Reset sets it to the beginning of count elements of a committed type. An error is an
// *ArgError; there are no places then.
func (p *Places) Reset(t *Type, count int) error {
	_, err := p.c.span("Reset", t, count)
	return err
}

// Next is [Cursor.Next]: n packed bytes lie one after another, off bytes behind the first
// byte that the elements touch, see [Type.Span].
func (p *Places) Next(limit int) (off, n int) { return p.c.Next(limit) }

// Seek is [Cursor.Seek].
func (p *Places) Seek(pos int) { p.c.Seek(pos) }
