package main

import (
	"log"
	"math"

	"github.com/weft-mpi/weft/mpi"
)

const rows, columns, rounds = 3000, 200, 5000

func main() {
	if err := mpi.Run(2, work); err != nil {
		log.Fatal(err)
	}
}

// work has each rank add up its rows of a table whose row i has as many
// elements as i is large, and then all ranks their sums.
func work(w *mpi.World) error {
	c := w.Comm()
	share := rows / c.Size()
	for range rounds {
		sum, all := []float64{0}, []float64{0}
		for row := c.Rank() * share; row < (c.Rank()+1)*share; row++ {
			for i := range row * columns / rows {
				sum[0] += math.Sqrt(float64(row + i))
			}
		}
		if err := mpi.Allreduce(c, mpi.Sum, sum, all); err != nil {
			return err
		}
	}
	return nil
}
