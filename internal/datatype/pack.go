package datatype

import "github.com/weft-mpi/weft/mpi/cause"

// Pack packs count elements of a committed type to dst from pos on, and returns the
// position behind them (MPI_Pack, MPI-4.0 §5.2). Displacement 0 is at mem[origin].
// dst must not overlap the elements. An error is an *ArgError; dst is unchanged
// then.
func Pack(t *Type, count int, mem []byte, origin int, dst []byte, pos int) (int, error) {
	return pack("Pack", t, count, mem, origin, dst, pos)
}

func pack(c call, t *Type, count int, mem []byte, origin int, dst []byte, pos int) (int, error) {
	var cur Cursor
	n, err := c.ready(&cur, t, count, mem, origin, dst, "dst", pos, ErrShort)
	if err != nil {
		return pos, err
	}
	cur.Pack(dst[pos:n])
	return n, nil
}

// Unpack unpacks count elements of a committed type from src[pos:], and returns the
// position behind them (MPI_Unpack, MPI-4.0 §5.2). Displacement 0 is at mem[origin].
// src must not overlap the elements. An error is an *ArgError; the memory is
// unchanged then.
func Unpack(t *Type, count int, mem []byte, origin int, src []byte, pos int) (int, error) {
	var cur Cursor
	n, err := call("Unpack").ready(&cur, t, count, mem, origin, src, "src", pos, ErrMissing)
	if err != nil {
		return pos, err
	}
	cur.Unpack(src[pos:n])
	return n, nil
}

// ready sets a cursor for one of the calls above, and returns the position behind
// the packed bytes in buf.
func (c call) ready(cur *Cursor, t *Type, count int, mem []byte, origin int, buf []byte, arg string, pos int, short error) (int, error) {
	if err := cur.Reset(t, count, mem, origin); err != nil {
		e := err.(*cause.ArgError)
		e.Call = string(c)
		return pos, e
	}
	switch n := cur.Size(); {
	case pos < 0 || pos > len(buf):
		return pos, hint(c.badValue(6, "pos", pos, ErrOutside), "%s has %d bytes", arg, len(buf))
	case n > len(buf)-pos:
		return pos, hint(c.bad(5, arg, short), "%d are packed, it has %d from position %d on", n, len(buf)-pos, pos)
	default:
		return pos + n, nil
	}
}
