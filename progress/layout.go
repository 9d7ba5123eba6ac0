package progress

// Layout is the memory of a message that does not lie in one piece. The message
// is what Pack makes of it. Its methods are called under ownership: they neither
// block nor call the engine.
type Layout interface {
	// Pack fills dst with the bytes of the message from at on. Unpack puts bytes of
	// the message in their places. Pieces come in the order of the message; one may
	// be packed again.
	Pack(dst []byte, at uint64)
	Unpack(src []byte, at uint64)
	// Free is called once no request uses the layout any more. A loop that is closed
	// may not call it.
	Free()
}

// SetLayout has the request send from, or receive into, a layout of n bytes
// instead of Buf, which is nil then.
func (r *Request) SetLayout(lay Layout, n uint64) {
	r.lay, r.packed, r.special, r.shaped = lay, n, true, true
}

// Plain reports whether the request has neither ranks nor a layout.
func (r *Request) Plain() bool { return !r.shaped }

// Layout is the request's, or nil where Buf is its memory.
func (r *Request) Layout() Layout {
	if !r.shaped {
		return nil
	}
	return r.lay
}

// Size is how many bytes there are to send, or there is room for.
func (r *Request) Size() uint64 {
	if r.shaped && r.lay != nil {
		return r.packed
	}
	return uint64(len(r.Buf))
}

// unshape is the part of free for requests with ranks or a layout.
func (r *Request) unshape() {
	if r.lay != nil {
		r.lay.Free()
	}
	r.ranks, r.lay, r.shaped = nil, nil, false
}
