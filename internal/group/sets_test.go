package group

import (
	"errors"
	"math"
	"slices"
	"testing"

	_ "github.com/weft-mpi/weft/internal/testkit/tier"
	"pgregory.net/rapid"
)

const universe = 24 // ranks of the job that a model draws from

// draw is a Map of any shape and the list of its members.
func draw(t *rapid.T, name string) (*Map, []int) {
	var members []int
	switch rapid.SampledFrom([]string{"list", "stride", "all", "none"}).Draw(t, name) {
	case "list":
		members = slices.Clone(rapid.Permutation(numbers(universe)).Draw(t, "order"))[:rapid.IntRange(0, universe).Draw(t, "of")]
	case "stride":
		first, stride := rapid.IntRange(0, universe-1).Draw(t, "first"), rapid.SampledFrom([]int{-3, -2, -1, 1, 2, 3}).Draw(t, "stride")
		for w := first; w >= 0 && w < universe; w += stride {
			members = append(members, w)
		}
	case "all":
		n := rapid.IntRange(0, universe).Draw(t, "n")
		return All(n), numbers(n)
	}
	m, err := New(members)
	if err != nil {
		t.Fatal(err)
	}
	return m, members
}

func numbers(n int) (out []int) {
	for i := range n {
		out = append(out, i)
	}
	return out
}

// is checks the members of a Map, both ways.
func is(t *rapid.T, what string, m *Map, want []int) {
	t.Helper()
	var got []int
	for i := range m.Len() {
		got = append(got, m.World(i))
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%s: %v, want %v", what, got, want)
	}
	for w := range universe {
		if i := slices.Index(want, w); m.Rank(w) != i {
			t.Fatalf("%s: rank %d of the job is member %d of %v", what, w, m.Rank(w), want)
		}
	}
}

func without(a, b []int) []int {
	return slices.DeleteFunc(slices.Clone(a), func(w int) bool { return slices.Contains(b, w) })
}

func reversed(a []int) []int {
	a = slices.Clone(a)
	slices.Reverse(a)
	return a
}

func TestSetOperationsAreThoseOfLists(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, as := draw(t, "a")
		b, bs := draw(t, "b")
		is(t, "a", a, as)
		is(t, "union", a.Union(b), append(slices.Clone(as), without(bs, as)...))
		is(t, "intersection", a.Intersection(b), without(as, without(as, bs)))
		is(t, "difference", a.Difference(b), without(as, bs))

		want := Unequal
		if slices.Equal(as, bs) {
			want = Ident
		} else if len(as) == len(bs) && len(without(as, bs)) == 0 {
			want = Similar
		}
		if got := a.Compare(b); got != want || b.Compare(a) != want {
			t.Fatalf("%v and %v compare as %d, and as %d; want %d", as, bs, got, b.Compare(a), want)
		}
		if a.Compare(a) != Ident {
			t.Fatalf("%v is not itself", as)
		}
		mixed, err := New(reversed(as))
		if err != nil {
			t.Fatal(err)
		}
		if how := a.Compare(mixed); how == Unequal || (how == Ident) != (len(as) < 2) {
			t.Fatalf("%v and its reverse compare as %d", as, how)
		}

		ranks := rapid.SliceOf(rapid.IntRange(-5, universe+5)).Draw(t, "ranks")
		got := a.Translate(ranks, b)
		if len(got) != len(ranks) {
			t.Fatalf("%v becomes %v", ranks, got)
		}
		for i, r := range ranks {
			want := r
			if r >= len(as) {
				want = -1
			} else if r >= 0 {
				want = slices.Index(bs, as[r])
			}
			if got[i] != want {
				t.Fatalf("rank %d of %v is rank %d of %v, want %d", r, as, got[i], bs, want)
			}
		}
	})
}

func TestInclAndExclTakeEachRankOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, members := draw(t, "m")
		ranks := rapid.OneOf(
			rapid.SliceOfN(rapid.IntRange(-1, len(members)), 0, 4),
			rapid.SliceOfDistinct(rapid.IntRange(0, max(len(members)-1, 0)), func(r int) int { return r }),
		).Draw(t, "ranks")
		in, err := m.Incl(ranks)
		out, excl := m.Excl(ranks)
		if place, r := bad(ranks, len(members)); place >= 0 {
			checkRank(t, err, ranks, place, r)
			checkRank(t, excl, ranks, place, r)
			return
		}
		if err != nil || excl != nil {
			t.Fatalf("%v of %v: %v, %v", ranks, members, err, excl)
		}
		var chosen []int
		for _, r := range ranks {
			chosen = append(chosen, members[r])
		}
		is(t, "Incl", in, chosen)
		is(t, "Excl", out, without(members, chosen))
	})
}

// bad is the first item of a list that is an error, or -1, and its rank.
func bad(ranks []int, n int) (place, rank int) {
	for i, r := range ranks {
		if r < 0 || r >= n || slices.Contains(ranks[:i], r) {
			return i, r
		}
	}
	return -1, 0
}

func checkRank(t *rapid.T, err error, ranks []int, place, rank int) {
	t.Helper()
	var e *RankError
	if !errors.As(err, &e) || e.Item != place || e.Rank != rank || e.Before != slices.Index(ranks[:place], rank) {
		t.Fatalf("%v: %+v (%v), want item %d", ranks, e, err, place)
	}
}

func TestRangesAreTheirRanksInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m, members := draw(t, "m")
		ends := rapid.IntRange(-1, len(members)+3)
		ranges := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Range {
			return Range{ends.Draw(t, "first"), ends.Draw(t, "last"), rapid.IntRange(-9, 9).Draw(t, "stride")}
		}), 0, 3).Draw(t, "ranges")
		in, err := m.RangeIncl(ranges)
		out, excl := m.RangeExcl(ranges)

		var ranks, of []int
		for i, r := range ranges {
			if r.Stride == 0 || (r.Last-r.First)*r.Stride < 0 {
				var e *StrideError
				if place, _ := bad(ranks, len(members)); place >= 0 {
					break
				}
				for _, err := range []error{err, excl} {
					if !errors.As(err, &e) || e.Item != i || e.Range != r || e.Error() == "" {
						t.Fatalf("%v of %v: %v, want an error of item %d", ranges, members, err, i)
					}
				}
				return
			}
			for w := r.First; min(r.First, r.Last) <= w && w <= max(r.First, r.Last); w += r.Stride {
				ranks, of = append(ranks, w), append(of, i)
			}
		}
		// A range is refused for a rank outside before it is looked at for one twice.
		place, _ := bad(ranks, len(members))
		for i, r := range ranks {
			if place >= 0 && of[i] == of[place] && (r < 0 || r >= len(members)) {
				place = i
				break
			}
		}
		if place >= 0 {
			before := -1
			if k := slices.Index(ranks[:place], ranks[place]); k >= 0 {
				before = of[k]
			}
			for _, err := range []error{err, excl} {
				var e *RankError
				if !errors.As(err, &e) || e.Item != of[place] || e.Rank != ranks[place] || e.Before != before || e.Error() == "" {
					t.Fatalf("%v of %v: %v, want an error of item %d, rank %d, before %d", ranges, members, err, of[place], ranks[place], before)
				}
			}
			return
		}
		if err != nil || excl != nil {
			t.Fatalf("%v of %v: %v, %v", ranges, members, err, excl)
		}
		var chosen []int
		for _, r := range ranks {
			chosen = append(chosen, members[r])
		}
		is(t, "RangeIncl", in, chosen)
		is(t, "RangeExcl", out, without(members, chosen))
	})
}

