package comm

import (
	"math/rand/v2"
	"sync"

	"github.com/weft-mpi/weft/internal/group"
	"github.com/weft-mpi/weft/internal/pt2pt"
)

// A context id is a random even number; the odd one behind it is the library's. So
// nothing is counted, nothing runs out, and creations on different communicators
// need no word between them: two of the same id, as good as never, are told by the
// members, each of which reserves the id at its engine before it is used. Each rank
// draws from a sequence of its own. 0 is the context of all ranks, and 2 that of each
// rank's Self.

// ids draws context ids. It is safe for concurrent use.
type ids struct {
	mu   sync.Mutex
	draw func() uint32
}

func newIDs(draw func() uint32, rank int) *ids {
	if draw == nil {
		draw = rand.New(rand.NewPCG(rand.Uint64(), uint64(rank))).Uint32
	}
	return &ids{draw: draw}
}

// next returns an id that a communicator may have.
func (g *ids) next() uint32 {
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		if id := g.draw() &^ 1; id != 0 && id != pt2pt.Creation {
			return id
		}
	}
}

// draw reserves an id that is free at this rank. For the owner.
func (in *Instance) draw() uint32 {
	for {
		if id := in.ids.next(); in.P2P.Reserve(id) {
			return id
		}
	}
}

// reserve keeps an id for a creation, and reports whether it is free. Local.
func (in *Instance) reserve(id uint32) (free bool) {
	in.Loop.Exclusive(func() { free = in.P2P.Reserve(id) })
	return free
}

// open makes a reserved id a communicator's, see pt2pt.Engine.Open. Local.
func (in *Instance) open(id uint32, own, remote *group.Map) {
	in.Loop.Exclusive(func() { in.P2P.Open(id, own, remote) })
}
