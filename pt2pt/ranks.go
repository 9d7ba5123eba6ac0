package pt2pt

import (
	"errors"
	"fmt"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/group"
	"github.com/weft-mpi/weft/match"
	"github.com/weft-mpi/weft/progress"
	"github.com/weft-mpi/weft/wire"
)

// The engine uses the job's rank numbers. Its callers translate the ranks that
// they pass (group.Map.World). The engine translates the results and errors of
// operations, once, where it makes them.

// SetRanks sets the rank numbers of a communicator: of its context and of the
// library's context beside it. It is called before the communicator's first
// operation and, with nil, after its last one. Local.
func (e *Engine) SetRanks(cid uint32, m *group.Map) {
	e.loop.Exclusive(func() {
		cid = wire.User(cid)
		switch {
		case m != nil && e.ranks == nil:
			e.ranks = map[uint32]*group.Map{cid: m}
		case m != nil:
			e.ranks[cid] = m
		default:
			if delete(e.ranks, cid); len(e.ranks) == 0 {
				e.ranks = nil
			}
		}
	})
}

func (e *Engine) ranksOf(cid uint32) *group.Map { return e.ranks[wire.User(cid)] }

// RankError is the error of an operation on a communicator with rank numbers of
// its own. Err names a rank of the job; Rank is the same rank.
type RankError struct {
	Rank int // in the communicator, or -1 for a rank that is not in it
	Err  error
}

func (e *RankError) Error() string {
	if e.Rank < 0 {
		return fmt.Sprintf("%v (numbered as in the job: the rank is not in the communicator)", e.Err)
	}
	return fmt.Sprintf("rank %d of the communicator: %v (numbered as in the job)", e.Rank, e.Err)
}

func (e *RankError) Unwrap() error { return e.Err }

// inRanks translates an operation's error into its communicator's ranks.
func inRanks(m *group.Map, err error) error {
	if m == nil {
		return err
	}
	return rankError(m, err)
}

func rankError(m *group.Map, err error) error {
	var named *fabric.Error
	if errors.As(err, new(*RankError)) || !errors.As(err, &named) || !named.HasPeer {
		return err
	}
	return &RankError{m.Rank(int(named.Peer)), err}
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
	res := progress.Result{Source: int32(a.from), Tag: tag, Bytes: a.total}
	if e.ranks != nil {
		res.Source = int32(e.ranksOf(cid).Rank(int(a.from)))
	}
	return res
}

// othersDown returns why none of the other ranks of a communicator can send any
// more, or nil. With connect it connects to a single other rank, as a receive
// from that rank does.
func (e *Engine) othersDown(m *group.Map, connect bool) (err error) {
	connect = connect && m.Len() == 2
	for i := range m.Len() {
		w := m.World(i)
		if w == e.rank {
			continue
		}
		if !connect && !e.peers[w].down {
			return nil
		}
		if err = e.loop.Conn(fabric.Peer(w)).Down(); err == nil {
			return nil
		}
	}
	return err
}

// lonely reports whether a request waits for any rank and the others of its
// communicator are all down; last says so of those of the job.
func (e *Engine) lonely(r *progress.Request, last bool) bool {
	if r.Peer != match.AnySource {
		return false
	}
	if m := r.Ranks(); m != nil {
		return e.othersDown(m, false) != nil
	}
	return last
}

// deathIn returns the death of a rank of a communicator, the first in its order,
// or nil; for all ranks of the job, the first one reported.
func (e *Engine) deathIn(m *group.Map) error {
	if m == nil {
		return e.dead
	}
	for i := range m.Len() {
		if w := m.World(i); e.peers[w].dead {
			return e.loop.Conn(fabric.Peer(w)).Down()
		}
	}
	return nil
}
