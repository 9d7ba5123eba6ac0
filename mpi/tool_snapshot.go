package mpi

import "github.com/weft-mpi/weft/progress/counters"

// Snapshot is a copy of a rank's counters at one moment: of messages by way and
// direction, of what waits, of the transports. Families are named as Prometheus names
// them; those that end in _total only grow.
type Snapshot = counters.Snapshot

// SnapshotFamily is the counters of one name, SnapshotRow one of them.
type (
	SnapshotFamily = counters.Family
	SnapshotRow    = counters.Row
)

// Snapshot copies the rank's counters; it is empty if w is nil, and stays as it was
// at Finalize. It takes as long as the operation that the engine is at. Local.
func (w *World) Snapshot() Snapshot {
	if w == nil || w.comm == nil {
		return Snapshot{}
	}
	return w.engine.Loop.Snapshot()
}
