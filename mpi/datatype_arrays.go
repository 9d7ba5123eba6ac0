package mpi

import "github.com/weft-mpi/weft/layout"

// Order is the order in which the elements of an array lie in memory, OrderC or
// OrderFortran. The values are those of MPI-5's ABI.
type Order = layout.Order

const (
	OrderC       = layout.OrderC       // MPI_ORDER_C: neighbours in the last dimension lie side by side
	OrderFortran = layout.OrderFortran // MPI_ORDER_FORTRAN: those in the first one do
)

// Dist is how TypeDarray deals out a dimension of an array to the processes of a grid. The
// values are those of MPI-5's ABI.
type Dist = layout.Dist

const (
	DistributeNone   = layout.DistributeNone   // MPI_DISTRIBUTE_NONE: one process has the dimension
	DistributeBlock  = layout.DistributeBlock  // MPI_DISTRIBUTE_BLOCK: each process has one block
	DistributeCyclic = layout.DistributeCyclic // MPI_DISTRIBUTE_CYCLIC: blocks are dealt out in turns

	// DistributeDfltDarg is the block length that a distribution has by itself: of
	// DistributeBlock as much as is needed for all elements, of DistributeCyclic 1
	// (MPI_DISTRIBUTE_DFLT_DARG). It is not MPI-5's 19, which a block length may be.
	DistributeDfltDarg = layout.DistributeDfltDarg
)
