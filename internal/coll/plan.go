package coll

import "fmt"

// A Plan is what one rank does in one collective call: a list of steps that are
// taken one after another. It is made of the call's Shape alone, without I/O, so
// that the plans of all ranks can be run, and proved right, in one goroutine. A
// Plan does not change once it is made, and is safe for concurrent use.
type Plan struct {
	Steps  []Step
	Temp   int   // elements of temporary memory (Temp)
	By     uint8 // the algorithm: its place in Algorithms of the call
	Direct bool  // messages are packed from memory with gaps, or unpacked to it
	Alike        // of the call
}

// Step is one step of a plan. Which fields it uses depends on Do.
type Step struct {
	Do   Do
	Peer int // of Send and Recv; see Shape.Remote
	A, B Ref
	To   Ref
}

// Do is what a step does.
type Do uint8

const (
	// Send starts to send A to Peer. Nothing may write to A before the next Wait.
	Send Do = iota + 1
	// Recv starts to receive Peer's next message of this call into To, all of it.
	// Nothing may use To before the next Wait.
	Recv
	// Wait waits until everything that was started has ended. Nothing is under way
	// at the end of a plan.
	Wait
	// Combine sets To = A ⊕ B element by element. A holds the operands of lower
	// ranks. To is A, or B, or overlaps neither. The three are equally long.
	Combine
	// Copy sets To = A. The two are equally long and do not overlap. Only Copy uses
	// memory with gaps, and Send and Recv of a plan that is Direct.
	Copy
)

// Ref is N elements of some memory of the call, from the element At on. The zero
// Ref is no memory, as that of a message of no bytes.
type Ref struct {
	Mem   Mem
	At, N int
}

// Mem names memory of a call.
type Mem uint8

const (
	None Mem = iota
	In       // what the caller passes in: a plan only reads it
	Out      // where the caller gets the result
	Temp     // temporary memory, of the rank's own
)

// Shape is what a plan depends on: the arguments of the call that all ranks give
// alike, and the rank's own place. A generator keeps no reference to its slices.
type Shape struct {
	Rank, Size int // the caller's rank, and the ranks of its group
	// Remote is the size of the other group of an intercommunicator, else 0. A
	// Step's Peer is a rank of the own group, or Size plus a rank of the other.
	Remote int
	// Root is the root's rank, RootHere or RootFellow (below) in the group of the
	// root of a call between two groups. Calls without a root ignore it.
	Root int

	// Count is the number of elements: of the vector (Bcast, Reduce, Allreduce,
	// ReduceScatter, Scan, Exscan), or of one rank's block (Gather, Scatter, Allgather, Alltoall,
	// ReduceScatterBlock).
	Count int
	// RecvCount is, in Allgather and Alltoall between two groups, the length of a
	// block that arrives, and Count that of one that leaves. Others ignore it.
	RecvCount int
	// The v-forms have Counts and Displs instead, in elements, one of each for
	// every rank of the group that the blocks belong to. Gatherv and Scatterv:
	// significant at the root, others give their own block's length as Count.
	// Allgatherv: of Out; between two groups Count is the length of In besides.
	// Alltoallv: Counts and Displs of In, RecvCounts and RecvDispls of Out.
	// ReduceScatter: Counts of the blocks of the own group's ranks, one after another.
	Counts, Displs         []int
	RecvCounts, RecvDispls []int

	Bytes    int  // of an element
	Commutes bool // the operator is commutative
	// InPlace: the rank's input is in Out, where MPI says for the call (MPI-4.0
	// §6.2.1 and the call's section), and In is not used. Scatter(v): the root's
	// own block stays in In, and its Out is not used. Gather(v), Scatter(v) and
	// Reduce: at the root only. Never between two groups, nor in Bcast.
	InPlace bool
	// Gaps is of the rank's own memory, and has no effect on its messages.
	Gaps Gaps
	// Near are the rank's neighbors, in the calls of neighborhoods. Each has a block in
	// Out, of RecvCount or RecvCounts, and in NeighborAlltoall one in In, of Count or Counts.
	// In NeighborAllgather In, of Count, is the block for all.
	Near *Neighbors
}

// Values of Shape.Root in a call between two groups (MPI-4.0 §6.2.3).
const (
	RootHere   = -4 // this rank is the root
	RootFellow = -3 // another rank of this group is
)

// Call is a collective call. In and Out are the caller's two buffers. Those that
// MPI calls not significant at a rank are not used there. Bcast has one buffer:
// In at the root, Out at the others.
type Call uint8

const (
	Barrier Call = iota + 1
	Bcast
	Gather
	Gatherv
	Scatter
	Scatterv
	Allgather
	Allgatherv
	Alltoall
	Alltoallv
	Reduce
	Allreduce
	ReduceScatterBlock
	Scan
	Exscan
	Alltoallw     // with the shape of an Alltoallv
	ReduceScatter // with Counts, whose sum is Count
	NeighborAllgather
	NeighborAllgatherv
	NeighborAlltoall
	NeighborAlltoallv
	NeighborAlltoallw // with the shape of a NeighborAlltoallv

	LastCall = NeighborAlltoallw
)

var callNames = [...]string{Barrier: "Barrier", Bcast: "Bcast", Gather: "Gather", Gatherv: "Gatherv",
	Scatter: "Scatter", Scatterv: "Scatterv", Allgather: "Allgather", Allgatherv: "Allgatherv",
	Alltoall: "Alltoall", Alltoallv: "Alltoallv", Reduce: "Reduce", Allreduce: "Allreduce",
	ReduceScatterBlock: "ReduceScatterBlock", Scan: "Scan", Exscan: "Exscan", Alltoallw: "Alltoallw", ReduceScatter: "ReduceScatter",
	NeighborAllgather: "NeighborAllgather", NeighborAllgatherv: "NeighborAllgatherv", NeighborAlltoall: "NeighborAlltoall",
	NeighborAlltoallv: "NeighborAlltoallv", NeighborAlltoallw: "NeighborAlltoallw"}

// Calls that have a place among the others and no plan of their own. Their names are
// those of package mpi.
const (
	Dup Call = 31 - iota
	Split
	Create
	Finalize // the last barrier
	Merge
	IntercommCreate
)

func (c Call) String() string {
	switch {
	case c.Known():
		return callNames[c]
	case c >= IntercommCreate && c <= Dup:
		return [...]string{"IntercommCreate", "Merge", "Finalize", "Create", "Split", "Dup"}[c-IntercommCreate]
	}
	return fmt.Sprintf("call %d", uint8(c))
}

// Known reports whether the call has plans.
func (c Call) Known() bool { return c >= Barrier && c <= LastCall }

// Algorithm is one way to carry out a call.
type Algorithm struct {
	Name string // "binomial"
	// Fits reports whether the algorithm is right for the shape. It gives the same
	// answer at all ranks.
	Fits func(*Shape) bool
	Plan func(*Shape) Plan
}
