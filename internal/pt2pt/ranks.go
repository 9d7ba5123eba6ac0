package pt2pt

import (
	"errors"
	"fmt"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/group"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/match"
	"github.com/weft-mpi/weft/progress"
)

// The engine uses the job's rank numbers. Its callers translate the ranks that
// they pass (group.Map.World). The engine translates the results and errors of
// operations, once, where it makes them, by the groups of Open.

// ranksOf is how a context's communicator numbers peers: nil as in the job.
func (e *Engine) ranksOf(cid uint32) *group.Map {
	if c := e.communicatorOf(cid); c != nil {
		return c.ranks()
	}
	return nil
}

// localOf is the local group of an intercommunicator, for its collective calls,
// which need both groups: nil for its other messages, which are between the groups,
// and for other communicators.
func (e *Engine) localOf(cid uint32) *group.Map {
	if c := e.communicatorOf(cid); c != nil && c.remote != nil && wire.Library(cid) {
		return c.own
	}
	return nil
}

// RankError is the error of an operation on a communicator with rank numbers of
// its own. Err names a rank of the job, and Rank the same rank.
type RankError struct {
	// Rank is the number in the communicator, or in the remote group of an
	// intercommunicator. It is -1 for a rank that has none.
	Rank   int
	Remote bool // the communicator is an intercommunicator
	Err    error
}

func (e *RankError) Error() string {
	group := "communicator"
	if e.Remote {
		group = "remote group"
	}
	if e.Rank < 0 {
		return fmt.Sprintf("%v (numbered as in the job: the %s has no number for the rank)", e.Err, group)
	}
	if named, ok := e.Err.(*fabric.Error); ok {
		return fmt.Sprintf("rank %d of the %s: %s", e.Rank, group, named.Unnumbered())
	}
	return fmt.Sprintf("rank %d of the %s: %v (numbered as in the job)", e.Rank, group, e.Err)
}

func (e *RankError) Unwrap() error { return e.Err }

// inRanks translates an operation's error into its communicator's ranks, which m
// numbers.
func (e *Engine) inRanks(cid uint32, m *group.Map, err error) error {
	if m == nil {
		return err
	}
	return e.rankError(cid, m, err)
}

func (e *Engine) rankError(cid uint32, m *group.Map, err error) error {
	c := e.communicatorOf(cid)
	return InRanks(m, c != nil && c.remote == m, err)
}

// InRanks translates an error that names a rank of the job into the ranks that m numbers,
// those of a remote group or of a communicator's only one.
func InRanks(m *group.Map, remote bool, err error) error {
	var named *fabric.Error
	if errors.As(err, new(*RankError)) || !errors.As(err, &named) || !named.HasPeer {
		return err
	}
	return &RankError{Rank: m.Rank(int(named.Peer)), Remote: remote, Err: err}
}

// setResult sets the result of a receive or probe, from a rank of the job.
func setResult(r *progress.Request, source int, tag int32, total uint64) {
	r.Result = progress.Result{Source: int32(source), Tag: tag, Bytes: total}
	if m := r.Ranks(); m != nil {
		r.Result.Source = int32(m.Rank(source))
	}
}

// result is an arrival's result in its communicator's ranks.
func (e *Engine) result(a *arrival) progress.Result {
	cid, tag := wire.Match(a.imm)
	res := progress.Result{Source: int32(a.from), Tag: tag, Bytes: e.length(cid, a.total)}
	if e.unlike > 0 {
		res.Source = int32(e.ranksOf(cid).Rank(int(a.from)))
	}
	return res
}

// othersDown returns why none of the other ranks that m numbers can send any more
// in a communicator's context, or nil. With connect it connects to a single other
// rank, as a receive from that rank does.
func (e *Engine) othersDown(cid uint32, m *group.Map, connect bool) (err error) {
	groups := [...]*group.Map{m, e.localOf(cid)}
	if connect {
		n := 0
		e.eachOther(groups[:], func(fabric.Peer) bool { n++; return n < 2 })
		connect = n == 1
	}
	e.eachOther(groups[:], func(p fabric.Peer) bool {
		if err = nil; connect || e.peers[p].down {
			err = e.loop.Conn(p).Down()
		}
		return err != nil
	})
	return err
}

// eachOther calls f for the other ranks of groups, as the job numbers them, until f
// returns false. It skips a group that is nil.
func (e *Engine) eachOther(groups []*group.Map, f func(fabric.Peer) bool) {
	for _, m := range groups {
		for i := range max(m.Len(), 0) {
			if w := m.World(i); w != e.rank && !f(fabric.Peer(w)) {
				return
			}
		}
	}
}

// lonely reports whether a request waits for any rank and the others of its
// communicator are all down; last says so of those of the job.
func (e *Engine) lonely(r *progress.Request, last bool) bool {
	if r.Peer != match.AnySource {
		return false
	}
	if m := r.Ranks(); m != nil {
		return e.othersDown(cidOf(r), m, false) != nil
	}
	return last
}

// deathIn returns the death of a rank of a context's communicator, the first in its
// order, or nil; for all ranks of the job, the first one reported.
func (e *Engine) deathIn(cid uint32) (err error) {
	m := e.ranksOf(cid)
	if m == nil {
		return e.dead
	}
	e.eachOther([]*group.Map{m, e.localOf(cid)}, func(p fabric.Peer) bool {
		if e.peers[p].dead {
			err = e.loop.Conn(p).Down()
		}
		return err == nil
	})
	return err
}
