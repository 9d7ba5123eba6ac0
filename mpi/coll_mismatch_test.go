package mpi_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// wait completes a request that a call has started.
func wait(r mpi.Request, err error) error {
	if err != nil {
		return err
	}
	_, err = mpi.Wait(&r)
	return err
}

func only(_ *mpi.Comm, err error) error { return err }

type mismatch struct {
	name      string
	odd       int // the rank of 3 that makes the other call
	most, one func(c *mpi.Comm) error
	counts    bool     // a message's length may tell it first, by an error of another class
	say       []string // what the errors say
}

// mismatches are collective calls that do not go together: one rank makes another than
// the other ranks. In the calls of most, some rank waits for that one.
var mismatches = []mismatch{
	{"Bcast and Reduce", 0,
		func(c *mpi.Comm) error { return mpi.Bcast(c, []int64{1}, 0) },
		func(c *mpi.Comm) error { return mpi.Reduce(c, mpi.Sum, []int64{1}, []int64{0}, 0) },
		false, []string{"Bcast of 8 bytes from root 0", "Reduce of 8 bytes to root 0 by Sum of int64"}},
	{"calls in another order", 1,
		func(c *mpi.Comm) error {
			return errors.Join(mpi.Allreduce(c, mpi.Sum, []int{1}, []int{0}), mpi.Allgather(c, []int{1}, make([]int, 3)))
		},
		func(c *mpi.Comm) error {
			return errors.Join(mpi.Allgather(c, []int{1}, make([]int, 3)), mpi.Allreduce(c, mpi.Sum, []int{1}, []int{0}))
		},
		false, []string{"Allgather of 8 bytes a rank", "Allreduce of 8 bytes by Sum of int64"}},
	{"roots of Bcast", 0,
		func(c *mpi.Comm) error { return mpi.Bcast(c, []byte{1}, 0) },
		func(c *mpi.Comm) error { return mpi.Bcast(c, []byte{1}, 2) },
		false, []string{"from root 0", "from root 2"}},
	{"counts of Bcast", 1,
		func(c *mpi.Comm) error { return mpi.Bcast(c, make([]int, 4), 0) },
		func(c *mpi.Comm) error { return mpi.Bcast(c, make([]int, 5), 0) },
		true, nil},
	{"counts of Allreduce", 1,
		func(c *mpi.Comm) error { return mpi.Allreduce(c, mpi.Sum, make([]int, 4), make([]int, 4)) },
		func(c *mpi.Comm) error { return mpi.Allreduce(c, mpi.Sum, make([]int, 5), make([]int, 5)) },
		true, nil},
	{"counts of ReduceScatter", 1,
		func(c *mpi.Comm) error {
			return mpi.ReduceScatter(c, mpi.Sum, make([]int, 4), make([]int, 3), []int{1, 1, 2})
		},
		func(c *mpi.Comm) error {
			return mpi.ReduceScatter(c, mpi.Sum, make([]int, 4), make([]int, 3), []int{1, 2, 1})
		},
		true, nil},
	{"nothing and something to Gather", 1,
		func(c *mpi.Comm) error { return mpi.Gather(c, make([]int, 4), make([]int, 12), 0) },
		func(c *mpi.Comm) error { return mpi.Gather(c, []int{}, nil, 0) },
		true, nil},
	{"Barrier and Bcast", 1,
		func(c *mpi.Comm) error { return c.Barrier() },
		func(c *mpi.Comm) error { return mpi.Bcast(c, []int{1}, 0) },
		false, []string{"Barrier", "Bcast"}},
	{"Bcast and Ibcast", 0,
		func(c *mpi.Comm) error { return mpi.Bcast(c, []int64{1}, 0) },
		func(c *mpi.Comm) error { return wait(mpi.Ibcast(c, []int64{1}, 0)) },
		false, []string{"in Bcast of 8 bytes", "in nonblocking Bcast of 8 bytes"}},
	{"Ibarrier and Barrier", 2,
		func(c *mpi.Comm) error { return wait(c.Ibarrier()) },
		func(c *mpi.Comm) error { return c.Barrier() },
		false, []string{"nonblocking Barrier"}},
	{"Bcast and BcastInit", 0,
		func(c *mpi.Comm) error { return mpi.Bcast(c, []int64{1}, 0) },
		func(c *mpi.Comm) error { return restart(mpi.BcastInit(c, []int64{1}, 0)) },
		false, []string{"in Bcast of 8 bytes", "in persistent Bcast of 8 bytes"}},
	{"AllreduceInit and Allreduce", 1,
		func(c *mpi.Comm) error { return restart(mpi.AllreduceInit(c, mpi.Sum, []int{1}, []int{0})) },
		func(c *mpi.Comm) error { return mpi.Allreduce(c, mpi.Sum, []int{1}, []int{0}) },
		false, []string{"persistent Allreduce of 8 bytes by Sum of int64"}},
	{"AllreduceInit and Iallreduce", 1,
		func(c *mpi.Comm) error { return restart(mpi.AllreduceInit(c, mpi.Sum, []int{1}, []int{0})) },
		func(c *mpi.Comm) error { return wait(mpi.Iallreduce(c, mpi.Sum, []int{1}, []int{0})) },
		false, []string{"persistent Allreduce", "nonblocking Allreduce"}},
	{"AllreduceInit and BcastInit", 2,
		func(c *mpi.Comm) error { return restart(mpi.AllreduceInit(c, mpi.Sum, []int{1}, []int{0})) },
		func(c *mpi.Comm) error { return restart(mpi.BcastInit(c, []int{1}, 0)) },
		false, []string{"persistent Allreduce", "persistent Bcast"}},
	{"counts of AllreduceInit", 1,
		func(c *mpi.Comm) error { return restart(mpi.AllreduceInit(c, mpi.Sum, make([]int, 4), make([]int, 4))) },
		func(c *mpi.Comm) error { return restart(mpi.AllreduceInit(c, mpi.Sum, make([]int, 5), make([]int, 5))) },
		true, nil},
	{"Dup and Split", 1,
		func(c *mpi.Comm) error { return only(c.Dup()) },
		func(c *mpi.Comm) error { return only(c.Split(0, 0)) },
		false, []string{"Dup", "Split"}},
	{"Idup and Allgather", 1,
		func(c *mpi.Comm) error { r, _, err := c.Idup(); return wait(r, err) },
		func(c *mpi.Comm) error { return mpi.Allgather(c, []byte{1}, make([]byte, 3)) },
		false, []string{"Dup", "Allgather"}},
}