// Numbers that no group can have do not overflow into ranks.
func TestRangesOfHugeNumbersAreRefused(t *testing.T) {
	const big, small = math.MaxInt, math.MinInt
	for _, c := range []struct {
		r    Range
		want []int // nil: an error
	}{
		{Range{0, big, big}, nil}, {Range{0, big, 1}, nil}, {Range{4, small, -1}, nil}, {Range{4, small, small}, nil},
		{Range{small, big, big}, nil}, {Range{big, small, small}, nil}, {Range{big, big, 1}, nil}, {Range{small, small, -1}, nil},
		{Range{0, big, small}, nil}, {Range{0, small, big}, nil},
		{Range{1, big - 1, big}, []int{1}}, {Range{4, small + 5, small}, []int{4}}, {Range{4, 4, small}, []int{4}}, {Range{0, 0, big}, []int{0}},
		{Range{0, 5, 2}, []int{0, 2, 4}}, {Range{3, -1, -3}, []int{3, 0}},
	} {
		m, err := All(5).RangeIncl([]Range{c.r})
		if c.want == nil {
			if err == nil {
				t.Errorf("%v is %d ranks", c.r, m.Len())
			}
			continue
		}
		if err != nil {
			t.Errorf("%v: %v", c.r, err)
			continue
		}
		for i, w := range c.want {
			if m.Len() != len(c.want) || m.World(i) != w {
				t.Errorf("%v is %+v, want %v", c.r, m, c.want)
			}
		}
	}
}

// An error of two ranges names both, whichever of their ranks they share.
func TestRangesThatMeetAreRefused(t *testing.T) {
	for _, c := range []struct {
		a, b Range
		rank int
	}{
		{Range{0, 6, 3}, Range{6, 8, 1}, 6}, {Range{0, 6, 3}, Range{9, 0, -9}, 0}, {Range{7, 1, -2}, Range{0, 1, 1}, 1},
		{Range{7, 1, -2}, Range{8, 2, -1}, 7}, {Range{5, 5, 1}, Range{5, 5, -4}, 5}, {Range{0, 9, 1}, Range{9, 0, -1}, 9},
	} {
		var e *RankError
		if _, err := All(10).RangeExcl([]Range{c.a, c.b}); !errors.As(err, &e) || *e != (RankError{Item: 1, Rank: c.rank, Size: 10}) {
			t.Errorf("%v and %v: %v", c.a, c.b, err)
		}
	}
}

// A list of many ranges over the same ranks ends at the first that is there twice.
func TestRangesTakeNoMoreThanTheGroup(t *testing.T) {
	ranges := slices.Repeat([]Range{{0, 1<<20 - 1, 1}}, 100_000)
	if _, err := All(1 << 20).RangeIncl(ranges); err == nil {
		t.Error("each rank is there a hundred thousand times")
	}
}

// What has a stride keeps no list, whichever operation has made it.
func TestStridedMapsHoldNoList(t *testing.T) {
	all := All(1000)
	odd := must(t)(all.RangeIncl([]Range{{1, 999, 2}}))
	for name, m := range map[string]*Map{
		"all": all, "odd": odd, "even": all.Difference(odd), "the odd among them": all.Intersection(odd),
		"every sixth": must(t)(odd.RangeExcl([]Range{{0, 499, 3}, {1, 499, 3}})), "none": odd.Difference(all),
		"backwards": must(t)(all.RangeIncl([]Range{{999, 0, -1}})), "all but the first": must(t)(all.Excl([]int{0})),
		"two": must(t)(all.Incl([]int{17, 3})), "joined": must(t)(all.Incl([]int{0, 1})).Union(must(t)(all.Incl([]int{2, 3}))),
	} {
		if m.list != nil || m.back != nil {
			t.Errorf("%s is a list of %d", name, m.Len())
		}
	}
}

func must(t *testing.T) func(*Map, error) *Map {
	return func(m *Map, err error) *Map {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
}

func TestAllKnowsHowManyThereAre(t *testing.T) {
	for n, want := range map[int]int{-1: 0, 0: 0, 1: 1, 7: 7, 1 << 30: 1 << 30} {
		m := All(n)
		if m.Len() != want || m.Rank(want) != -1 || want > 0 && (m.World(want-1) != want-1 || m.Rank(want-1) != want-1) {
			t.Errorf("All(%d) is %+v", n, m)
		}
	}
}
