package mpi_test

import (
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// Duplicates have both groups, the attributes that are copied, the hints that are given
// and the error handler.
func TestADuplicateOfAnIntercommunicatorIsOne(t *testing.T) {
	onBoth(t, func(s half) {
		kv := mpi.NewKeyval(func(c *mpi.Comm, v int) (int, bool, error) { return v + 1, v > 0, nil }, nil)
		not := mpi.NewKeyval[string](nil, nil)
		ok(kv.Set(s.x, 5))
		ok(not.Set(s.x, "here"))
		var calls atomic.Int32
		h := seer(&calls)
		ok(s.x.SetErrhandler(h))
		info := get(mpi.NewInfo("mpi_assert_no_any_tag", "true"))
		dups := []*mpi.Comm{get(s.x.Dup()), get(s.x.DupWithInfo(info))}
		r, d, err := s.x.Idup()
		ok(err)
		get(mpi.Wait(&r))
		r, e, err := s.x.IdupWithInfo(info)
		ok(err)
		get(mpi.Wait(&r))
		dups = append(dups, d, e, get(d.Dup()))
		for i, d := range dups {
			isBetween(t, d, s.worlds, s.at)
			if v, there, err := kv.Get(d); v < 6 || !there || err != nil {
				t.Errorf("duplicate %d has %d, %t, %v", i, v, there, err)
			}
			if _, there, err := not.Get(d); there || err != nil {
				t.Errorf("duplicate %d has an attribute that is not copied, %v", i, err)
			}
			if got := get(d.Info()).Len() == 1; got != (i == 1 || i == 3) {
				t.Errorf("duplicate %d has hints: %t", i, got)
			}
			checkSeen(t, "Send", &calls, mpi.Send(d, none, s.x.RemoteSize(), 0))
			if how := get(s.x.Compare(d)); how != mpi.Congruent {
				t.Errorf("duplicate %d is %v", i, how)
			}
			ok(d.Free())
			want(t, "Barrier of a freed one", d.Barrier(), mpi.ErrComm)
			calls.Store(0)
		}
	})
}

// A failure to copy an attribute at one rank fails Dup at all ranks of both groups.
func TestACopyThatFailsFailsTheDuplicateInBothGroups(t *testing.T) {
	onBoth(t, func(s half) {
		failure := errors.New("no copy")
		kv := mpi.NewKeyval(func(c *mpi.Comm, v int) (int, bool, error) { return v, true, failure }, nil)
		odd := s.at == 1 && s.x.Rank() == s.x.Size()-1
		if odd {
			ok(kv.Set(s.x, 1))
		}
		if d, err := s.x.Dup(); err == nil || d != nil || errors.Is(err, failure) != odd {
			t.Errorf("Dup gives %v, %v", d, err)
		}
		if odd {
			ok(kv.Delete(s.x))
		}
		isBetween(t, get(s.x.Dup()), s.worlds, s.at)
	})
}

// Split puts the ranks of one color of either group together; a color that one group
// lacks, and no color, give nil.
func TestSplitOfAnIntercommunicatorSplitsBothGroups(t *testing.T) {
	onBoth(t, func(s half) {
		// The highest ranks of both groups are first, and of one color each two.
		var worlds [2][]int
		for at, group := range s.worlds {
			for r := len(group) - 1; r >= 0; r-- {
				if r%2 == s.x.Rank()%2 {
					worlds[at] = append(worlds[at], group[r])
				}
			}
		}
		d := get(s.x.Split(s.x.Rank()%2, -s.x.Rank()))
		if len(worlds[0]) == 0 || len(worlds[1]) == 0 {
			if d != nil {
				t.Errorf("a color of one group gives %v", d)
			}
		} else {
			isBetween(t, d, worlds, s.at)
		}
		color := s.at // no color has ranks of both groups
		if s.x.Rank() > 0 {
			color = mpi.Undefined
		}
		if d := get(s.x.Split(color, 0)); d != nil {
			t.Errorf("a color of one group gives %v", d)
		}
		color = 0
		if s.x.Rank() > 0 {
			color = mpi.Undefined
		}
		if d := get(s.x.Split(color, 0)); d != nil {
			isBetween(t, d, [2][]int{s.worlds[0][:1], s.worlds[1][:1]}, s.at)
		} else if color == 0 {
			t.Error("rank 0 gets nothing")
		}
	})
}

// Create makes an intercommunicator of a part of both groups, in the order given.
func TestCreateOnAnIntercommunicatorTakesPartsOfBothGroups(t *testing.T) {
	onBoth(t, func(s half) {
		var worlds [2][]int
		var picks [2][]int
		for at, group := range s.worlds {
			for r := len(group) - 1; r >= 0; r -= 2 {
				worlds[at], picks[at] = append(worlds[at], group[r]), append(picks[at], r)
			}
		}
		d := get(s.x.Create(get(s.local.Group().Incl(picks[s.at]...))))
		if in := slices.Contains(picks[s.at], s.x.Rank()); in != (d != nil) {
			t.Errorf("rank %d of %v gets %v", s.x.Rank(), picks[s.at], d)
		} else if in {
			isBetween(t, d, worlds, s.at)
		}
		g := s.local.Group()
		if s.at == 1 {
			g = mpi.GroupEmpty
		}
		if d := get(s.x.Create(g)); d != nil {
			t.Errorf("an empty group gives %v", d)
		}
		// The remote ranks are not the caller's to give.
		_, err := s.x.Create(s.x.RemoteGroup())
		want(t, "Create of the remote group", err, mpi.ErrGroup)
		ok(s.x.Barrier())
	})
}

func TestIntercommunicatorsCompareByBothGroups(t *testing.T) {
	onBoth(t, func(s half) {
		turned := get(s.x.Split(0, -s.x.Rank()))
		part := get(s.x.Split(0, 0))
		if s.x.Size() > 1 || s.x.RemoteSize() > 1 {
			color := 0
			if s.at == 0 && s.x.Rank() > 0 || s.at == 1 && s.x.Rank() == s.x.Size()-1 && s.x.Rank() > 0 {
				color = mpi.Undefined
			}
			part = get(s.x.Split(color, 0))
		}
		for what, tc := range map[string]struct {
			a, b *mpi.Comm
			want mpi.Comparison
		}{
			"itself":         {s.x, s.x.WithContext(t.Context()), mpi.Ident},
			"a split of all": {s.x, get(s.x.Split(0, s.x.Rank())), mpi.Congruent},
			"another order":  {turned, s.x, map[bool]mpi.Comparison{true: mpi.Similar, false: mpi.Congruent}[s.x.Size() > 1 || s.x.RemoteSize() > 1]},
			"a part":         {s.x, part, map[bool]mpi.Comparison{true: mpi.Unequal, false: mpi.Congruent}[s.x.Size() > 1 || s.x.RemoteSize() > 1]},
			"its local":      {s.x, s.local, mpi.Unequal},
			"the local's":    {s.local, s.x, mpi.Unequal},
		} {
			if tc.b == nil {
				continue // this rank is not in it
			}
			if how := get(tc.a.Compare(tc.b)); how != tc.want {
				t.Errorf("%s: %v, want %v", what, how, tc.want)
			}
		}
	})
}
