package rma

import (
	"errors"
	"math"

	"github.com/weft-mpi/weft/fabric"
)

// A Put or Get of elements that lie apart is one of the fabric for each piece that is one
// range in both memories. Each costs about what a packet does, whose bytes are copied
// twice and need the target's library: so they go that way if they are few, or as long on
// average as the pieces in which the fabric likes to have a long message (Caps.Chunk).

const (
	// fewPieces go by the fabric, however short they are.
	fewPieces = 4
	// lookAtPieces is from how many of them on the average is taken.
	lookAtPieces = 64
)

// nativeTyped is how far the fabric is with an operation.
type nativeTyped struct {
	chosen  bool
	posted  int  // bytes that the fabric has taken
	under   int  // operations under way that it reports
	stopped bool // one has failed: no more are begun
	refused bool // with ErrUnsupported: the whole operation goes again, in packets
}

// choose settles whether the operation goes by the fabric.
func (v *nativeTyped) choose(o *action) {
	t, w := o.t, o.w
	if o.code != codeBytes || t.rank == w.rank || w.dynamic || w.check != nil || !t.caps.Put || !t.caps.Get {
		return
	}
	y, pieces, bytes := o.typed, 0, 0
	for bytes < o.n && pieces < lookAtPieces {
		_, _, n := y.pieceAt(bytes)
		bytes += n
		pieces++
	}
	v.chosen = bytes == o.n && pieces <= fewPieces || bytes >= pieces*t.caps.Chunk
	if !v.chosen {
		return
	}
	e := &y.x.Src
	if o.get {
		e = &y.x.Old
	}
	if lo, hi, err := e.Type.Span(e.Count); err == nil { // else they would not be in memory
		mem := e.Mem[e.Origin+lo : e.Origin+hi : e.Origin+hi]
		if o.get {
			o.dst = mem
		} else {
			o.src = mem
		}
	}
}

// pieceAt is the piece at a byte of a Put or Get that is one range in both memories: where
// it begins behind the first byte of the elements at the target, and its memory here.
func (y *typedAction) pieceAt(at int) (off int, mem []byte, n int) {
	own, whole := &y.sides.src, y.sides.from
	if y.x.Old.Type != nil {
		own, whole = &y.sides.old, y.sides.into
	}
	y.there.Seek(at)
	own.Seek(at)
	off, n = y.there.Next(math.MaxInt)
	here, n := own.Next(n)
	return off, whole[here : here+n : here+n], n
}

// post has the fabric begin what it has room for.
func (o *action) post() error {
	t, v := o.t, &o.typed.native
	name := fabric.NoOp
	if o.named {
		name = o.r.Op()
	}
	ep := o.conn().Endpoint()
	for v.posted < o.n && !v.stopped {
		off, mem, n := o.typed.pieceAt(v.posted)
		seg := fabric.Segment{Bytes: mem, Region: o.region}
		there := fabric.Remote{Addr: t.memory.Addr + uint64(o.typed.low+off), Len: uint64(n), Key: t.memory.Key}
		var err error
		if o.get {
			err = ep.Get(seg, there, name)
		} else {
			err = ep.Put(seg, there, name)
		}
		switch {
		case err == nil:
			t.native = true
			v.posted += n
			if o.named {
				v.under++
			}
		case err == fabric.ErrAgain:
			return err
		case errors.Is(err, fabric.ErrUnsupported):
			t.packets, v.refused, v.stopped = true, true, true
		default:
			o.note(err)
			v.stopped = true
		}
	}
	o.w.e.loop.Rouse() // a Poll reports their end
	o.postedAll()
	return nil
}

// postedOne takes the end of one of the fabric's operations.
func (o *action) postedOne(err error) {
	v := &o.typed.native
	v.under--
	switch {
	case err == nil:
	case errors.Is(err, fabric.ErrUnsupported):
		o.t.packets, v.refused, v.stopped = true, true, true
	default:
		o.note(err)
		v.stopped = true
	}
	o.postedAll()
}

// postedAll ends the operation if nothing of it is left, and its memory is not in use. What
// bears no name uses it until a flush.
func (o *action) postedAll() {
	v := &o.typed.native
	if v.posted < o.n && !v.stopped || v.under > 0 {
		return
	}
	if !o.named && v.posted > 0 {
		o.t.kept = append(o.t.kept, kept{o.buf(), o.region})
		o.region = fabric.Region{}
	}
	if o.r.Queued() { // for the rest, which is not to follow
		o.conn().Withdraw(o.r)
	}
	if o.failure == nil && v.refused {
		o.enlane()
		return
	}
	o.end(o.failure)
}
