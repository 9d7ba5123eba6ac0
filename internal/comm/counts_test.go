package comm

import (
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/coll"
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
			if n := s.Value("weft_fabric_chosen", "mem"); n != 1 { // of two ranks; none is its own peer
				t.Errorf("%s rank %d has %d peers over mem", when, rank, n)
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

// elsewhere is a domain of another transport.
type elsewhere struct{ fabric.Domain }

func (elsewhere) Stats(s *fabric.Stats) { *s = fabric.Stats{Transport: "far"} }

// Each peer is one of the transport that was chosen for it; no rank is its own.
func TestEachTransportServesItsPeers(t *testing.T) {
	const ranks = 4 // of which rank 0 is alone, and the others are together
	far := mem.NewNetwork(ranks).Provider()
	all := configured(t, ranks, func(cfg *Config) {
		d, err := far.Open(fabric.Config{Rank: fabric.Peer(cfg.Rank), Size: ranks, Job: t.Name(), Log: cfg.Progress.Log})
		if err != nil {
			t.Fatal(err)
		}
		cfg.Progress.More, cfg.Progress.Via = []fabric.Domain{elsewhere{d}}, make([]int, ranks)
		for p := range ranks {
			if (p == 0) != (cfg.Rank == 0) {
				cfg.Progress.Via[p] = 1
			}
		}
	})
	for rank, in := range all {
		near, away := uint64(2), uint64(1)
		if rank == 0 {
			near, away = 0, 3
		}
		for range 2 {
			s := in.Loop.Snapshot()
			if n, f := s.Value("weft_fabric_chosen", "mem"), s.Value("weft_fabric_chosen", "far"); n != near || f != away {
				t.Errorf("rank %d has %d and %d peers over the two, want %d and %d", rank, n, f, near, away)
			}
			in.End() // which changes nothing
		}
	}
}
