package comm

import (
	"testing"

	"github.com/weft-mpi/weft/coll"
	"github.com/weft-mpi/weft/progress"
)

// The calls of a communicator stay counted when it is freed, and when its Instance ends.
func TestCallsOfFreedCommunicatorsStayCounted(t *testing.T) {
	all := engines(t, 2)
	const calls = 5
	each := func(f func(in *Instance) error) {
		t.Helper()
		errs := make(chan error, len(all))
		for _, in := range all {
			go func() { errs <- f(in) }()
		}
		for range all {
			if err := <-errs; err != nil {
				t.Fatal(err)
			}
		}
	}
	check := func(when string, barriers, live uint64) {
		t.Helper()
		for rank, in := range all {
			s := in.Loop.Snapshot()
			got := s.Value("weft_coll_calls_total", "Barrier", "dissemination") + s.Value("weft_coll_calls_total", "Barrier", "flags")
			if n := s.Value("weft_coll_calls_total", "Ibarrier", "dissemination"); got != barriers || n != 1 || s.Value("weft_communicators") != live {
				t.Errorf("%s rank %d has made %d barriers instead of %d, %d nonblocking ones, and has %d communicators instead of %d",
					when, rank, got, barriers, n, s.Value("weft_communicators"), live)
			}
		}
	}
	dups := make([]*Comm, 2)
	each(func(in *Instance) error {
		h := in.World.Icollective(t.Context(), coll.Barrier, in.World.Plan(&PlanKey{Call: coll.Barrier}), &Operands{})
		if _, err := progress.WaitResult(&h); err != nil {
			return err
		}
		c, err := in.World.Dup(t.Context())
		dups[in.World.Rank] = c
		for range calls {
			if err == nil {
				err = c.Barrier(t.Context(), false)
			}
		}
		return err
	})
	check("with the duplicate", calls, 3)
	for _, c := range dups {
		c.Free()
	}
	check("without it", calls, 2)
	each(func(in *Instance) error { return in.World.Barrier(t.Context(), false) })
	for _, in := range all {
		in.End()
	}
	check("after the end", calls+1, 0)
}
