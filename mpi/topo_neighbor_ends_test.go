package mpi_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// inRing are right arguments of a call on a periodic dimension of all ranks.
func inRing(c *mpi.Comm, name string) *nearby {
	return fine(get(cartOf([]bool{true}, c.Size())(c, false)), name, 2)
}

// A block of another length is told where it arrives, and then everywhere.
func TestNeighborsWithBlocksOfTwoLengths(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		act(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) {
			for _, f := range notInPlace {
				for _, n := range []int{1, 3} {
					a := inRing(c, "NeighborAlltoallv")
					if c.Rank() == 0 {
						a.n[1], a.at[1] = n, 0 // to rank 1
					}
					err := a.complete("NeighborAlltoallv", f)
					if err == nil {
						err = a.c.Barrier() // it has left early
					}
					var short *mpi.LengthError
					var long *mpi.TruncateError
					switch {
					case c.Rank() != 1 && !errors.As(err, &short) && !errors.As(err, &long) && (errors.Is(err, mpi.ErrCount) || errors.Is(err, mpi.ErrTruncate)):
					case c.Rank() == 1 && n == 1 && errors.As(err, &short) && short.Rank == 0 && short.Got == 1 && short.Want == 2:
					case c.Rank() == 1 && n == 3 && errors.As(err, &long) && long.Length == 3 && long.Room == 2:
					default:
						t.Errorf("%d bytes, %+v: rank %d gets %v", n, f, c.Rank(), err)
					}
				}
			}
		}, opts...)
	})
}

// With type checks elements of another type are told with the lines of both ranks.
func TestNeighborsWithElementsOfTwoTypes(t *testing.T) {
	act(t, "mem", 3, func(w *mpi.World, c *mpi.Comm) {
		for name, call := range ordered(map[string]func(c *mpi.Comm, s func(n int) mpi.Buf) error{
			"NeighborAllgather": func(c *mpi.Comm, s func(n int) mpi.Buf) error {
				return c.NeighborAllgather(s(2), mpi.Of(make([]int32, 4)))
			},
			"NeighborAllgatherv": func(c *mpi.Comm, s func(n int) mpi.Buf) error {
				return restart(c.NeighborAllgathervInit(s(2), mpi.Of(make([]int32, 4)), []int{2, 2}, nil))
			},
			"NeighborAlltoall": func(c *mpi.Comm, s func(n int) mpi.Buf) error {
				return wait(c.IneighborAlltoall(s(4), mpi.Of(make([]int32, 4))))
			},
			"NeighborAlltoallw": func(c *mpi.Comm, s func(n int) mpi.Buf) error {
				return c.NeighborAlltoallw([]mpi.Buf{s(1), s(2)}, []mpi.Buf{mpi.Of(make([]int32, 2)), mpi.Of(make([]int32, 1))})
			},
		}) {
			ints, floats := func(n int) mpi.Buf { return mpi.Of(make([]int32, n)) }, func(n int) mpi.Buf { return mpi.Of(make([]float32, n)) }
			if ok(call(inRing(c, name).c, ints)); c.Rank() == 0 {
				ints = floats
			}
			err := call(inRing(c, name).c, ints)
			var other *mpi.SignatureError
			switch is, text := errors.As(err, &other), fmt.Sprint(err); {
			case !errors.Is(err, mpi.ErrType), strings.Count(text, "topo_neighbor_ends_test.go:") != 2, !strings.Contains(text, "rank 0 has "),
				is && (c.Rank() == 0 || other.Rank != 0 || other.Call != name), !is && !errors.As(err, new(*mpi.CallError)): // a rank may be told first
				t.Errorf("%s: rank %d gets %v", name, c.Rank(), err)
			}
		}
	}, mpi.WithTypeChecks())
}

// With checks a call of a neighborhood is told from another one, and from Alltoall.
func TestNeighborsThatMakeOtherCalls(t *testing.T) {
	act(t, "mem", 3, func(w *mpi.World, c *mpi.Comm) {
		gather := func(c *mpi.Comm) error { return mpi.NeighborAllgather(c, []byte{1}, make([]byte, 2)) }
		for _, one := range []func(c *mpi.Comm) error{
			func(c *mpi.Comm) error { return mpi.NeighborAlltoall(c, []byte{1, 2}, make([]byte, 2)) },
			func(c *mpi.Comm) error { return mpi.Alltoall(c, []byte{1, 2, 3}, make([]byte, 3)) },
			func(c *mpi.Comm) error { return wait(mpi.IneighborAllgather(c, []byte{1}, make([]byte, 2))) },
		} {
			checkMismatch(t, inRing(c, "").c, 1, gather, one, false, []string{"NeighborAllgather"})
		}
	}, mpi.WithChecks())
}

// A rank that dies, revokes the communicator or gives up its own call ends those of its
// neighbors, and of all others.
func TestNeighborhoodsThatLoseARank(t *testing.T) {
	dies := errors.New("rank 2 dies")
	for name, tc := range ordered(map[string]struct {
		class mpi.Class
		does  func(a *nearby)
	}{
		"dies":    {mpi.ErrProcFailed, func(*nearby) { stop(dies) }},
		"revokes": {mpi.ErrRevoked, func(a *nearby) { ok(a.c.Revoke()) }},
		"gives up": {mpi.ErrCanceled, func(a *nearby) {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			a.c = a.c.WithContext(ctx)
		}},
	}) {
		onEach(t, func(t *testing.T, fabric string) {
			ended := newSignal()
			err := try(t, fabric, 4, func(w *mpi.World, c *mpi.Comm) error {
				return attempt(func() {
					for _, f := range notInPlace[1:] {
						a := inRing(c, "NeighborAlltoall")
						switch {
						case c.Rank() == 2:
							tc.does(a)
						case c.Rank() == 3 && name != "dies":
							ended.take()
						}
						err := a.complete("NeighborAlltoall", f)
						if c.Rank() == 2 {
							ended.give()
						} else if err == nil {
							err = a.c.Barrier() // rank 0 has other neighbors
						}
						if want(t, fmt.Sprintf("%s, %+v", name, f), err, tc.class); name == "dies" {
							break
						}
					}
				})
			})
			if died := strings.Contains(fmt.Sprint(err), dies.Error()); died != (name == "dies") {
				t.Errorf("%s: the job ends with %v", name, err)
			}
		})
	}
}
