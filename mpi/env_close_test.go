package mpi_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// When an operation ends because its World is closed its buffer is the user's
// again: what the user does with it then reaches no other rank, and no other
// rank writes to it.
func TestABufferIsTheUsersWhenAnEndedWorldGivesItBack(t *testing.T) {
	errEnds := errors.New("this rank ends")
	for _, fabric := range []string{"mem", "shm"} {
		for _, how := range []string{"Wait", "OnComplete"} {
			t.Run(fabric+"/"+how, func(t *testing.T) {
				rounds := 30
				if testing.Short() {
					rounds = 6
				}
				for round := range rounds {
					n := (2 << 20) << (round % 3)
					err := mpi.Run(3, func(w *mpi.World) error {
						c := w.Comm()
						switch c.Rank() {
						case 0:
							return giveBack(w, how, n)
						case 1:
							return takeWhole(c, n)
						}
						return errEnds // rank 2 fails, and so does Finalize of the others
					}, mpi.WithFabric(fabric))
					watched.Wait()
					if errors.Is(err, errTorn) || !errors.Is(err, errEnds) {
						t.Fatalf("round %d, %d bytes: %v", round, n, err)
					}
				}
			})
		}
	}
}

var errTorn = errors.New("the receive of a message ended well")

// giveBack ends its World in the middle of a send and a receive and spoils the
// buffers as soon as it has them back.
func giveBack(w *mpi.World, how string, n int) error {
	c := w.Comm()
	out, in := make([]byte, n), make([]byte, n)
	for i := range out {
		out[i] = 1
	}
	send, err := mpi.Isend(c, out, 1, 0)
	if err != nil {
		return err
	}
	recv, err := mpi.Irecv(c, in, 1, 1)
	if err != nil {
		return err
	}
	var back sync.WaitGroup
	back.Add(2)
	spoil := func(b []byte, mark byte) {
		for i := range b {
			b[i] = mark
		}
		back.Done()
	}
	if how == "OnComplete" {
		mpi.OnComplete(&send, func(mpi.Status, error) { spoil(out, 2) })
		mpi.OnComplete(&recv, func(mpi.Status, error) { spoil(in, 3) })
	} else {
		go func() { mpi.Wait(&send); spoil(out, 2) }()
		go func() { mpi.Wait(&recv); spoil(in, 3) }()
	}
	if _, err := mpi.Recv(c, make([]byte, 1), 1, 2); err != nil { // rank 1 is at it
		return err
	}
	watched.Go(func() {
		back.Wait()
		for range 2 {
			for i, b := range in {
				if b != 3 {
					panic(fmt.Sprintf("byte %d of a buffer that was given back is %d", i, b))
				}
			}
		}
	})
	return w.Finalize() // which fails: rank 2 has
}

// watched are the buffers that are looked at after their World has gone.
var watched sync.WaitGroup

func takeWhole(c *mpi.Comm, n int) error {
	in, out := make([]byte, n), make([]byte, n)
	s, err := mpi.Isend(c, out, 0, 1)
	if err != nil {
		return err
	}
	if err := mpi.Send(c, []byte{1}, 0, 2); err != nil {
		return nil // rank 0 has gone
	}
	if _, err = mpi.Recv(c, in, 0, 0); err == nil {
		for i, b := range in {
			if b != 1 {
				return fmt.Errorf("%w: byte %d is %d", errTorn, i, b)
			}
		}
	}
	mpi.Wait(&s)
	return nil
}

// Ranks that are not in step, as a collective call has not matched, leave in order all
// the same. What one has for another that it was never connected to is dropped, if that
// has left.
func TestFinalizeBehindAMismatchIsNoFailure(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 8, func(_ *mpi.World, c *mpi.Comm) {
			if c.Rank() != 7 {
				mpi.Bcast(c, make([]int, 1), 1) // which goes well at some
				return
			}
			_, err := mpi.Wait(begin(mpi.Iallreduce(c, mpi.Sum, []int{1}, make([]int, 1))))
			want(t, "a call that does not match", err, mpi.ErrNotSame)
		})
	})
}
