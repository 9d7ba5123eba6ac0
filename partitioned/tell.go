package partitioned

import (
	"fmt"
	"math/bits"

	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// Describe says what a request is, and in words what its round waits for.
func (e *Engine) Describe(r *progress.Request, words bool) progress.Info {
	i := progress.Info{Class: "partitioned", Firm: true}
	var s *side
	var told interface{ state() string }
	way := "to"
	switch o := r.Object().(type) {
	case *Send:
		i.Name, s, told = "partitioned send", &o.side, o
	case *Recv:
		i.Name, s, told, way = "partitioned receive", &o.side, o, "from"
	}
	if words && s != nil {
		cid, tag := wire.Match(r.Imm)
		i.What = fmt.Sprintf("%s %s rank %d, tag %d, context %d, %d bytes in %d partitions", i.Name, way, r.Peer, tag, cid, s.size, s.parts)
		i.State = told.state()
	}
	return i
}

func (s *Send) state() string {
	switch ready := s.ready.count(); {
	case s.ending != nil:
		return "has failed, and its memory is in use still"
	case s.theirs == 0:
		return "waits for a PrecvInit that matches it"
	case ready < s.parts:
		return fmt.Sprintf("%d partitions are not ready, the first is %d", s.parts-ready, s.ready.firstOut())
	case s.began.Load() != s.round.Load():
		return "waits for its receiver's Start"
	}
	return "is on its way"
}

func (r *Recv) state() string {
	got := r.got.Load()
	switch {
	case r.ending != nil:
		return "has failed, and its memory is in use still"
	case got == nil:
		return "waits for a PsendInit that matches it"
	}
	first, come := 0, 0
	for i := range r.parts {
		if r.Has(i) {
			if come++; first == i {
				first++
			}
		}
	}
	return fmt.Sprintf("%d partitions have not arrived, the first is %d", r.parts-come, first)
}

// count returns how many numbers are in.
func (m bitmap) count() (n int) {
	for i := range m {
		n += bits.OnesCount64(m[i].Load())
	}
	return n
}

// firstOut returns the lowest number that is not in.
func (m bitmap) firstOut() int {
	for i := range m {
		if out := ^m[i].Load(); out != 0 {
			return 64*i + bits.TrailingZeros64(out)
		}
	}
	return 64 * len(m)
}
