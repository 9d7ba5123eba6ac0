package mpi

import (
	"fmt"
	"reflect"

	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/comm"
	"github.com/weft-mpi/weft/internal/datatype"
)

// With WithTypeChecks a collective call begins with an exchange of signatures between all
// pairs of ranks: each tells each what MPI has it send there, whatever way the data take,
// and in a reduction its whole vector. Where nothing is sent the signature has no elements.

// part is some elements of the program's: n of type t. The zero part is none.
type part struct {
	t *datatype.Type
	n int
}

// compare has a call begin with what ranks compare of its elements. The elements that s
// counts are the operation's.
func (x *operation) compare(c *Comm, which coll.Call, s *coll.Shape) {
	if which == coll.Barrier {
		return
	}
	if c.signs {
		x.sign(c, which, s)
	}
	if c.w.checks {
		x.o.Elements = x.elements(c, which, s)
	}
}

// elements is what ranks compare with WithChecks of the elements of a call that combines
// none: their kind, or 0 if they are of several or there are none. Where ranks may have
// nothing to do with one another it is 0 too, but for one that exchanges elements with all.
func (x *operation) elements(c *Comm, which coll.Call, s *coll.Shape) uint16 {
	if x.o.Op != 0 || which.Near() {
		return 0 // it has their kind; and ranks that are no neighbors need not have one in common
	}
	var all datatype.Kind
	for peer := range c.peers {
		sends, takes := x.parts(c, which, s, peer)
		for _, p := range [...]part{sends, takes} {
			if p.n == 0 {
				if which == coll.Alltoallv || which == coll.Alltoallw {
					return 0
				}
				continue
			}
			k, one := p.t.Kind()
			if !one || k >= datatype.Packed || all != 0 && all != k {
				return 0
			}
			all = k
		}
	}
	if all == 0 {
		return 0
	}
	return ofElements<<8 | uint16(all)
}

// sign has a call begin with the exchange of signatures.
func (x *operation) sign(c *Comm, which coll.Call, s *coll.Shape) {
	n, line, of := c.peers, lineOfProgram(), ""
	own, wanted := make([]byte, signature*n), make([]byte, signature*n)
	for peer := range n {
		sends, takes := x.parts(c, which, s, peer)
		recordOf(own, peer).sign(sends.t, sends.n, line)
		recordOf(wanted, peer).sign(takes.t, takes.n, line)
	}
	if c.remote > 0 {
		of = " of the remote group"
	}
	me := fmt.Sprintf("rank %d", c.rank)
	x.o.Types = &comm.Types{Records: own, Judge: func(all []byte) error {
		for peer := range n {
			sent, want := recordOf(all, peer), recordOf(wanted, peer)
			if a, b := sent.sig(), want.sig(); !a.Matches(b) || a.Elements == 0 != (b.Elements == 0) {
				return &SignatureError{Sent: sent.words(), Sender: sent.line(), Wanted: want.words(), Receiver: want.line(),
					Call: which.String(), Rank: peer, from: fmt.Sprintf("rank %d%s", peer, of), to: me}
			}
		}
		return nil
	}}
}

// recordOf is that of a rank among those of all.
func recordOf(all []byte, rank int) *record { return (*record)(all[signature*rank:]) }

// parts are what MPI has this rank send a peer in a call, and take from it.
func (x *operation) parts(c *Comm, which coll.Call, s *coll.Shape, peer int) (sends, takes part) {
	if which.Near() {
		return x.partsOfNeighbors(c, which, s, peer)
	}
	block, arrives := s.Count, s.Count
	switch {
	case which == coll.ReduceScatter: // the counts are of this group's ranks
	case s.Counts != nil:
		block, arrives = s.Counts[peer], s.Counts[peer]
	case c.remote > 0:
		arrives = s.RecvCount
	}
	if s.RecvCounts != nil {
		arrives = s.RecvCounts[peer]
	}
	if which == coll.Reduce && c.remote > 0 {
		which = coll.Gather // the root combines no vector of its own
	}
	if c.remote == 0 && peer == c.rank && (which == coll.Bcast || s.InPlace && (which.FromRoot() || which == coll.Gather || which == coll.Gatherv)) {
		return sends, takes // the root's own data stay where they are
	}
	here := s.Root == Root || c.remote == 0 && s.Root == c.rank
	there := s.Root == peer && !s.InPlace
	switch which {
	case coll.Bcast:
		switch {
		case here:
			sends = x.input(block)
		case there:
			takes = x.result(block)
		}
	case coll.Gather, coll.Gatherv:
		if there {
			sends = x.input(s.Count)
		}
		if here {
			takes = x.result(block)
		}
	case coll.Scatter, coll.Scatterv:
		if here {
			sends = x.input(block)
		}
		if there {
			takes = x.result(block)
		}
	case coll.Allgather, coll.Allgatherv:
		return x.input(s.Count), x.result(arrives)
	case coll.Alltoall, coll.Alltoallv:
		if x.here {
			block = arrives
		}
		return x.input(block), x.result(arrives)
	case coll.Alltoallw:
		out := x.o.Gaps.Out.(*wide)
		in, _ := x.o.Gaps.In.(*wide)
		if x.here {
			in = out
		}
		return in.bufs[peer].whole(), out.bufs[peer].whole()
	case coll.ReduceScatterBlock:
		block *= c.size
		fallthrough
	default: // the ranks' vectors are alike
		return x.input(block), x.input(block)
	}
	return sends, takes
}

// input is the part with n elements of the operation that this rank gives.
func (x *operation) input(n int) part {
	if x.here {
		return x.result(n)
	}
	return x.part(x.sendType, n)
}

// result is one that it gets.
func (x *operation) result(n int) part { return x.part(x.recvType, n) }

// part is one in a Buf of type d, or in a slice.
func (x *operation) part(d *Datatype, n int) part {
	switch {
	case !x.bufs:
		k, _ := datatype.KindOf(reflect.TypeOf(x.pointer).Elem()) // it is of a Scalar
		return part{datatype.Of(k), n}
	case d == nil || d.t.Size() == 0:
		return part{}
	}
	return part{d.t, n * x.o.Elem / d.t.Size()}
}

// whole is the part with all elements of a checked Buf.
func (b *Buf) whole() part {
	if b.t == nil {
		return part{}
	}
	return part{b.t.t, b.n}
}
