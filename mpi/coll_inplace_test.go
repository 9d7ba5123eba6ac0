package mpi_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// Each call with one buffer gives what its form with two does.
func TestCallsInPlaceGiveWhatThoseWithTwoBuffersDo(t *testing.T) {
	act(t, "mem", 3, func(w *mpi.World, c *mpi.Comm) {
		me := c.Rank()
		in := []int{me + 1, 10 * (me + 1), 100 * (me + 1)}
		counts, displs := []int{1, 1, 1}, []int{2, 1, 0}
		for what, call := range ordered(map[string]struct {
			in       []int
			one, two func(in, out []int) error
		}{
			"Reduce": {in, func(in, out []int) error { return mpi.ReduceInPlace(c, mpi.Sum, out, 1) }, func(in, out []int) error {
				return mpi.Reduce(c, mpi.Sum, in, out, 1)
			}},
			"Allreduce": {in, func(in, out []int) error { return mpi.AllreduceInPlace(c, mpi.Sum, out) }, func(in, out []int) error {
				return mpi.Allreduce(c, mpi.Sum, in, out)
			}},
			"Scan": {in, func(in, out []int) error { return mpi.ScanInPlace(c, mpi.Sum, out) }, func(in, out []int) error {
				return mpi.Scan(c, mpi.Sum, in, out)
			}},
			"Exscan": {in, func(in, out []int) error { return mpi.ExscanInPlace(c, mpi.Sum, out) }, func(in, out []int) error {
				return mpi.Exscan(c, mpi.Sum, in, out)
			}},
			"ReduceScatterBlock": {in, func(in, out []int) error { return mpi.ReduceScatterBlockInPlace(c, mpi.Sum, out) }, func(in, out []int) error {
				return mpi.ReduceScatterBlock(c, mpi.Sum, in, out[:1])
			}},
			"ReduceScatter": {in, func(in, out []int) error { return mpi.ReduceScatterInPlace(c, mpi.Sum, out, counts) }, func(in, out []int) error {
				return mpi.ReduceScatter(c, mpi.Sum, in, out[:1], counts)
			}},
			"Allgather": {in, func(in, out []int) error { return mpi.AllgatherInPlace(c, out) }, func(in, out []int) error {
				return mpi.Allgather(c, in[me:me+1], out)
			}},
			"Allgatherv": {in, func(in, out []int) error { return mpi.AllgathervInPlace(c, out, counts, displs) }, func(in, out []int) error {
				return mpi.Allgatherv(c, in[2-me:3-me], out, counts, displs)
			}},
			"Alltoall": {in, func(in, out []int) error { return mpi.AlltoallInPlace(c, out) }, func(in, out []int) error {
				return mpi.Alltoall(c, in, out)
			}},
			"Alltoallv": {in, func(in, out []int) error { return mpi.AlltoallvInPlace(c, out, counts, displs) }, func(in, out []int) error {
				return mpi.Alltoallv(c, in, counts, displs, out, counts, displs)
			}},
		}) {
			one, two := slices.Clone(call.in), slices.Clone(call.in)
			ok(call.one(call.in, one))
			ok(call.two(call.in, two))
			if what == "ReduceScatterBlock" || what == "ReduceScatter" {
				one, two = one[:1], two[:1]
			}
			if what == "Reduce" && me != 1 {
				one = call.in // not used
			}
			if !slices.Equal(one, two) {
				t.Errorf("rank %d: %s in place gives %v, with two buffers %v", me, what, one, two)
			}
		}
	})
}

// An operator of the program's is for its own element type: the compiler says so.
func TestAnOperatorOnAnotherTypeDoesNotCompile(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("no go command here")
	}
	out, err := exec.Command(goTool, "vet", "./testdata/mixedop").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "*mpi.OpOf[float64] does not satisfy mpi.Operator[int]") {
		t.Errorf("%v: %s", err, out)
	}
}
