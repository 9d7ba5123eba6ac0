package comm

import "github.com/weft-mpi/weft/internal/group"

// selfID is the context of each rank's communicator of itself alone. No draw
// gives it.
const selfID = 2

// newSelf makes that communicator.
func (in *Instance) newSelf(rank, size int) *Comm {
	in.reserve(selfID)
	c := &Comm{P2P: in.P2P, ID: selfID, Rank: 0, Size: 1, in: in}
	if size > 1 {
		c.Ranks, _ = group.New([]int{rank}) // no rank is in it twice
	}
	return in.add(c)
}

// Announce tells the engine how Self numbers its ranks, before its first operation:
// as long as the engine knows no other numbering than the job's, it looks none up.
// Creations tell it of their communicators themselves. Local.
func (c *Comm) Announce() { c.known.Do(func() { c.in.open(c.ID, c.Ranks, nil) }) }
