package datatype

import "encoding/binary"

// PackExternal packs count elements of a committed type in the external32
// representation (MPI_Pack_external, MPI-4.0 §5.3) to dst from pos on, and returns
// the position behind them. Displacement 0 is at mem[origin]. dst must not overlap
// the elements. An error is an *ArgError; dst is unchanged then.
//
// external32 is big-endian. Each kind has the same length there as in memory: a
// bool one byte, an int eight (where it has so many), floating-point numbers are
// IEEE's. Bytes and packed bytes are as they are.
func PackExternal(t *Type, count int, mem []byte, origin int, dst []byte, pos int) (int, error) {
	n, err := pack("PackExternal", t, count, mem, origin, dst, pos)
	if err == nil && t.place.node != nil {
		b := dst[pos:n]
		for size := t.size; len(b) > 0; b = b[size:] {
			t.swap(b[:size])
		}
	}
	return n, err
}

// scratch is how many bytes UnpackExternal converts at a time.
const scratch = 4 << 10

// UnpackExternal unpacks count elements of a committed type from external32 bytes
// (MPI_Unpack_external, MPI-4.0 §5.3) at src[pos:], and returns the position behind
// them. src is not changed and must not overlap the elements. An error is an
// *ArgError; the memory is unchanged then.
func UnpackExternal(t *Type, count int, mem []byte, origin int, src []byte, pos int) (int, error) {
	const c = call("UnpackExternal")
	var cur Cursor
	n, err := c.ready(&cur, t, count, mem, origin, src, "src", pos, ErrMissing)
	if err != nil {
		return pos, err
	}
	var buf [scratch]byte
	for rest := src[pos:n]; len(rest) > 0; {
		k := len(rest)
		if k > scratch {
			k = t.Cut(cur.Pos()+scratch) - cur.Pos()
		}
		part := buf[:copy(buf[:k], rest)]
		t.swapFrom(part, cur.Pos()%t.size)
		cur.Unpack(part)
		rest = rest[k:]
	}
	return n, nil
}

// swapFrom converts packed bytes of several elements of the type; at is where they
// begin in the first one.
func (t *Type) swapFrom(b []byte, at int) {
	for len(b) > 0 {
		k := min(t.size-at, len(b))
		t.place.node.swapPart(b[:k], at)
		b, at = b[k:], 0
	}
}

// swap converts all packed bytes of a node.
func (n *node) swap(b []byte) { n.swapPart(b, 0) }

// swapPart converts packed bytes of a node from the offset at on. They begin and end
// between elements.
func (n *node) swapPart(b []byte, at int) {
	if len(b) == 0 {
		return
	}
	if n.sole != 0 {
		swapKind(n.sole, b)
		return
	}
	switch n.op {
	case opRep:
		i := at / n.child.size
		for at -= i * n.child.size; len(b) > 0; at = 0 {
			k := min(n.child.size-at, len(b))
			n.child.swapPart(b[:k], at)
			b = b[k:]
		}
	case opSeq:
		i := n.find(at)
		for at -= n.start(i); len(b) > 0; i++ {
			c := n.part(i)
			k := min(c.size-at, len(b))
			c.swapPart(b[:k], at)
			b, at = b[k:], 0
		}
	}
}

// swapKind converts elements of one kind between the machine's order of bytes and
// external32's. It is its own inverse, and does nothing on a big-endian machine.
func swapKind(k Kind, b []byte) {
	t := &traits[k]
	if t.pair {
		first := traits[t.parts[0]].size
		for ; len(b) >= t.size; b = b[t.size:] {
			swapKind(t.parts[0], b[:first])
			swapKind(t.parts[1], b[first:t.size])
		}
		return
	}
	switch t.word {
	case 2:
		for ; len(b) >= 2; b = b[2:] {
			binary.BigEndian.PutUint16(b, binary.NativeEndian.Uint16(b))
		}
	case 4:
		for ; len(b) >= 4; b = b[4:] {
			binary.BigEndian.PutUint32(b, binary.NativeEndian.Uint32(b))
		}
	case 8:
		for ; len(b) >= 8; b = b[8:] {
			binary.BigEndian.PutUint64(b, binary.NativeEndian.Uint64(b))
		}
	}
}
