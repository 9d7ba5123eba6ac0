package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"github.com/weft-mpi/weft/mpi"
)

// hung is a program whose ranks hang in the way of its name. It returns the exit code.
func hung(name string) int {
	w, err := mpi.Init(context.Background())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	c := w.Comm()
	if err := hangs[name](w, c); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

const long = 200_000 // bytes: a send of so many waits for its receive

// hangs are the programs, by name.
var hangs = map[string]func(all *mpi.World, c *mpi.Comm) error{
	"none":  func(all *mpi.World, c *mpi.Comm) error { return all.Finalize() },
	"takes": takes,
	"full":  full,
	"tags": func(all *mpi.World, c *mpi.Comm) error {
		var err error
		if c.Rank() == 0 {
			if err = mpi.Send(c, []int32{1, 2, 3}, 1, 8); err == nil {
				_, err = mpi.Recv(c, []int32{0}, 1, 9)
			}
		} else {
			_, err = mpi.Recv(c, []int32{0, 0, 0}, 0, 7)
		}
		return err
	},
	"communicators": func(all *mpi.World, c *mpi.Comm) error {
		d, err := c.Dup()
		if err != nil {
			return err
		}
		d.SetName("second")
		if c.Rank() == 0 {
			if err := mpi.Send(c, []int32{1}, 1, 5); err != nil {
				return err
			}
			return computes()
		}
		_, err = mpi.Recv(d, []int32{0}, 0, 5)
		return err
	},
	"sends": func(all *mpi.World, c *mpi.Comm) error { return mpi.Send(c, make([]byte, long), 1-c.Rank(), 3) },
	"send": func(all *mpi.World, c *mpi.Comm) error {
		if c.Rank() == 0 {
			return mpi.Send(c, make([]byte, long), 1, 3)
		}
		return computes()
	},
	"any": func(all *mpi.World, c *mpi.Comm) error {
		_, err := mpi.Recv(c, []byte{0}, mpi.AnySource, mpi.AnyTag)
		return err
	},
	"free": func(all *mpi.World, c *mpi.Comm) error { // rank 2 may still send to rank 0
		switch c.Rank() {
		case 0:
			_, err := mpi.Recv(c, []byte{0}, mpi.AnySource, 1)
			return err
		case 1:
			_, err := mpi.Recv(c, []byte{0}, 0, 1)
			return err
		}
		return computes()
	},
	"late": func(all *mpi.World, c *mpi.Comm) error {
		if err := c.Barrier(); err != nil {
			return err
		}
		if c.Rank() == 2 {
			_, err := mpi.Recv(c, []byte{0}, 0, 4)
			return err
		}
		return mpi.Allreduce(c, mpi.Sum, []int64{1}, []int64{0})
	},
	"flags": func(all *mpi.World, c *mpi.Comm) error {
		for range 4 {
			if err := c.Barrier(); err != nil {
				return err
			}
		}
		if c.Rank() == 2 {
			return computes()
		}
		return c.Barrier()
	},
	"nonblocking": func(all *mpi.World, c *mpi.Comm) error {
		if c.Rank() == 2 {
			return computes()
		}
		r, err := mpi.Iallreduce(c, mpi.Sum, []int64{1}, []int64{0})
		if err == nil {
			_, err = mpi.Wait(&r)
		}
		return err
	},
	"lock": func(all *mpi.World, c *mpi.Comm) error {
		w, err := mpi.WinAllocate[int64](c, 1, mpi.WinOptions{})
		if err == nil {
			err = w.SetName("counters")
		}
		if err == nil && c.Rank() == 0 {
			if err = w.Lock(mpi.LockExclusive, 2); err == nil {
				err = mpi.Send(c, []byte{1}, 1, 1)
			}
			if err == nil {
				_, err = mpi.Recv(c, []byte{0}, 1, 2)
			}
			return err
		}
		if err == nil && c.Rank() == 1 {
			if _, err = mpi.Recv(c, []byte{0}, 0, 1); err == nil {
				err = w.Lock(mpi.LockShared, 2)
			}
			return err
		}
		if err != nil {
			return err
		}
		return computes()
	},
	"start": func(all *mpi.World, c *mpi.Comm) error {
		w, err := mpi.WinAllocate[int64](c, 1, mpi.WinOptions{})
		if err != nil {
			return err
		}
		g, err := c.Group().Incl(1 - c.Rank())
		if err == nil && c.Rank() == 0 {
			err = w.Start(g)
		} else if err == nil {
			err = computes()
		}
		return err
	},
	"partitions": func(all *mpi.World, c *mpi.Comm) error {
		buf := make([]int64, 8000)
		if c.Rank() == 1 {
			p, err := mpi.PrecvInit(c, buf, 4, 0, 6)
			if err == nil {
				err = p.Start()
			}
			if err == nil {
				_, err = p.Wait()
			}
			return err
		}
		p, err := mpi.PsendInit(c, buf, 8, 1, 6)
		if err == nil {
			err = p.Start()
		}
		for _, i := range []int{0, 1, 4} {
			if err == nil {
				err = p.Ready(i)
			}
		}
		if err == nil {
			_, err = p.Wait()
		}
		return err
	},
	"stopped": func(all *mpi.World, c *mpi.Comm) error {
		if err := c.Barrier(); err != nil {
			return err
		}
		if c.Rank() == 1 {
			for { // also if something continues it
				if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
					return err
				}
			}
		}
		_, err := mpi.Recv(c, []byte{0}, 1, 1)
		return err
	},
	"pingpong": func(all *mpi.World, c *mpi.Comm) error {
		for b := make([]byte, 1000); ; {
			if _, err := mpi.SendrecvReplace(c, b, 1-c.Rank(), 1, 1-c.Rank(), 1); err != nil {
				return err
			}
		}
	},
	"done": func(all *mpi.World, c *mpi.Comm) error { // does not hang
		for range 30 {
			if err := mpi.Allreduce(c, mpi.Sum, []int64{1}, []int64{0}); err != nil {
				return err
			}
		}
		return all.Finalize()
	},
	"finalize": func(all *mpi.World, c *mpi.Comm) error {
		if c.Rank() == 1 {
			return computes()
		}
		return all.Finalize()
	},
}

// computes uses the processor, and makes no call.
func computes() error {
	for {
		for i := range spin {
			sink[i%len(sink)] += i
		}
		runtime.Gosched() // else the race detector's goroutines starve on one processor
	}
}

const spin = 1 << 24

var sink [8]int
