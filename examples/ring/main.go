// Command ring is the program of the README: with a launcher its ranks are
// processes, without one they are goroutines.
package main

import (
	"fmt"
	"log"

	"github.com/weft-mpi/weft/mpi"
)

func main() {
	if err := mpi.Run(0, ring); err != nil {
		log.Fatal(err)
	}
}

// ring passes every rank's number around, and adds.
func ring(w *mpi.World) error {
	c, token, got, sum := w.Comm(), []int{w.Comm().Rank()}, []int{0}, 0
	right, left := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	for range c.Size() {
		if _, err := mpi.Sendrecv(c, token, right, 0, got, left, 0); err != nil {
			return err
		}
		sum, token[0] = sum+got[0], got[0]
	}
	fmt.Printf("rank %d of %d: the ranks add up to %d\n", c.Rank(), c.Size(), sum)
	return nil
}
