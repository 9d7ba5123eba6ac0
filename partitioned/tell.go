package partitioned

import (
	"fmt"
	"math/bits"

	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// Tell says what a request is, and what its round waits for.
func (e *Engine) Tell(r *progress.Request) (what, state string) {
	cid, tag := wire.Match(r.Imm)
	where := func(name, way string, s *side) string {
		return fmt.Sprintf("partitioned %s %s rank %d, tag %d, context %d, %d bytes in %d partitions", name, way, r.Peer, tag, cid, s.size, s.parts)
	}
	switch o := r.Object().(type) {
	case *Send:
		return where("send", "to", &o.side), o.state()
	case *Recv:
		return where("receive", "from", &o.side), o.state()
	}
	return "", ""
}

// Title makes the engine progress.Titled.
func (e *Engine) Title(r *progress.Request) string {
	switch r.Object().(type) {
	case *Send:
		return "partitioned send"
	case *Recv:
		return "partitioned receive"
	}
	return ""
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
