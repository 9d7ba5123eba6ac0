package mpi

import "github.com/weft-mpi/weft/internal/datatype"

// Order is the order in which the elements of an array lie in memory, OrderC or
// OrderFortran. The values are those of MPI-5's ABI.
type Order = datatype.Order

const (
	OrderC       = datatype.OrderC       // MPI_ORDER_C: neighbours in the last dimension lie side by side
	OrderFortran = datatype.OrderFortran // MPI_ORDER_FORTRAN: those in the first one do
)

// Dist is how TypeDarray deals out a dimension of an array to the processes of a grid. The
// values are those of MPI-5's ABI.
type Dist = datatype.Dist

const (
	DistributeNone   = datatype.DistributeNone   // MPI_DISTRIBUTE_NONE: one process has the dimension
	DistributeBlock  = datatype.DistributeBlock  // MPI_DISTRIBUTE_BLOCK: each process has one block
	DistributeCyclic = datatype.DistributeCyclic // MPI_DISTRIBUTE_CYCLIC: blocks are dealt out in turns

	// DistributeDfltDarg is the block length that a distribution has by itself: of
	// DistributeBlock as much as is needed for all elements, of DistributeCyclic 1
	// (MPI_DISTRIBUTE_DFLT_DARG). It is not MPI-5's 19, which a block length may be.
	DistributeDfltDarg = datatype.DistributeDfltDarg
)
