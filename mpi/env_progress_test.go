package mpi_test

import (
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// More than a ring holds is on its way while nobody polls but the library: a
// goroutine is parked in a receive whose message comes last.
func TestABacklogDrainsWhileTheOnlyWaiterIsParked(t *testing.T) {
	for _, opts := range [][]mpi.Option{nil, {mpi.WithoutProgressThread()}} {
		t.Run(fmt.Sprintf("thread=%t", opts == nil), func(t *testing.T) {
			onEach(t, func(t *testing.T, fabric string) {
				const many = 1000
				posted, parked := newSignal(), make(chan bool)
				run(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) error {
					if c.Rank() == 1 {
						posted.take()
						for i := range many {
							got := make([]byte, 4000)
							if _, err := mpi.Recv(c, got, 0, 1); err != nil {
								return err
							}
							if got[0] != byte(i) {
								return fmt.Errorf("message %d came as %d", got[0], byte(i))
							}
						}
						return mpi.Send(c, []byte{1}, 0, 2)
					}
					end := make(chan error)
					go func() {
						close(parked)
						_, err := mpi.Recv(c, make([]byte, 1), 1, 2)
						end <- err
					}()
					<-parked
					var rs []mpi.Request
					for i := range many {
						b := make([]byte, 4000)
						b[0] = byte(i)
						r, err := mpi.Isend(c, b, 1, 1)
						if err != nil {
							return err
						}
						rs = append(rs, r)
					}
					posted.give()
					if err := <-end; err != nil {
						return err
					}
					return mpi.Waitall(rs, nil)
				}, opts...)
			})
		})
	}
}

// Goroutines that call Test have others' work done on their behalf: it must be
// done in the order in which each goroutine has asked for it.
func TestMessagesStayInOrderAmongGoroutinesThatTest(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		run(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) error {
			const many = 3000
			if c.Rank() == 1 {
				for i := range many {
					got := make([]int32, 1)
					if _, err := mpi.Recv(c, got, 0, 1); err != nil {
						return err
					}
					if int(got[0]) != i {
						return fmt.Errorf("message %d came as number %d", got[0], i)
					}
				}
				for range 3 {
					if err := mpi.Send(c, []byte{1}, 0, 9); err != nil {
						return err
					}
				}
				return nil
			}
			ends := make(chan error)
			for range 3 {
				go func() {
					r, err := mpi.Irecv(c, make([]byte, 1), 1, 9)
					for ended := false; err == nil && !ended; {
						ended, _, err = mpi.Test(&r)
					}
					ends <- err
				}()
			}
			for i := range many {
				r, err := mpi.Isend(c, []int32{int32(i)}, 1, 1)
				if err != nil {
					return err
				}
				if _, err := mpi.Wait(&r); err != nil {
					return err
				}
			}
			for range 3 {
				if err := <-ends; err != nil {
					return err
				}
			}
			return nil
		})
	})
}
