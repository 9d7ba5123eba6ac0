package coll

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Memory with gaps is used in place by one message of each part of it, if that is long,
// and else copied once, as far as it is used.
func TestPlansAroundGaps(t *testing.T) {
	const long = shortGaps/8 + 1
	one := Shape{Size: 2, Count: 1, Bytes: 8, Commutes: true}
	for _, c := range []struct {
		call   Call
		gaps   Gaps
		change func(s *Shape)
		want   string
		direct bool
		temp   int
	}{
		{Bcast, GapsIn | GapsOut, nil, "Temp[0:1] = In[0:1]; send Temp[0:1] to 1; wait", false, 1},
		{Bcast, GapsIn | GapsOut, func(s *Shape) { s.Rank = 1 }, "receive Temp[0:1] from 0; wait; Out[0:1] = Temp[0:1]", false, 1},
		{Bcast, GapsIn, func(s *Shape) { s.Rank = 1 }, "receive Out[0:1] from 0; wait", false, 0},
		{Bcast, GapsIn, func(s *Shape) { s.Count = long }, "send In[0:1025] to 1; wait", true, 0},
		{Bcast, GapsIn, func(s *Shape) { s.Count, s.Size = long, 3 }, "Temp[0:1025] = In[0:1025]; send Temp[0:1025] to 2; send Temp[0:1025] to 1; wait", false, long},
		{Bcast, GapsOut, func(s *Shape) { s.Count, s.Rank = long, 1 }, "receive Out[0:1025] from 0; wait", true, 0},
		{Gather, GapsOut, func(s *Shape) { s.Count = long }, "receive Out[1025:2050] from 1; Out[0:1025] = In[0:1025]; wait", true, 0},
		{Gather, GapsOut, func(s *Shape) { s.InPlace = true }, "receive Temp[0:1] from 1; wait; Out[1:2] = Temp[0:1]", false, 1},
		{Allreduce, GapsIn, nil, "Temp[0:1] = In[0:1]; send Temp[0:1] to 1; receive Out[0:1] from 1; wait; Out[0:1] = Temp[0:1] ⊕ Out[0:1]", false, 1},
		{Allreduce, GapsOut, func(s *Shape) { s.Count = long }, "send In[0:1025] to 1; receive Temp[0:1025] from 1; wait; Temp[0:1025] = In[0:1025] ⊕ Temp[0:1025]; Out[0:1025] = Temp[0:1025]", false, long},
		{Allreduce, GapsOut, func(s *Shape) { s.InPlace = true }, "Temp[1:2] = Out[0:1]; send Temp[1:2] to 1; receive Temp[0:1] from 1; wait; Temp[1:2] = Temp[1:2] ⊕ Temp[0:1]; Out[0:1] = Temp[1:2]", false, 2},
		{Allgatherv, GapsOut, func(s *Shape) { s.Size, s.Counts, s.Displs = 3, []int{1, 2, 3}, []int{90, 50, 0} },
			"send In[0:1] to 1; receive Temp[0:3] from 2; Out[90:91] = In[0:1]; wait; send Temp[0:3] to 1; receive Temp[3:5] from 2; wait; " +
				"Out[0:3] = Temp[0:3]; Out[50:52] = Temp[3:5]", false, 5},
		{Alltoall, GapsIn | GapsOut, nil, "Temp[0:1] = In[1:2]; receive Temp[1:2] from 1; send Temp[0:1] to 1; Out[0:1] = In[0:1]; wait; Out[1:2] = Temp[1:2]", false, 2},
		{Allgather, GapsIn | GapsOut, func(s *Shape) { s.Size = 1 }, "Out[0:1] = In[0:1]", false, 0},
		{Barrier, GapsIn | GapsOut, nil, "send nothing to 1; receive nothing from 1; wait", false, 0},
	} {
		s := one
		s.Gaps = c.gaps
		if c.change != nil {
			c.change(&s)
		}
		p := Make(c.call, &s)
		if got := text(p); got != c.want || p.Direct != c.direct || p.Temp != c.temp {
			t.Errorf("%v, gaps %d: direct %t, %d temporary elements\n got %s\nwant %s", c.call, c.gaps, p.Direct, p.Temp, got, c.want)
		}
	}
}

// Spans hold just the numbers that were added.
func TestSpansAreSets(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var s spans
		in := make([]bool, 30)
		for range rng.IntN(8) {
			x := span{rng.IntN(25), 0}
			x.hi = x.lo + rng.IntN(5)
			missing := s.missing(x)
			for i := x.lo; i < x.hi; i++ {
				if is := slices.ContainsFunc(missing, func(g span) bool { return g.lo <= i && i < g.hi }); is == in[i] {
					t.Fatalf("%v, %v: missing %v", s, x, missing)
				}
				in[i] = true
			}
			if x.lo < x.hi && (s.has(x) != (len(missing) == 0) || s.meets(x) != !slices.Equal(missing, []span{x})) {
				t.Fatalf("%v, %v: has %t, meets %t, missing %v", s, x, s.has(x), s.meets(x), missing)
			}
			s = s.add(x)
			n := 0
			for i, is := range in {
				if is {
					n++
				}
				if is != slices.ContainsFunc(s, func(g span) bool { return g.lo <= i && i < g.hi }) {
					t.Fatalf("%v of %v", s, in)
				}
			}
			for i := 1; i < len(s); i++ {
				if s[i-1].hi >= s[i].lo {
					t.Fatalf("%v", s)
				}
			}
			if s.total() != n {
				t.Fatalf("%v has %d, not %d", s, s.total(), n)
			}
		}
	}
}
