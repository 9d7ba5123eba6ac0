package partitioned

import (
	"github.com/weft-mpi/weft/internal/diagnose"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// mostRuns bounds the runs of missing partitions that State lists.
const mostRuns = 8

// State fills in what the round of a request waits for. For the owner.
func (e *Engine) State(r *progress.Request, w *diagnose.Wait) {
	cid, tag := wire.Match(r.Imm)
	w.Comm, w.Tag, w.Peer = cid, int(tag), int(r.Peer)
	switch o := r.Object().(type) {
	case *Send:
		w.Kind, w.State, w.Bytes, w.Partitions = diagnose.PartitionSend, o.state(), o.size, o.parts
		w.Missing = missing(o.parts, o.ready.has)
		needs := o.ending == nil && (o.theirs == 0 || len(w.Missing) == 0 && o.began.Load() != o.round.Load())
		if needs && int(r.Peer) != e.rank {
			w.Needs = []int{int(r.Peer)}
		}
	case *Recv:
		w.Kind, w.State, w.Bytes, w.Partitions = diagnose.PartitionRecv, o.state(), o.size, o.parts
		w.Missing = missing(o.parts, o.Has)
		if o.ending == nil && o.got.Load() == nil && int(r.Peer) != e.rank {
			w.Needs = []int{int(r.Peer)}
		}
	}
}

// missing lists the numbers below n that has does not have, as runs.
func missing(n int, has func(int) bool) (runs [][2]int) {
	for i := range n {
		switch last := len(runs) - 1; {
		case has(i):
		case last >= 0 && runs[last][1] == i-1:
			runs[last][1] = i
		case len(runs) == mostRuns:
			return runs
		default:
			runs = append(runs, [2]int{i, i})
		}
	}
	return runs
}
