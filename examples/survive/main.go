// Command survive iterates on a vector whose blocks its ranks share, and goes on when one
// of them dies:
//
//	weft run --keep-going -n 4 survive
//
// After each round the ranks agree whether it went well at all of them. If it did not,
// they shrink the communicator to those that live, divide the vector anew, and repeat the
// round from the last one that counts, which every rank has whole.
package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"syscall"

	"github.com/weft-mpi/weft/mpi"
)

func main() {
	err := mpi.Run(0, func(w *mpi.World) error { return survive(w.Comm(), os.Stdout) })
	// The World has lost a rank, which its end says.
	if err != nil && !errors.Is(err, mpi.ErrProcFailed) {
		log.Fatal(err)
	}
}

const (
	unknowns = 1000
	rounds   = 60
	victim   = 1  // dies in a job of several ranks
	last     = 20 // in this round
)

func survive(c *mpi.Comm, out io.Writer) error {
	me, dies := c.Rank(), c.Size() > 1 && c.Rank() == victim
	x := make([]float64, unknowns) // after the last round that counts
	for round := 0; round < rounds; {
		if dies && round == last {
			return die()
		}
		next, err := step(c, x)
		if err != nil {
			c.Revoke() // others may wait in the round for a rank that has given it up
		}
		well := 0
		if err == nil {
			well = 1
		}
		// Ranks may have seen different ends of the round: this is the one that counts.
		if all, err := c.Agree(well); err == nil && all == 1 {
			x, round = next, round+1
			continue
		}
		d, err := c.Shrink()
		if err != nil {
			return err
		}
		if d.Rank() == 0 {
			fmt.Fprintf(out, "round %d: %d of %d ranks go on\n", round, d.Size(), c.Size())
		}
		c = d
	}
	worst := 0.0
	for _, v := range x {
		worst = max(worst, math.Abs(v-1))
	}
	if worst > 1e-9 {
		return fmt.Errorf("rank %d: after %d rounds the solution is off by %g", me, rounds, worst)
	}
	if c.Rank() == 0 {
		fmt.Fprintf(out, "%d ranks have solved it\n", c.Size())
	}
	return nil
}

// step is a round of Jacobi's method for 4x[i] - x[i-1] - x[i+1] = b[i], with the b for
// which all x are 1. Each rank does a block, and gets those of the others.
func step(c *mpi.Comm, x []float64) ([]float64, error) {
	counts, displs := make([]int, c.Size()), make([]int, c.Size())
	for r := range counts {
		displs[r] = r * unknowns / c.Size()
		counts[r] = (r+1)*unknowns/c.Size() - displs[r]
	}
	lo := displs[c.Rank()]
	block := make([]float64, counts[c.Rank()])
	for i := range block {
		b, sum := 4.0, 0.0
		for _, j := range [...]int{lo + i - 1, lo + i + 1} {
			if j >= 0 && j < unknowns {
				b, sum = b-1, sum+x[j]
			}
		}
		block[i] = (b + sum) / 4
	}
	next := make([]float64, unknowns)
	return next, mpi.Allgatherv(c, block, next, counts, displs)
}

// launched says that this rank is a process of its own.
var launched = os.Getenv("WEFT_RANK") != ""

// die ends this rank: a process is killed, a goroutine returns.
func die() error {
	if launched {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	return errors.New("this rank dies")
}
