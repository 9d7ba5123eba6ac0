package mpi

import (
	"fmt"
	"math"
	"slices"

	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/comm"
	"github.com/weft-mpi/weft/internal/datatype"
	"github.com/weft-mpi/weft/internal/pt2pt"
)

// Alltoallw is Alltoallv with a Buf for each rank and direction, of whatever type
// (MPI_Alltoallw, MPI-4.0 §6.8): rank i gets the elements of send[i], and those of rank i
// come to recv[i]. What rank i sends rank j has as many bytes as what rank j receives of
// rank i; a Buf without elements is no message. The Bufs of recv overlap neither one
// another nor those of send. With []Buf{BufInPlace} as send, at all ranks, what is sent
// is in recv and replaced by what is received. On an intercommunicator rank i is the one
// of the remote group. It fails with ErrArg if there is not one Buf for each rank,
// ErrCount if what the rank sends itself has another length, and ErrBuffer for Bufs
// that overlap. Other errors are those of the Bufs. Non-local.
func (c *Comm) Alltoallw(send, recv []Buf) error {
	const call = "Comm.Alltoallw"
	var x operation
	if err := x.alltoallw(c, call, send, recv); err != nil {
		return c.raise(err)
	}
	if err := c.core.Collective(c.ctx, coll.Alltoallw, x.plan, &x.o); err != nil {
		return c.fail(call, err)
	}
	return nil
}

// Ialltoallw starts an Alltoallw (MPI_Ialltoallw, MPI-4.0 §6.12.6). Until the request has
// completed, the memory of send must not be written to and that of recv not be touched;
// the lists are copied. Errors are those of Alltoallw. Local.
func (c *Comm) Ialltoallw(send, recv []Buf) (Request, error) {
	var x operation
	return x.begin(c, coll.Alltoallw, x.alltoallw(c, "Comm.Ialltoallw", send, recv))
}

func (x *operation) alltoallw(c *Comm, call string, send, recv []Buf) error {
	if err := c.checkCollective(call); err != nil {
		return err
	}
	x.bufs, x.o.Elem = true, 1
	x.here = len(send) == 1 && send[0].inPlace()
	if c.remote > 0 && x.here {
		return refuseBetween(call, "send")
	}
	out, to, err := wideOf(call, "recv", recv, true, c.everyone())
	if err != nil {
		return err
	}
	x.o.Gaps = &comm.Gaps{Out: out}
	s := coll.Shape{RecvCounts: to.counts, RecvDispls: to.displs, InPlace: x.here}
	if !x.here {
		in, from, err := wideOf(call, "send", send, false, c.everyone())
		if err != nil {
			return err
		}
		x.o.Gaps.In = in
		switch {
		case c.remote == 0 && from.counts[c.rank] != to.counts[c.rank]:
			return badArg(call, ErrCount, "this rank sends itself %d bytes and receives %d: send[%d] and recv[%d] differ",
				from.counts[c.rank], to.counts[c.rank], c.rank, c.rank)
		case x.meet(from, to):
			return x.overlaps(call)
		}
		s.Counts, s.Displs = from.counts, from.displs
	}
	return x.irregular(c, coll.Alltoallw, &s)
}

// wideOf checks a Buf for each of the parties. Their bytes are numbered in a row.
func wideOf(call, arg string, bufs []Buf, into bool, of parties) (*wide, blocks, error) {
	if len(bufs) != of.n {
		return nil, blocks{}, badArg(call, ErrArg, "%s has %d Bufs for %d %ss: there has to be one for each", arg, len(bufs), of.n, of.name)
	}
	w := &wide{bufs: slices.Clone(bufs), at: make([]int, len(bufs)+1)}
	at := blocks{counts: make([]int, len(bufs)), displs: w.at[:len(bufs)]}
	hulls := make([]span, len(bufs))
	for i := range w.bufs {
		b := &w.bufs[i]
		if b.check(call, arg, into) != nil {
			return nil, at, b.check(call, fmt.Sprintf("%s[%d]", arg, i), into)
		}
		if b.t != nil {
			n, err := b.t.t.PackSize(b.n)
			if err != nil || n > math.MaxInt-w.at[i] {
				return nil, at, badArg(call, ErrCount, "%s[%d]: the elements of all Bufs have more than %d bytes", arg, i, math.MaxInt)
			}
			at.counts[i] = n
		}
		w.at[i+1] = w.at[i] + at.counts[i]
		hulls[i] = b.hull()
	}
	if into && overlapping(sorted(hulls)) {
		if all, few := w.pieces(at, 1); few && overlapping(all) {
			return nil, at, badArg(call, ErrBuffer, "two Bufs of %s overlap", arg)
		}
	}
	return w, at, nil
}

// overlapping reports whether spans in order have memory in common.
func overlapping(all []span) bool {
	end := uintptr(0)
	for _, s := range all {
		if s.from < end && s.from < s.to {
			return true
		}
		end = max(end, s.to)
	}
	return false
}

// wide is a row of Bufs, as package comm uses it.
type wide struct {
	bufs []Buf
	at   []int // number of the first byte of each, and of the last one's end
}

// find is the Buf with the byte at, which exists.
func (w *wide) find(at int) int {
	i, found := slices.BinarySearch(w.at, at)
	if !found {
		return i - 1
	}
	for w.at[i+1] == at {
		i++ // it has no bytes
	}
	return i
}

func (w *wide) Pack(dst []byte, at int) {
	w.each(at, len(dst), func(c *datatype.Cursor, done, n int) { c.Pack(dst[done : done+n]) })
}

func (w *wide) Unpack(src []byte, at int) {
	w.each(at, len(src), func(c *datatype.Cursor, done, n int) { c.Unpack(src[done : done+n]) })
}

func (w *wide) CopyTo(dst comm.Gapped, to, at, n int) {
	w.each(at, n, func(c *datatype.Cursor, from, n int) {
		dst.(*wide).each(to+from, n, func(d *datatype.Cursor, _, n int) { datatype.Copy(d, c, n) })
	})
}

// each calls f for the Bufs that have the n bytes from at on, with a cursor at the first
// one that is wanted of a Buf.
func (w *wide) each(at, n int, f func(c *datatype.Cursor, done, n int)) {
	var c datatype.Cursor
	for done := 0; done < n; {
		i := w.find(at + done)
		b, m := &w.bufs[i], min(n-done, w.at[i+1]-at-done)
		if err := c.Reset(b.t.t, b.n, b.mem, b.origin); err != nil {
			return // b has been checked
		}
		c.Seek(at + done - w.at[i])
		f(&c, done, m)
		done += m
	}
}

func (w *wide) Part(at, n int) pt2pt.Data {
	i := w.find(at)
	return w.bufs[i].part(at-w.at[i], n)
}

func (w *wide) hull() (all span) {
	for i := range w.bufs {
		switch h := w.bufs[i].hull(); {
		case h.from == h.to:
		case all.from == all.to:
			all = h
		default:
			all = span{min(all.from, h.from), max(all.to, h.to)}
		}
	}
	return all
}

// pieces are those of all Bufs: each is a block.
func (w *wide) pieces(blocks, int) (all []span, few bool) {
	var c datatype.Cursor
	for i := range w.bufs {
		b := &w.bufs[i]
		if w.at[i+1] == w.at[i] || c.Reset(b.t.t, b.n, b.mem, b.origin) != nil {
			continue
		}
		if all, few = b.pieces(&c, 0, w.at[i+1]-w.at[i], all); !few {
			return nil, false
		}
	}
	return sorted(all), true
}
