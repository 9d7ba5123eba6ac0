package bench

import (
	"errors"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/bench/osufmt"
	"github.com/weft-mpi/weft/mpi"
)

// A validation finds a result that is wrong, and a gap that is written to, in each call.
func TestWrongResultsOfCollectiveCallsAreCounted(t *testing.T) {
	vector := Derived{Kind: Vector, Stride: 4, Block: 2}
	for _, b := range All() {
		for _, tc := range []struct {
			takes string
			o     Options
			at    int // in the second gap of a vector
		}{{"", Options{}, 1}, {"E", Options{Derived: vector}, 2}, {"O", Options{Reduction: MaxLoc}, 1}} {
			if b.takes("C") || !b.takes("c"+tc.takes) || !b.reduces() && !b.takes("E") && !b.neighborhood() {
				continue
			}
			err := mpi.Run(3, func(w *mpi.World) error {
				o := quick(b)
				o.Derived, o.Reduction = tc.o.Derived, tc.o.Reduction
				j := &job{Benchmark: b, o: o, c: w.Comm(), sink: osufmt.NewWriter(&strings.Builder{})}
				if b.neighborhood() {
					if err := j.onGrid(); err != nil {
						return err
					}
					defer j.c.Free()
				}
				const n, size = 16, 64
				x := callOf(j, size, n)
				send, recv := make([]int32, x.sends), make([]int32, x.recvs)
				if err := x.setBufs(send, recv); err != nil {
					return err
				}
				if !x.onBufs() && (x.kind == "reduce_scatter" || x.kind == "neighbor_isend") { // have but one kind of blocking call
					x.call = callOnSlices(x, send, recv)
				}
				if x.persistent {
					defer mpi.RequestFree(&x.saved)
				}
				validate(x, send, recv)
				for _, want := range []int{0, 1} {
					x.errors = 0
					right := x.wrong
					x.wrong = func(round int) int {
						if x.results > 0 {
							recv[tc.at] += int32(want)
						}
						return right(round)
					}
					r, err := x.measure()
					if err != nil {
						return err
					}
					if (r.errors > 0) != (want > 0) && j.c.Rank() == 0 {
						t.Errorf("%s with %+v: %d elements are wrong", b.Name, tc.o, r.errors)
					}
					if err := j.settle(size, r.errors); (err != nil) != (want > 0) || err != nil && !errors.Is(err, ErrValidation) {
						t.Errorf("%s with %+v: %v", b.Name, tc.o, err)
					}
				}
				return nil
			}, mpi.WithFabric("mem"))
			if err != nil {
				t.Errorf("%s with %+v: %v", b.Name, tc.o, err)
			}
		}
	}
}

