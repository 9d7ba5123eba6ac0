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

// The engine names ranks as the job does. Its callers translate the ranks that
// they pass (group.Map.World); the results of operations, and their errors, are
// translated here, once, where they are made.

// SetRanks says how the communicator of a context and of the library's context
// beside it numbers its ranks, before its first operation and, with nil, after its
// last one. It is local.
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

// RankError is the error of an operation on a communicator that numbers ranks in
// its own way. Err names a rank of the job: Rank is the same one.
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

// inRanks is an error of an operation in terms of its communicator.
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

// setResult says what was received, or found, from a rank of the job.
func setResult(r *progress.Request, source int, tag int32, total uint64) {
	r.Result = progress.Result{Source: int32(source), Tag: tag, Bytes: total}
	if m := r.Ranks(); m != nil {
		r.Result.Source = int32(m.Rank(source))
	}
}

// result says what has arrived as its communicator does.
func (e *Engine) result(a *arrival) progress.Result {
	cid, tag := wire.Match(a.imm)
	res := progress.Result{Source: int32(a.from), Tag: tag, Bytes: a.total}
	if e.ranks != nil {
		res.Source = int32(e.ranksOf(cid).Rank(int(a.from)))
	}
	return res
}

// othersDown is why none of the other ranks of a communicator can send any more,
// or nil. With connect it connects to a single other rank, as a receive from that
// rank does.
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

// deathIn is the death of a rank of a communicator, the first in its order, or
// nil; in that of all ranks the first that was heard of.
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
