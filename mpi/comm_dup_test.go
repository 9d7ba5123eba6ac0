package mpi_test

import (
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

func TestADuplicateHasTheSameRanks(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		for n := 1; n <= 8; n++ {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				act(t, fabric, n, func(w *mpi.World, c *mpi.Comm) {
					d := get(c.Dup())
					e := get(d.Dup())
					for _, comm := range []*mpi.Comm{d, e, get(c.Dup())} {
						if comm.Rank() != c.Rank() || comm.Size() != n {
							t.Errorf("rank %d of %d is %d of %d in a duplicate", c.Rank(), n, comm.Rank(), comm.Size())
						}
						right, left := (c.Rank()+1)%n, (c.Rank()+n-1)%n
						in := []int{-1}
						if st := get(mpi.Sendrecv(comm, []int{c.Rank()}, right, 1, in, left, 1)); in[0] != left || st.Source != left {
							t.Errorf("from rank %d came %d, %+v", left, in[0], st)
						}
						ok(comm.Barrier())
					}
				}, opts...)
			})
		}
	})
}

// The same ranks and tags, sizes of every protocol, receives of any kind: a
// message is seen in its communicator only.
func TestMessagesOfDuplicatesDoNotMix(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		for _, n := range sizes {
			act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
				d := get(c.Dup())
				comms := []*mpi.Comm{c, d, get(d.Dup()), get(c.Dup())}
				if c.Rank() == 0 {
					rs := make([]mpi.Request, len(comms))
					for i, comm := range comms {
						rs[i] = get(mpi.Isend(comm, pattern(n, i), 1, 1))
					}
					ok(mpi.Waitall(rs, nil))
					ok(c.Barrier())
					for i, comm := range comms {
						ok(mpi.Send(comm, pattern(n, 10+i), 1, 1))
					}
					return
				}
				in := make([]byte, n)
				for i := len(comms) - 1; i >= 0; i-- { // not in the order they were sent
					if get(mpi.Recv(comms[i], in, mpi.AnySource, mpi.AnyTag)); differs(in, i) >= 0 {
						t.Errorf("communicator %d got another's message of %d bytes", i, n)
					}
					for _, comm := range comms[i:] {
						if there, st, err := mpi.Iprobe(comm, mpi.AnySource, mpi.AnyTag); there || err != nil {
							t.Errorf("Iprobe = %t, %+v, %v in a communicator without messages", there, st, err)
						}
					}
				}
				rs, ins := make([]mpi.Request, len(comms)), make([][]byte, len(comms))
				for i := len(comms) - 1; i >= 0; i-- { // posted first
					ins[i] = make([]byte, n)
					rs[i] = get(mpi.Irecv(comms[i], ins[i], mpi.AnySource, mpi.AnyTag))
				}
				ok(c.Barrier())
				ok(mpi.Waitall(rs, nil))
				for i := range ins {
					if differs(ins[i], 10+i) >= 0 {
						t.Errorf("the receive in communicator %d got another's message of %d bytes", i, n)
					}
				}
			}, opts...)
		}
	})
}

// The library's own messages, of Dup and Barrier, are not the application's.
func TestWildcardsDoNotSeeADup(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 4, func(w *mpi.World, c *mpi.Comm) {
			r := begin(mpi.Irecv(c, make([]byte, 8), mpi.AnySource, mpi.AnyTag))
			d := c
			for range 20 {
				d = get(d.Dup())
				ok(d.Barrier())
			}
			if there, _, err := mpi.Iprobe(c, mpi.AnySource, mpi.AnyTag); there || err != nil {
				t.Errorf("Iprobe = %t, %v", there, err)
			}
			if ended, st, err := mpi.Test(r); ended || err != nil {
				t.Errorf("Test = %t, %+v, %v: the receive got a message of Dup", ended, st, err)
			}
			ok(mpi.Cancel(r))
			if st := get(mpi.Wait(r)); !st.Cancelled {
				t.Errorf("the receive got %+v", st)
			}
		})
	})
}

// Goroutines of every rank duplicate communicators of their own at once. All
// results are different from one another and the same on every rank.
func TestConcurrentDupsAreAllDistinct(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		const goroutines, depth = 6, 4
		for _, n := range []int{2, 3, 5} {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				act(t, fabric, n, func(w *mpi.World, c *mpi.Comm) {
					var comms [goroutines * depth]*mpi.Comm
					var joins []func()
					for g := range goroutines {
						d := get(c.Dup())
						joins = append(joins, aside(func() {
							for i := range depth {
								d = get(d.Dup())
								comms[g*depth+i] = d
							}
						}))
					}
					for _, join := range joins {
						join()
					}
					// One message in each, all with the same ranks and tag.
					right, left := (c.Rank()+1)%n, (c.Rank()+n-1)%n
					var rs []mpi.Request
					in := make([]int, len(comms))
					for i, d := range comms {
						rs = append(rs, get(mpi.Irecv(d, in[i:i+1], left, 1)))
					}
					for i := range comms {
						i = (i*7 + c.Rank()) % len(comms) // in any order
						rs = append(rs, get(mpi.Isend(comms[i], []int{i}, right, 1)))
					}
					ok(mpi.Waitall(rs, nil))
					for i, got := range in {
						if got != i {
							stop(fmt.Errorf("communicator %d got the message of %d", i, got))
						}
					}
				}, opts...)
			})
		}
	})
}

func TestADuplicateEndsWithTheWorld(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			d := get(c.Dup())
			ok(w.Finalize())
			_, err := c.Dup()
			want(t, "Dup after Finalize", err, mpi.ErrComm)
			_, err = d.Dup()
			want(t, "Dup of a duplicate after Finalize", err, mpi.ErrComm)
			want(t, "Send", mpi.Send(d, []byte{1}, 0, 1), mpi.ErrComm)
			want(t, "Barrier", d.Barrier(), mpi.ErrComm)
			want(t, "World.BufferAttach", w.BufferAttach(make([]byte, 1000)), mpi.ErrComm)
			want(t, "Comm.BufferAttach", d.BufferAttach(make([]byte, 1000)), mpi.ErrComm)
		})
	})
}
