package coll

import (
	"slices"
	"strings"
	"testing"
)

// Between two ranks nothing is received or copied that need not be.
func TestPlansOfTwoRanksAreMinimal(t *testing.T) {
	one := Shape{Size: 2, Count: 1, Bytes: 8, RecvCount: 1}
	for _, c := range []struct {
		call  Call
		rank  int
		root  int
		place bool
		want  string
	}{
		{Barrier, 0, 0, false, "send nothing to 1; receive nothing from 1; wait"},
		{Bcast, 0, 0, false, "send In[0:1] to 1; wait"},
		{Bcast, 1, 0, false, "receive Out[0:1] from 0; wait"},
		{Gather, 0, 0, false, "receive Out[1:2] from 1; Out[0:1] = In[0:1]; wait"},
		{Gather, 0, 0, true, "receive Out[1:2] from 1; wait"},
		{Gather, 1, 0, false, "send In[0:1] to 0; wait"},
		{Scatter, 1, 1, false, "send In[0:1] to 0; Out[0:1] = In[1:2]; wait"},
		{Scatter, 1, 1, true, "send In[0:1] to 0; wait"},
		{Scatter, 0, 1, false, "receive Out[0:1] from 1; wait"},
		{Allgather, 1, 0, false, "send In[0:1] to 0; receive Out[0:1] from 0; Out[1:2] = In[0:1]; wait"},
		{Allgather, 1, 0, true, "send Out[1:2] to 0; receive Out[0:1] from 0; wait"},
		{Alltoall, 0, 0, false, "receive Out[1:2] from 1; send In[1:2] to 1; Out[0:1] = In[0:1]; wait"},
		{Alltoall, 0, 0, true, "receive Temp[0:1] from 1; send Out[1:2] to 1; wait; Out[1:2] = Temp[0:1]"},
		{Reduce, 1, 1, false, "receive Out[0:1] from 0; wait; Out[0:1] = Out[0:1] ⊕ In[0:1]"},
		{Reduce, 0, 0, true, "receive Temp[0:1] from 1; wait; Out[0:1] = Out[0:1] ⊕ Temp[0:1]"},
		{Reduce, 0, 1, false, "send In[0:1] to 1; wait"},
		{Allreduce, 0, 0, false, "send In[0:1] to 1; receive Out[0:1] from 1; wait; Out[0:1] = In[0:1] ⊕ Out[0:1]"},
		{Allreduce, 1, 0, false, "send In[0:1] to 0; receive Out[0:1] from 0; wait; Out[0:1] = Out[0:1] ⊕ In[0:1]"},
		{Allreduce, 1, 0, true, "send Out[0:1] to 0; receive Temp[0:1] from 0; wait; Out[0:1] = Temp[0:1] ⊕ Out[0:1]"},
		{ReduceScatterBlock, 0, 0, false, "send In[1:2] to 1; receive Out[0:1] from 1; wait; Out[0:1] = In[0:1] ⊕ Out[0:1]"},
		{ReduceScatterBlock, 1, 0, true, "send Out[0:1] to 0; receive Temp[0:1] from 0; wait; Out[0:1] = Temp[0:1] ⊕ Out[1:2]"},
		{Scan, 0, 0, false, "send In[0:1] to 1; Out[0:1] = In[0:1]; wait"},
		{Scan, 1, 0, false, "receive Out[0:1] from 0; wait; Out[0:1] = Out[0:1] ⊕ In[0:1]"},
		{Exscan, 0, 0, true, "send Out[0:1] to 1; wait"},
		{Exscan, 1, 0, false, "receive Out[0:1] from 0; wait"},
		{Exscan, 1, 0, true, "receive Out[0:1] from 0; wait"},
	} {
		s := one
		s.Rank, s.Root, s.InPlace = c.rank, c.root, c.place
		if got := text(Make(c.call, &s)); got != c.want {
			t.Errorf("%v, rank %d, root %d, in place %v:\n got %s\nwant %s", c.call, c.rank, c.root, c.place, got, c.want)
		}
	}
}

func text(p Plan) string {
	var steps []string
	for _, s := range p.Steps {
		steps = append(steps, s.String())
	}
	return strings.Join(steps, "; ")
}

