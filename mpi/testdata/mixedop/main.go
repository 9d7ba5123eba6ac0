// Command mixedop gives an operator on float64 to a reduction of ints, and does not
// compile.
package main

import "github.com/weft-mpi/weft/mpi"

func main() {
	larger := mpi.NewOp(func(a, b float64) float64 { return max(a, b) }, mpi.Commutes())
	_ = mpi.Run(2, func(w *mpi.World) error {
		return mpi.AllreduceInPlace(w.Comm(), larger, []int{w.Comm().Rank()})
	})
}
