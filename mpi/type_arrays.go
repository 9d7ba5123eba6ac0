package mpi

import "github.com/weft-mpi/weft/internal/datatype"

// Order is the order in which the elements of an array lie in memory, OrderC or
// OrderFortran. The values are those of MPI-5's ABI.
type Order int

const (
	OrderC       Order = 12 // MPI_ORDER_C: neighbours in the last dimension lie side by side
	OrderFortran Order = 15 // MPI_ORDER_FORTRAN: those in the first one do
)

// String is "OrderC" or "OrderFortran". Local.
func (o Order) String() string { return datatype.Order(o).String() }

// Dist is how TypeDarray deals out a dimension of an array to the processes of a grid. The
// values are those of MPI-5's ABI.
type Dist int

const (
	DistributeNone   Dist = 16 // MPI_DISTRIBUTE_NONE: one process has the dimension
	DistributeBlock  Dist = 17 // MPI_DISTRIBUTE_BLOCK: each process has one block
	DistributeCyclic Dist = 18 // MPI_DISTRIBUTE_CYCLIC: blocks are dealt out in turns
)

// DistributeDfltDarg is the block length that a distribution has by itself: of
// DistributeBlock as much as is needed for all elements, of DistributeCyclic 1
// (MPI_DISTRIBUTE_DFLT_DARG). It is not MPI-5's 19, which a block length may be.
const DistributeDfltDarg = -1