// Collective calls that do not match fail at every rank, with the class for that and
// the names of both calls. Further calls on the communicator say that it is broken.
func TestCollectiveCallsThatDifferFailAtAllRanks(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		for _, m := range mismatches {
			for _, split := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/Split %t", m.name, split), func(t *testing.T) {
					act(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) {
						if split {
							c = get(c.Split(0, -c.Rank()))
						}
						checkMismatch(t, c, m.odd, m.most, m.one, m.counts, m.say)
					}, append(opts, mpi.WithLooks())...)
				})
			}
		}
	})
}

func checkMismatch(t *testing.T, c *mpi.Comm, odd int, most, one func(*mpi.Comm) error, counts bool, say []string) {
	call := most
	if c.Rank() == odd {
		call = one
	}
	err := call(c)
	if err == nil { // it has left early: it hears of it in the next call
		err = mpi.Allreduce(c, mpi.Sum, []int{1}, []int{0})
	}
	if !errors.Is(err, mpi.ErrNotSame) && (!counts || !errors.Is(err, mpi.ErrCount) && !errors.Is(err, mpi.ErrTruncate)) {
		t.Errorf("rank %d gets %v", c.Rank(), err)
	}
	for _, s := range say {
		// A rank that learns of it by a message knows the name alone.
		if name, _, _ := strings.Cut(s, " of "); !strings.Contains(fmt.Sprint(err), name) {
			t.Errorf("rank %d gets %v, which does not say %q", c.Rank(), err, s)
		}
	}
	for _, later := range []error{c.Barrier(), mpi.Bcast(c, []int{1}, 0), only(c.Dup())} {
		if broken := (*mpi.BrokenError)(nil); !errors.As(later, &broken) {
			t.Errorf("rank %d: a later call gives %v", c.Rank(), later)
		}
	}
}

// unnoticed is one that ends as if it were none.
var unnoticed = mismatch{"operators of Bufs", 1,
	func(c *mpi.Comm) error {
		return c.Allreduce(mpi.MinLoc, mpi.OfStructs([]mpi.Loc[float64]{{}}), mpi.OfStructs([]mpi.Loc[float64]{{}}))
	},
	func(c *mpi.Comm) error {
		return c.Allreduce(mpi.NewStructOp(func(a, _ mpi.Loc[float64]) mpi.Loc[float64] { return a }), mpi.OfStructs([]mpi.Loc[float64]{{}}), mpi.OfStructs([]mpi.Loc[float64]{{}}))
	},
	true, nil}

// With checks they fail before any data has moved: also those that would end.
func TestChecksTellCollectiveCallsThatDiffer(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, m := range append(slices.Clip(mismatches), unnoticed) {
			for odd := range 3 {
				t.Run(fmt.Sprintf("%s/%d", m.name, odd), func(t *testing.T) {
					act(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) {
						ok(c.Barrier())
						sum := []int{0}
						if ok(mpi.Allreduce(c, mpi.Sum, []int{1}, sum)); sum[0] != 3 {
							t.Errorf("the sum is %d", sum[0])
						}
						checkMismatch(t, get(c.Split(0, -c.Rank())), odd, m.most, m.one, false, m.say)
						ok(c.Barrier())
					}, mpi.WithChecks())
				})
			}
		}
	})
}

// WEFT_CHECK turns them on; a value that it does not have is an error.
func TestTheEnvironmentTurnsChecksOn(t *testing.T) {
	for value, class := range map[string]error{"coll": mpi.ErrNotSame, "": nil, "0": nil} {
		t.Setenv("WEFT_CHECK", value)
		if err := mpi.Run(2, func(w *mpi.World) error {
			c := w.Comm()
			err := mpi.Bcast(c, []byte{1}, c.Rank()) // two roots, which do not wait
			if class == nil && err == nil || class != nil && errors.Is(err, class) {
				return nil
			}
			return fmt.Errorf("with %q: %w", value, err)
		}); err != nil {
			t.Error(err)
		}
	}
	t.Setenv("WEFT_CHECK", "all")
	var wrong *mpi.EnvError
	if err := mpi.Run(2, func(*mpi.World) error { return nil }); !errors.As(err, &wrong) || wrong.Var != "WEFT_CHECK" || wrong.Remedy == "" {
		t.Errorf("%v", err)
	}
}
