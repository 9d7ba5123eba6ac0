package mpi

import "github.com/weft-mpi/weft/internal/datatype"

// The packed form of elements is their bytes in the order of the type, without gaps and
// without a header, so several Packs to one slice, in turn, make one message of TypePacked.
// All ranks of a job have one representation: a call needs no communicator, unlike C's.
// What has been packed is unpacked in the same pieces, or in others of the same elements.

// Pack packs b to out[pos:], and returns the position behind it (MPI_Pack, MPI-4.0 §5.2).
// It writes PackSize bytes. out must not overlap b's elements. An error is ErrBuffer,
// ErrArg, or one of b, and out is unchanged then. Local.
func Pack(b Buf, out []byte, pos int) (next int, err error) {
	return pack("Pack", datatype.Pack, b, out, pos)
}

// Unpack unpacks in[pos:] into b, and returns the position behind what it has read
// (MPI_Unpack, MPI-4.0 §5.2). It reads PackSize bytes. in must not overlap b's elements.
// An error is ErrBuffer, ErrArg, or one of b, and b's memory is unchanged then. Local.
func Unpack(in []byte, pos int, b Buf) (next int, err error) {
	return unpack("Unpack", datatype.Unpack, in, pos, b)
}

// PackSize is how many bytes count elements of d have when they are packed (MPI_Pack_size,
// MPI-4.0 §5.2). It is no bound, as in C, but the number. An error is ErrType or ErrCount.
// Local.
func PackSize(count int, d *Datatype) (int, error) { return packSize("PackSize", count, d) }

// PackExternal is Pack in the representation external32 (MPI_Pack_external, MPI-4.0 §5.3),
// which any machine and any MPI reads, for files and for ranks of other jobs. It is
// big-endian. Elements have the length that they have in memory: a bool has one byte, an
// int eight. TypeByte and TypePacked are written as they are. Errors are those of Pack.
// Local.
func PackExternal(b Buf, out []byte, pos int) (next int, err error) {
	return pack("PackExternal", datatype.PackExternal, b, out, pos)
}

// UnpackExternal is Unpack of the representation external32 (MPI_Unpack_external, MPI-4.0
// §5.3). in stays as it is. Errors are those of Unpack. Local.
func UnpackExternal(in []byte, pos int, b Buf) (next int, err error) {
	return unpack("UnpackExternal", datatype.UnpackExternal, in, pos, b)
}

// PackExternalSize is PackSize of the representation external32 (MPI_Pack_external_size,
// MPI-4.0 §5.3), which has the same length. Errors are those of PackSize. Local.
func PackExternalSize(count int, d *Datatype) (int, error) {
	return packSize("PackExternalSize", count, d)
}

// copyPacked is one of layout's calls that pack or unpack.
type copyPacked func(t *datatype.Type, count int, mem []byte, origin int, packed []byte, pos int) (int, error)

func pack(call string, do copyPacked, b Buf, out []byte, pos int) (int, error) {
	if err := b.packed(call, "b", false, "out", out, 3, pos); err != nil || b.t == nil {
		return pos, raiseSelf(err)
	}
	next, err := do(b.t.t, b.n, b.mem, b.origin, out, pos)
	return next, raiseSelf(typeFailure(call, err))
}

func unpack(call string, do copyPacked, in []byte, pos int, b Buf) (int, error) {
	if err := b.packed(call, "b", true, "in", in, 2, pos); err != nil || b.t == nil {
		return pos, raiseSelf(err)
	}
	next, err := do(b.t.t, b.n, b.mem, b.origin, in, pos)
	return next, raiseSelf(typeFailure(call, err))
}

// packed checks a call that packs b, or unpacks into it, at buf[pos:]; pos is its argument
// at the place posAt.
func (b *Buf) packed(call, arg string, into bool, bufArg string, buf []byte, posAt, pos int) error {
	if err := b.check(call, arg, into); err != nil {
		return err
	}
	if pos < 0 || pos > len(buf) {
		return badArg(call, ErrArg, "argument %d, pos = %d: it is outside of %s, which has %d bytes", posAt, pos, bufArg, len(buf))
	}
	n := b.size()
	if n > len(buf)-pos {
		return badArg(call, ErrBuffer, "%s: it has %d bytes from position %d on, the elements of %s have %d", bufArg, len(buf)-pos, pos, arg, n)
	}
	if n > 0 && b.touches(buf[pos:pos+n]) {
		return badArg(call, ErrBuffer, "%s and %s overlap: the elements and their packed bytes have to be apart", bufArg, arg)
	}
	return nil
}

// touches reports whether an element of b, which has been checked, has memory in common
// with some other memory.
func (b *Buf) touches(memory []byte) bool {
	lo, hi, _ := b.t.t.Span(b.n)
	if !overlap(b.mem[b.origin+lo:b.origin+hi], memory) {
		return false
	}
	var at datatype.Cursor
	if at.Reset(b.t.t, b.n, b.mem, b.origin) != nil {
		return false
	}
	for off, n := range at.Runs(len(b.mem)) {
		if overlap(b.mem[off:off+n], memory) {
			return true
		}
	}
	return false
}

func packSize(call string, count int, d *Datatype) (int, error) {
	if err := d.refuse(call); err != nil {
		return 0, raiseSelf(err)
	}
	n, err := d.t.PackSize(count)
	return n, raiseSelf(typeFailure(call, err))
}
