package comm

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/pt2pt"
)

// PendingError is the error of receives and probes from any source, on a communicator of
// which a rank has died that this rank has not acknowledged.
type PendingError struct {
	Err error // names the rank
}

func (e *PendingError) Error() string {
	return fmt.Sprintf("a rank has failed, from which the message might have come: call AckFailed to wait for the others (%v)", e.Err)
}
func (e *PendingError) Unwrap() error { return e.Err }

// pend has the communicators in which messages of a rank might come wait for it no longer.
func (in *Instance) pend(p fabric.Peer, err error) {
	in.mu.Lock()
	var all []*Comm
	for c := range in.live {
		if of := cmp.Or(c.Remote, c.Ranks); of == nil || of.Rank(int(p)) >= 0 {
			all = append(all, c)
		}
	}
	in.mu.Unlock()
	slices.SortFunc(all, func(a, b *Comm) int { return cmp.Compare(a.ID, b.ID) })
	for _, c := range all {
		why := err
		if c.Remote != nil {
			why = pt2pt.InRanks(c.Remote, true, err)
		} else if c.Ranks != nil {
			why = pt2pt.InRanks(c.Ranks, false, err)
		}
		c.P2P.Pend(c.ID, &PendingError{why})
	}
}
