package main

import (
	"log"

	"github.com/weft-mpi/weft/mpi"
)

const result = 2 // the tag of results

func main() {
	if err := mpi.Run(3, work); err != nil {
		log.Fatal(err)
	}
}

// work has rank 0 collect a number of each other rank.
func work(w *mpi.World) error {
	c, x := w.Comm(), []float64{1}
	if c.Rank() > 0 {
		if err := mpi.Send(c, x, 0, c.Rank()+1); err != nil {
			return err
		}
		return c.Barrier()
	}
	for from := 1; from < c.Size(); from++ {
		if _, err := mpi.Recv(c, x, from, result); err != nil {
			return err
		}
	}
	return c.Barrier()
}