// Blocks that change places are wrong results, also those that come from one rank: with
// two ranks the first two slots of a grid lead to the same.
func TestBlocksAtEachOthersPlacesAreCounted(t *testing.T) {
	for _, name := range []string{"alltoall", "allgather", "neighbor_alltoall", "neighbor_alltoallv", "neighbor_isend"} {
		for _, n := range []int{1, 3, 16} {
			b, _ := Lookup(name)
			err := mpi.Run(2, func(w *mpi.World) error {
				j := &job{Benchmark: b, o: quick(b), c: w.Comm()}
				if b.neighborhood() {
					if err := j.onGrid(); err != nil {
						return err
					}
					defer j.c.Free()
				}
				x := callOf(j, 4*n, n)
				send, recv := make([]int32, x.sends), make([]int32, x.recvs)
				x.call = callOnSlices(x, send, recv)
				validate(x, send, recv)
				x.arm(0)
				if err := x.call(); err != nil {
					return err
				}
				right := x.wrong(0)
				for i := range n {
					recv[i], recv[n+i] = recv[n+i], recv[i]
				}
				if swapped := x.wrong(0); right != 0 || swapped != 2*n {
					t.Errorf("%s: %d elements are wrong, and %d of %d at each other's places", name, right, swapped, 2*n)
				}
				return nil
			}, mpi.WithFabric("mem"))
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestTitlesOfTheFormsOfACallAreThoseOfOSU(t *testing.T) {
	for name, want := range map[string]string{
		"barrier_persistent":           "OSU MPI Barrier Persistent Latency Test",
		"alltoallw_persistent":         "OSU MPI All-to-Allw Personalized Exchange Persistent Latency Test",
		"exscan_persistent":            "Weft MPI Exscan Persistent Latency Test",
		"neighbor_allgather":           "OSU MPI Neighborhood Allgather Latency Test",
		"ineighbor_alltoall":           "OSU MPI Non-blocking Neighborhood All-to-All Latency Test",
		"neighbor_alltoall_persistent": "Weft MPI Neighborhood All-to-All Persistent Latency Test",
	} {
		if b, ok := Lookup(name); !ok || b.Title != want || b.Own != strings.HasPrefix(want, "Weft") {
			t.Errorf("%s: %+v, want %q", name, b, want)
		}
	}
}

// The pair of the largest value has the index of the lowest rank that has it.
func TestMaxLocIsOfPairs(t *testing.T) {
	b, _ := Lookup("allreduce")
	o := quick(b)
	o.Reduction, o.MinSize, o.MaxSize = MaxLoc, 4, 24
	out, err := run(t, b, 3, o)
	if err != nil || !strings.Contains(out, "# Datatype: MPI_2INT.\n") || strings.Contains(out, "\n4 ") || !strings.Contains(out, "\n8 ") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestOptionsThatABenchmarkHasNotAreRefused(t *testing.T) {
	for _, tc := range []struct {
		name, want string
		change     func(*Options)
	}{
		{"bcast", "no other operator", func(o *Options) { o.Reduction = MaxLoc }},
		{"exscan", "no other operator", func(o *Options) { o.Reduction = MaxLoc }},
		{"reduce", "leave -T out", func(o *Options) { o.Reduction, o.Types = MaxLoc, []Datatype{Float} }},
		{"reduce", "not measured in derived", func(o *Options) { o.Reduction, o.Derived.Kind = MaxLoc, Contiguous }},
		{"reduce", "no sum of structs", func(o *Options) { o.Derived.Kind = Structs }},
		{"bcast", "by hand", func(o *Options) { o.Derived = Derived{Kind: ByHand, Stride: 4, Block: 2} }},
		{"put_bw", "by hand", func(o *Options) { o.Derived = Derived{Kind: ByHand, Stride: 4, Block: 2} }},
		{"acc_latency", "no derived datatypes", func(o *Options) { o.Derived.Kind = Contiguous }},
		{"neighbor_isend", "no derived datatypes", func(o *Options) { o.Derived.Kind = Contiguous }},
		{"exscan_persistent", "no sum of structs", func(o *Options) { o.Derived.Kind = Structs }},
	} {
		b, _ := Lookup(tc.name)
		o := quick(b)
		tc.change(&o)
		if err := b.Check(&o); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

func TestNonBlockingTablesAreAsOSUPrintsThem(t *testing.T) {
	for name, want := range map[string]string{
		"ibarrier": `
# OSU MPI Non-blocking Barrier Latency Test v7.4
# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait

# Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)
`,
		"ialltoall": `
# OSU MPI Non-blocking All-to-All Latency Test v7.4
# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait

# Datatype: MPI_CHAR.
# Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)        Validation
`,
	} {
		b, _ := Lookup(name)
		out, err := run(t, b, 2, quick(b))
		if err != nil || !strings.HasPrefix(out, want) {
			t.Fatalf("%v\n%s, want\n%s", err, out, want)
		}
		tab, err := osufmt.Parse([]byte(out))
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range tab.Sections[0].Rows {
			if v := row.Values; v[0] < v[1] || v[1] <= 0 || v[2] <= 0 || v[3] < 0 || v[3] > 100 {
				t.Errorf("%s: overall, compute, pure and overlap of %d bytes are %v", name, row.Size, v)
			}
		}
	}
}