// A rank alone copies its input, once, or does nothing.
func TestPlansOfOneRankOnlyCopy(t *testing.T) {
	for call := Barrier; call <= LastCall; call++ {
		for _, inPlace := range []bool{false, true} {
			s := Shape{Size: 1, Count: 3, Bytes: 8, InPlace: inPlace}
			if call == Gatherv || call == Scatterv || call == Allgatherv || call == Alltoallv || call == Alltoallw {
				s.Counts, s.Displs = []int{3}, []int{0}
				s.RecvCounts, s.RecvDispls = s.Counts, s.Displs
			}
			want := "Out[0:3] = In[0:3]"
			if inPlace || call == Barrier || call == Bcast || call == Exscan || call.Near() {
				want = ""
			}
			if got := text(Make(call, &s)); got != want {
				t.Errorf("%v, in place %v: %q, want %q", call, inPlace, got, want)
			}
		}
	}
}

// Small calls and calls of few ranks have other algorithms than the rest.
func TestChooseGoesByRanksAndBytes(t *testing.T) {
	for _, c := range []struct {
		call Call
		s    Shape
		want string
	}{
		{Gather, Shape{Size: 8, Count: 256, Bytes: 8}, "binomial"},
		{Gather, Shape{Size: 8, Count: 257, Bytes: 8}, "linear"},
		{Gatherv, Shape{Size: 8, Count: 1, Bytes: 1}, "linear"},
		{Allgather, Shape{Size: 8, Count: 1, Bytes: 8}, "recursive-doubling"},
		{Allgather, Shape{Size: 7, Count: 1, Bytes: 8}, "ring"},
		{Allgather, Shape{Size: 8, Count: 1 << 20, Bytes: 8}, "ring"},
		{Alltoall, Shape{Size: 8, Count: 256, Bytes: 8}, "linear"},
		{Alltoall, Shape{Size: 8, Count: 257, Bytes: 8}, "pairwise"},
		{Alltoall, Shape{Size: 2, Count: 1, Bytes: 8}, "pairwise"},
		{Alltoall, Shape{Size: 8, Count: 1, Bytes: 8, InPlace: true}, "pairwise-swap"},
		{Allreduce, Shape{Size: 5, Count: 4 << 10, Bytes: 8}, "recursive-doubling"},
		{Allreduce, Shape{Size: 5, Count: 4<<10 + 1, Bytes: 8}, "halving-doubling"},
		{ReduceScatterBlock, Shape{Size: 4, Count: 1, Bytes: 8}, "pairwise"},
		{ReduceScatterBlock, Shape{Size: 5, Count: 1, Bytes: 8}, "reduce-then-scatter"},
		{ReduceScatterBlock, Shape{Size: 5, Count: 100, Bytes: 8}, "pairwise"},
		{Allreduce, Shape{Size: 5, Remote: 2, Count: 100, Bytes: 8}, "inter-binomial"},
	} {
		if got := rules[c.call][choose(c.call, &c.s)].Name; got != c.want {
			t.Errorf("%v of %+v: %s, want %s", c.call, c.s, got, c.want)
		}
	}
	for _, call := range []Call{Scan, Exscan} {
		if i := choose(call, &Shape{Size: 2, Remote: 2, Count: 1, Bytes: 8}); i >= 0 {
			t.Errorf("%v between two groups is done by %s", call, rules[call][i].Name)
		}
	}
}

// A name says which algorithm of a call is meant, and every shape has one.
func TestEveryCallHasAlgorithmsOfDifferentNames(t *testing.T) {
	for call := Barrier; call <= LastCall; call++ {
		var names []string
		for _, a := range Algorithms(call) {
			if slices.Contains(names, a.Name) {
				t.Errorf("%v has two algorithms %q", call, a.Name)
			}
			names = append(names, a.Name)
		}
		for size := 1; size < 20; size++ {
			for _, bytes := range []int{0, 1, 1 << 12, 1 << 30} {
				for _, inPlace := range []bool{false, true} {
					if s := (Shape{Size: size, Count: bytes, Bytes: 1, InPlace: inPlace}); choose(call, &s) < 0 {
						t.Errorf("%v of %+v has no algorithm", call, s)
					}
				}
			}
		}
	}
}
