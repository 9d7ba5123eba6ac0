package mpi_test

import (
	"math"
	"slices"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// world is the ranks in the job of a group's members, which is checked on the way.
func world(t *testing.T, g *mpi.Group) (members []int) {
	t.Helper()
	for rank, w := range g.All() {
		if rank != len(members) {
			t.Errorf("member %d comes as number %d", rank, len(members))
		}
		members = append(members, w)
	}
	if g.Size() != len(members) {
		t.Errorf("%v are %d ranks", members, g.Size())
	}
	return members
}

// Every rank makes the same groups and is told its own number in each.
func TestGroupsAreOfTheRanksThatWereAskedFor(t *testing.T) {
	act(t, "mem", 5, func(w *mpi.World, c *mpi.Comm) {
		all := c.Group()
		odd := get(all.RangeIncl(mpi.Range{First: 1, Last: 4, Stride: 2}))
		some := get(all.Incl(4, 0, 3))
		for _, c := range []struct {
			name string
			g    *mpi.Group
			want []int
		}{
			{"all", all, []int{0, 1, 2, 3, 4}},
			{"of a duplicate", get(c.Dup()).Group(), []int{0, 1, 2, 3, 4}},
			{"odd", odd, []int{1, 3}},
			{"some", some, []int{4, 0, 3}},
			{"some of some", get(some.Incl(2, 0)), []int{3, 4}},
			{"the others", get(all.Excl(4, 0, 3)), []int{1, 2}},
			{"backwards", get(all.RangeIncl(mpi.Range{First: 4, Last: 0, Stride: -3})), []int{4, 1}},
			{"without ranges", get(all.RangeExcl(mpi.Range{First: 0, Last: 1, Stride: 1}, mpi.Range{First: 4, Last: 4, Stride: -1})), []int{2, 3}},
			{"union", get(some.Union(odd)), []int{4, 0, 3, 1}},
			{"intersection", get(some.Intersection(odd)), []int{3}},
			{"difference", get(some.Difference(odd)), []int{4, 0}},
			{"nothing of it", get(all.Incl()), nil},
			{"nothing left", get(odd.Difference(all)), nil},
			{"empty", mpi.GroupEmpty, nil},
			{"empty and some", get(mpi.GroupEmpty.Union(some)), []int{4, 0, 3}},
			{"some and empty", get(some.Union(mpi.GroupEmpty)), []int{4, 0, 3}},
			{"some and none", get(some.Intersection(mpi.GroupEmpty)), nil},
			{"of nothing", get(mpi.GroupEmpty.Excl()), nil},
		} {
			if got := world(t, c.g); !slices.Equal(got, c.want) {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
			want := slices.Index(c.want, w.Comm().Rank())
			if want < 0 {
				want = mpi.Undefined
			}
			if got := c.g.Rank(); got != want {
				t.Errorf("%s: the caller's rank is %d, want %d", c.name, got, want)
			}
		}
		for range all.All() {
			break
		}
	})
}

func TestTranslateFindsRanksInAnotherGroup(t *testing.T) {
	act(t, "mem", 5, func(w *mpi.World, c *mpi.Comm) {
		all := c.Group()
		some := get(all.Incl(4, 0, 3))
		ranks := []int{0, 1, 2, mpi.ProcNull, 3, -1, mpi.Undefined, math.MaxInt, math.MinInt, 0}
		const u, p = mpi.Undefined, mpi.ProcNull
		for _, c := range []struct {
			name     string
			from, to *mpi.Group
			want     []int
		}{
			{"to all", some, all, []int{4, 0, 3, p, u, u, u, u, u, 4}},
			{"from all", all, some, []int{1, u, u, p, 2, u, u, u, u, 1}},
			{"to none", some, mpi.GroupEmpty, []int{u, u, u, p, u, u, u, u, u, u}},
			{"from none", mpi.GroupEmpty, some, []int{u, u, u, p, u, u, u, u, u, u}},
			{"to nil", some, nil, []int{u, u, u, p, u, u, u, u, u, u}},
			{"from nil", nil, some, []int{u, u, u, p, u, u, u, u, u, u}},
		} {
			if got := c.from.Translate(ranks, c.to); !slices.Equal(got, c.want) {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
		}
		if got := some.Translate(nil, all); len(got) != 0 {
			t.Errorf("nothing becomes %v", got)
		}
	})
}

func TestGroupsAndCommunicatorsCompare(t *testing.T) {
	act(t, "mem", 3, func(w *mpi.World, c *mpi.Comm) {
		all := c.Group()
		for _, g := range []struct {
			name  string
			other *mpi.Group
			want  mpi.Comparison
		}{
			{"itself", all, mpi.Ident}, {"the same", get(all.Incl(0, 1, 2)), mpi.Ident},
			{"another order", get(all.Incl(0, 2, 1)), mpi.Similar}, {"a part", get(all.Incl(0, 1)), mpi.Unequal},
			{"none", mpi.GroupEmpty, mpi.Unequal}, {"a duplicate's", get(c.Dup()).Group(), mpi.Ident},
		} {
			if got := get(all.Compare(g.other)); got != g.want || get(g.other.Compare(all)) != g.want {
				t.Errorf("%s: %v, want %v", g.name, got, g.want)
			}
		}
		if got := get(mpi.GroupEmpty.Compare(get(all.Incl()))); got != mpi.Ident {
			t.Errorf("two empty groups are %v", got)
		}

		d := get(c.Dup())
		for _, p := range []struct {
			name string
			a, b *mpi.Comm
			want mpi.Comparison
		}{
			{"itself", c, c, mpi.Ident}, {"with a context", c, w.Comm(), mpi.Ident}, {"a duplicate", c, d, mpi.Congruent},
			{"two duplicates", d, get(c.Dup()), mpi.Congruent}, {"a duplicate with a context", d.WithContext(t.Context()), d, mpi.Ident},
		} {
			if got := get(p.a.Compare(p.b)); got != p.want {
				t.Errorf("%s: %v, want %v", p.name, got, p.want)
			}
		}
		g := d.Group()
		ok(d.Free())
		for _, p := range [][2]*mpi.Comm{{c, d}, {d, c}, {d, d}, {c, nil}, {c, new(mpi.Comm)}} {
			_, err := p[0].Compare(p[1])
			want(t, "Compare with a freed or nil communicator", err, mpi.ErrComm)
		}
		if !slices.Equal(world(t, g), []int{0, 1, 2}) || g.Rank() != c.Rank() {
			t.Error("a group ends with its communicator")
		}
	})
}

func TestComparisonsHaveNames(t *testing.T) {
	for c, want := range map[mpi.Comparison]string{
		mpi.Ident: "ident", mpi.Congruent: "congruent", mpi.Similar: "similar", mpi.Unequal: "unequal", 7: "comparison 7",
	} {
		if c.String() != want {
			t.Errorf("%d is %q, want %q", int(c), c, want)
		}
	}
}

func TestWrongRanksOfGroupsAreAnsweredWithTheirClass(t *testing.T) {
	act(t, "mem", 3, func(w *mpi.World, c *mpi.Comm) {
		g := c.Group()
		for _, ranks := range [][]int{{3}, {-1}, {mpi.ProcNull}, {mpi.Undefined}, {0, 1, 0}, {math.MaxInt}, {1 << 32}} {
			_, err := g.Incl(ranks...)
			want(t, "Incl", err, mpi.ErrRank)
			_, err = g.Excl(ranks...)
			want(t, "Excl", err, mpi.ErrRank)
		}
		_, err := mpi.GroupEmpty.Incl(0)
		want(t, "Incl of nobody", err, mpi.ErrRank)
		type ranges = []mpi.Range
		for _, r := range []struct {
			ranges ranges
			class  mpi.Class
		}{
			{ranges{{First: 0, Last: 3, Stride: 1}}, mpi.ErrRank}, {ranges{{First: -1, Last: 1, Stride: 1}}, mpi.ErrRank},
			{ranges{{First: 0, Last: 1, Stride: 1}, {First: 2, Last: 1, Stride: -1}}, mpi.ErrRank},
			{ranges{{First: 0, Last: 2}}, mpi.ErrArg}, {ranges{{First: 2, Last: 0, Stride: 1}}, mpi.ErrArg},
			{ranges{{First: 0, Last: 2, Stride: -1}}, mpi.ErrArg},
		} {
			_, err := g.RangeIncl(r.ranges...)
			want(t, "RangeIncl", err, r.class)
			_, err = g.RangeExcl(r.ranges...)
			want(t, "RangeExcl", err, r.class)
		}
	})
}

// together are the calls with two groups.
var together = map[string]func(a, b *mpi.Group) error{
	"Union":        func(a, b *mpi.Group) error { _, err := a.Union(b); return err },
	"Intersection": func(a, b *mpi.Group) error { _, err := a.Intersection(b); return err },
	"Difference":   func(a, b *mpi.Group) error { _, err := a.Difference(b); return err },
	"Compare":      func(a, b *mpi.Group) error { _, err := a.Compare(b); return err },
}

func TestNilGroupsAreErrors(t *testing.T) {
	var none *mpi.Group
	if none.Size() != 0 || none.Rank() != mpi.Undefined || mpi.GroupEmpty.Rank() != mpi.Undefined || len(world(t, none)) != 0 {
		t.Errorf("a nil group has %d ranks, of which the caller is %d", none.Size(), none.Rank())
	}
	for name, call := range together {
		want(t, name+" of nil", call(none, mpi.GroupEmpty), mpi.ErrGroup)
		want(t, name+" with nil", call(mpi.GroupEmpty, none), mpi.ErrGroup)
		want(t, name+" of the empty group", call(mpi.GroupEmpty, mpi.GroupEmpty), 0)
	}
	for _, call := range []func(...int) (*mpi.Group, error){none.Incl, none.Excl} {
		_, err := call()
		want(t, "Incl or Excl of nil", err, mpi.ErrGroup)
	}
	for _, call := range []func(...mpi.Range) (*mpi.Group, error){none.RangeIncl, none.RangeExcl} {
		_, err := call()
		want(t, "RangeIncl or RangeExcl of nil", err, mpi.ErrGroup)
	}
}

// Two ranks that are goroutines could hand each other their groups.
func TestGroupsOfTwoWorldsDoNotMix(t *testing.T) {
	comms := make(chan *mpi.Comm, 1)
	act(t, "mem", 2, func(w *mpi.World, c *mpi.Comm) {
		if c.Rank() == 1 {
			comms <- c
			ok(c.Barrier())
			return
		}
		theirs := <-comms
		for name, call := range together {
			want(t, name, call(c.Group(), theirs.Group()), mpi.ErrGroup)
			want(t, name+" with the empty group", call(theirs.Group(), mpi.GroupEmpty), 0)
		}
		_, err := c.Compare(theirs)
		want(t, "Comm.Compare", err, mpi.ErrComm)
		if got := c.Group().Translate([]int{0, mpi.ProcNull}, theirs.Group()); !slices.Equal(got, []int{mpi.Undefined, mpi.ProcNull}) {
			t.Errorf("ranks of another World are %v", got)
		}
		if got := theirs.Group().Rank(); got != 1 {
			t.Errorf("the other rank is %d", got)
		}
		ok(c.Barrier())
	})
}
