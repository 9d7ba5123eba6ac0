package mpi_test

import (
	"fmt"
	"sync"

	"github.com/weft-mpi/weft/mpi"
)

// Goroutines fill a message together. Each says when its partition is ready, and
// the message arrives when all are.
func ExamplePsendInit() {
	err := mpi.Run(2, func(w *mpi.World) error {
		const parts = 4
		c, b := w.Comm(), make([]int32, 8)
		if c.Rank() == 1 {
			p, err := mpi.PrecvInit(c, b, 2, 0, 0) // the number of partitions may differ
			if err != nil {
				return err
			}
			if err := p.Start(); err != nil {
				return err
			}
			st, err := p.Wait()
			if err != nil {
				return err
			}
			fmt.Println(b, "from rank", st.Source)
			return p.Free()
		}
		p, err := mpi.PsendInit(c, b, parts, 1, 0)
		if err != nil {
			return err
		}
		if err := p.Start(); err != nil {
			return err
		}
		var all sync.WaitGroup
		var errs [parts]error
		for i := range parts {
			all.Go(func() {
				for at := i * len(b) / parts; at < (i+1)*len(b)/parts; at++ {
					b[at] = int32(at * at)
				}
				errs[i] = p.Ready(i)
			})
		}
		all.Wait()
		for _, err := range errs {
			if err != nil {
				return err // a Wait would not end: a partition is missing
			}
		}
		if _, err := p.Wait(); err != nil {
			return err
		}
		return p.Free()
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: [0 1 4 9 16 25 36 49] from rank 0
}

// The receiver works on each partition as it arrives, in whichever order.
func ExamplePartitions() {
	err := mpi.Run(2, func(w *mpi.World) error {
		c, b := w.Comm(), make([]float64, 3)
		if c.Rank() == 1 {
			p, err := mpi.PrecvInit(c, b, len(b), 0, 0)
			if err != nil {
				return err
			}
			if err := p.Start(); err != nil {
				return err
			}
			sum := 0.0
			for i := range p.Arriving() {
				sum += b[i]
			}
			fmt.Println("sum", sum)
			if _, err := p.Wait(); err != nil {
				return err
			}
			return p.Free()
		}
		p, err := mpi.PsendInit(c, b, len(b), 1, 0)
		if err != nil {
			return err
		}
		if err := p.Start(); err != nil {
			return err
		}
		for i := range b {
			b[i] = float64(13 + i)
			if err := p.Ready(i); err != nil {
				return err
			}
		}
		if _, err := p.Wait(); err != nil {
			return err
		}
		return p.Free()
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output: sum 42
}
