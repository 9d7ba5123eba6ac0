package mpi_test

import (
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// The end of a session ends the persistent calls on its communicators, and no others,
// whatever operations had their requests before; nor does the end of the World.
func TestASessionEndsItsOwnPersistentCalls(t *testing.T) {
	act(t, "mem", 2, func(w *mpi.World, c *mpi.Comm) {
		s := get(w.NewSession())
		d := of(get(s.Group(mpi.PsetWorld)), c, "x")
		var used []mpi.Request
		for i := range 200 { // so many requests were of its communicator
			used = append(used, get(mpi.Irecv(d, make([]int, 1), 1-c.Rank(), i)))
		}
		for i := range 200 {
			used = append(used, get(mpi.Isend(d, make([]int, 1), 1-c.Rank(), i)))
		}
		ok(mpi.Waitall(used, nil))
		sum, barrier, all := []int{0}, get(d.BarrierInit()), []mpi.Request{}
		own := get(mpi.AllreduceInit(d, mpi.Sum, []int{1}, sum))
		for range 50 {
			all = append(all, get(mpi.AllreduceInit(c, mpi.Sum, []int{1}, sum)))
		}
		ok(startAndWait(&barrier))
		ok(s.Finalize())
		ok(c.Barrier())
		for i := range all {
			ok(startAndWait(&all[i]))
		}
		for _, r := range []*mpi.Request{&barrier, &own} {
			wantWords(t, "Start", r.Start(), mpi.ErrComm, "session")
		}
	})
	act(t, "mem", 2, func(w *mpi.World, c *mpi.Comm) {
		s := get(w.NewSession())
		d := of(get(s.Group(mpi.PsetWorld)), c, "x")
		r := get(mpi.AllreduceInit(d, mpi.Sum, []int{1}, []int{0}))
		ok(w.Finalize())
		ok(startAndWait(&r))
		ok(s.Finalize())
	})
}

// A rank that has freed the communicator hears of its Revoke too, and its persistent and
// nonblocking calls end.
func TestARevokeEndsCallsBehindFree(t *testing.T) {
	act(t, "mem", 2, func(w *mpi.World, c *mpi.Comm) {
		d := get(c.Dup())
		r := get(mpi.AllreduceInit(d, mpi.Sum, []int{1}, []int{0}))
		ok(startAndWait(&r))
		ok(c.Barrier())
		var under mpi.Request
		if c.Rank() == 0 {
			under = get(mpi.Iallreduce(d, mpi.Sum, []int{1}, []int{0}))
			ok(d.Free())
		}
		ok(c.Barrier())
		if c.Rank() == 1 {
			ok(d.Revoke())
			ok(d.Free())
		}
		if ok(r.Start()); c.Rank() == 0 {
			want(t, "Iallreduce", second(under.Wait()), mpi.ErrRevoked)
		}
		want(t, "Allreduce", second(r.Wait()), mpi.ErrRevoked)
	})
}
