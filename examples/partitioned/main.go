// Command partitioned is a pipeline of compute and transfer: goroutines of rank 0
// compute the partitions of a message, each leaves when it is ready, and rank 1
// consumes them in the order in which they arrive. With a launcher the two ranks
// are processes, without one they are goroutines.
package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"sync"
	"time"

	"github.com/weft-mpi/weft/mpi"
)

const (
	parts   = 8
	length  = 1 << 15 // elements of a partition
	workers = 2       // goroutines that compute
)

func main() {
	if err := mpi.Run(2, func(w *mpi.World) error { return pipeline(w, os.Stdout) }); err != nil {
		log.Fatal(err)
	}
}

// pipeline runs one rank's side. Rank 1 prints the timeline to out, in
// milliseconds since rank 0 has begun. Each rank reads the time of day, which two
// machines may not agree on.
func pipeline(w *mpi.World, out io.Writer) error {
	c, b := w.Comm(), make([]float64, parts*length)
	if c.Size() != 2 {
		return fmt.Errorf("it takes 2 ranks, not %d", c.Size())
	}
	if c.Rank() == 0 {
		return produce(c, b)
	}
	return consume(c, b, out)
}

// produce computes the partitions, makes each ready, and then tells rank 1 when
// each was, and when it has begun.
func produce(c *mpi.Comm, b []float64) error {
	p, err := mpi.PsendInit(c, b, parts, 1, 0)
	if err != nil {
		return err
	}
	if err := p.Start(); err != nil {
		return err
	}
	computed := make([]float64, parts+1)
	computed[parts] = now()
	var all sync.WaitGroup
	var errs [workers]error
	for g := range workers {
		all.Go(func() {
			for i := g; i < parts && errs[g] == nil; i += workers {
				compute(b[i*length:(i+1)*length], i)
				computed[i] = now()
				errs[g] = p.Ready(i)
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return err // Wait would not end: a partition is missing
		}
	}
	if _, err := p.Wait(); err != nil {
		return err
	}
	if err := mpi.Send(c, computed, 1, 1); err != nil {
		return err
	}
	return p.Free()
}

// consume adds each partition up as it arrives, and prints.
func consume(c *mpi.Comm, b []float64, out io.Writer) error {
	p, err := mpi.PrecvInit(c, b, parts, 0, 0)
	if err != nil {
		return err
	}
	if err := p.Start(); err != nil {
		return err
	}
	computed, arrived, consumed := make([]float64, parts+1), make([]float64, parts), make([]float64, parts)
	var sums [parts]float64
	for i := range p.Arriving() {
		arrived[i] = now()
		for _, x := range b[i*length : (i+1)*length] {
			sums[i] += x
		}
		consumed[i] = now()
	}
	if _, err := p.Wait(); err != nil {
		return err
	}
	if _, err := mpi.Recv(c, computed, 0, 1); err != nil {
		return err
	}
	begun := computed[parts]
	fmt.Fprintln(out, "partition  computed   arrived  consumed (ms)     mean")
	for i := range parts {
		fmt.Fprintf(out, "%9d%10.2f%10.2f%10.2f%14.4f\n", i, computed[i]-begun, arrived[i]-begun, consumed[i]-begun, sums[i]/length)
	}
	return p.Free()
}

// compute fills partition i with numbers that converge to i+1, in 100 steps.
func compute(b []float64, i int) {
	for at := range b {
		x := 0.0
		for range 100 {
			x += (float64(i+1) - x) / 8
		}
		b[at] = x
	}
}

// now is the time of day in milliseconds.
func now() float64 { return float64(time.Now().UnixMicro()) / 1000 }
