// Command prefix numbers items that are spread over ranks, a random number on each:
// Exscan tells a rank how many the ranks before it have, which is the number of its
// first item. Rank 0 collects all items in one list, each in the place of its number.
// With a launcher the ranks are processes, without one they are goroutines: as many as
// the argument says, or one for each core.
package main

import (
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"strconv"

	"github.com/weft-mpi/weft/mpi"
)

func main() {
	ranks := 0
	if len(os.Args) > 1 {
		n, err := strconv.Atoi(os.Args[1])
		if err != nil || n < 1 {
			log.Fatalf("the argument is the number of ranks, not %q", os.Args[1])
		}
		ranks = n
	}
	if err := mpi.Run(ranks, func(w *mpi.World) error { return number(w.Comm(), rand.IntN(10), os.Stdout) }); err != nil {
		log.Fatal(err)
	}
}

// item is the item i of a rank.
func item(rank, i int) int { return 1000*rank + i }

// number runs one rank, which has mine items. Rank 0 prints the list to out.
func number(c *mpi.Comm, mine int, out io.Writer) error {
	items := make([]int, mine)
	for i := range items {
		items[i] = item(c.Rank(), i)
	}

	// Rank 0 has nobody before it: there Exscan leaves first as it is.
	first := []int{0}
	if err := mpi.Exscan(c, mpi.Sum, []int{mine}, first); err != nil {
		return err
	}
	total := []int{0}
	if err := mpi.Allreduce(c, mpi.Sum, []int{mine}, total); err != nil {
		return err
	}

	// Rank 0 learns where each rank's items come.
	var counts, offsets, list []int
	if c.Rank() == 0 {
		counts, offsets, list = make([]int, c.Size()), make([]int, c.Size()), make([]int, total[0])
	}
	if err := mpi.Gather(c, []int{mine}, counts, 0); err != nil {
		return err
	}
	if err := mpi.Gather(c, first, offsets, 0); err != nil {
		return err
	}
	if err := mpi.Gatherv(c, items, list, counts, offsets, 0); err != nil {
		return err
	}
	if c.Rank() > 0 {
		return nil
	}
	for rank, first := range offsets {
		if _, err := fmt.Fprintf(out, "rank %d: %d items from number %d on: %v\n", rank, counts[rank], first, list[first:first+counts[rank]]); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(out, "%d items\n", total[0])
	return err
}
