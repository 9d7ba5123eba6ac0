package comm

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/rma"
)

// A window is a duplicate of its communicator, whose context is the window's id, and
// the parts of its ranks. Each rank registers its part before it tells the others of
// it, so who knows of a part can use it. If a rank can't make its part, all fail alike.

// WindowError is the error of the ranks of a window that another rank could not make.
type WindowError struct {
	Rank int   // in the communicator
	Code int32 // the class of its error
}

func (e *WindowError) Error() string {
	return fmt.Sprintf("no rank has got the window, since rank %d could not make its part; its error says why", e.Rank)
}

// ErrUnshared is the error of a shared window of ranks that do not reach each other's
// memory.
var ErrUnshared = errors.New("the ranks can't share memory: make the window of a communicator of SplitType(TypeShared)")

// ErrTooLong is the error of a shared window whose parts are too long together.
var ErrTooLong = errors.New("the parts of all ranks are together longer than any memory")

// Part says what a rank exposes.
type Part struct {
	Mem  []byte // nil of a dynamic window
	Unit int    // displacement unit in bytes, or rma.Dynamic
	// Share, unless nil, makes the window a shared one. Its parts of Bytes bytes each
	// lie one behind the other in memory that Share gives at rank 0. Without it, but
	// with Reached, all ranks have to reach all parts.
	Share   func(bytes int) ([]byte, error)
	Bytes   int
	Adjoins bool // the next part of a shared window begins where this one ends
	Reached bool
	// Line, unless nil, gives the window separate memory, which checks accesses: it
	// returns the line of the program's call under way. Not with Share or Reached.
	Line func() string
}

// Window makes a window on a part of each rank. All ranks of the communicator call it.
// spec is that of the duplicate. Non-local.
func (c *Comm) Window(ctx context.Context, spec Spec, part Part) (*Comm, *rma.Win, error) {
	d, err := c.Create(ctx, spec)
	if lost := (*CreationError)(nil); errors.As(err, &lost) && !lost.InJob {
		err = &WindowError{lost.Rank, lost.Code} // a communicator is not what was asked for
	}
	if err != nil {
		return nil, nil, err
	}
	w, err := d.window(ctx, part)
	if err != nil {
		d.Free()
		return nil, nil, err
	}
	return d, w, nil
}

func (d *Comm) window(ctx context.Context, part Part) (_ *rma.Win, err error) {
	var sizes []rma.Extent
	mem, unit := part.Mem, part.Unit
	var failed error
	if part.Share != nil {
		if sizes, err = d.extents(ctx, part); err != nil {
			return nil, err
		}
		mem, unit = nil, 1
		total, fits := rma.Total(sizes)
		if !fits {
			return nil, ErrTooLong // at all ranks
		}
		if d.Rank == 0 {
			mem, failed = part.Share(total)
		}
	}
	var w *rma.Win
	if failed == nil {
		w, failed = d.in.Wins.Prepare(d.ID, d.Ranks, d.Rank, d.Size, mem, unit, part.Line)
	}
	parts, err := d.exchange(ctx, w, failed)
	if err == nil {
		barrier := func(ctx context.Context) error { return d.Barrier(ctx, false) }
		failed = w.Join(parts, barrier)
		if failed == nil && part.Share != nil && !w.Divide(sizes) || failed == nil && part.Reached && !w.AllReached() {
			failed = ErrUnshared
		}
		if part.Share != nil || part.Reached {
			_, err = d.exchange(ctx, nil, failed)
		} else {
			err = failed
		}
	}
	if err != nil {
		if w != nil {
			w.Discard()
		}
		return nil, err
	}
	return w, nil
}

// extents are the lengths of all parts.
func (d *Comm) extents(ctx context.Context, part Part) ([]rma.Extent, error) {
	const block = 24
	in, out := make([]byte, block), make([]byte, block*d.Size)
	binary.LittleEndian.PutUint64(in, uint64(part.Bytes))
	binary.LittleEndian.PutUint64(in[8:], uint64(part.Unit))
	if part.Adjoins {
		in[16] = 1
	}
	p := coll.Make(coll.Allgather, &coll.Shape{Rank: d.Rank, Size: d.Size, Count: 1, Bytes: block})
	if err := d.Collective(ctx, coll.Allgather, &p, &Operands{In: in, Out: out, Elem: block}); err != nil {
		return nil, err
	}
	all := make([]rma.Extent, d.Size)
	for i := range all {
		b := out[block*i:]
		all[i] = rma.Extent{Bytes: int(binary.LittleEndian.Uint64(b)), Unit: int(binary.LittleEndian.Uint64(b[8:])), Adjoins: b[16] != 0}
	}
	return all, nil
}

// failedPart is in the word of a rank that has failed, beside the class of its error.
const failedPart = 1 << 32

// exchange tells every rank of this one's part, unless w is nil, and of its failure, and
// returns theirs.
func (d *Comm) exchange(ctx context.Context, w *rma.Win, failed error) ([]rma.Part, error) {
	const block = 8 + rma.PartSize
	in, out := make([]byte, block*d.Size), make([]byte, block*d.Size)
	for i := range d.Size {
		b := in[block*i:]
		switch {
		case failed != nil:
			binary.LittleEndian.PutUint64(b, failedPart|uint64(uint32(d.in.class(failed))))
		case w != nil:
			p := w.Part(i)
			copy(b[8:], p[:])
		}
	}
	p := coll.Make(coll.Alltoall, &coll.Shape{Rank: d.Rank, Size: d.Size, Count: 1, Bytes: block})
	if err := d.Collective(ctx, coll.Alltoall, &p, &Operands{In: in, Out: out, Elem: block}); err != nil {
		return nil, err
	}
	d.scratch = nil // a window makes no such calls any more
	d.made.blocking.Store(nil)
	parts := make([]rma.Part, d.Size)
	var err error
	for i := range d.Size {
		b := out[block*i:]
		if copy(parts[i][:], b[8:]); err == nil && binary.LittleEndian.Uint64(b) != 0 {
			err = &WindowError{i, int32(binary.LittleEndian.Uint64(b))}
		}
	}
	if failed != nil {
		err = failed
	}
	return parts, err
}
