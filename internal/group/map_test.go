package group

import (
	"math/rand/v2"
	"testing"
)

// There and back is where one was, for every way of keeping the members, and
// nobody else is one.
func TestThereAndBack(t *testing.T) {
	perm := rand.New(rand.NewPCG(1, 2)).Perm(40)
	for name, members := range map[string][]int{
		"none": {}, "one": {7}, "two": {5, 2}, "all": {0, 1, 2, 3}, "odd": {1, 3, 5, 7}, "backwards": {9, 6, 3, 0},
		"any": {4, 0, 17, 2}, "many": perm,
	} {
		t.Run(name, func(t *testing.T) {
			m, err := New(members)
			if err != nil {
				t.Fatal(err)
			}
			if m.Len() != len(members) {
				t.Errorf("Len is %d of %d", m.Len(), len(members))
			}
			in := map[int]bool{}
			for i, w := range members {
				in[w] = true
				if m.World(i) != w || m.Rank(w) != i {
					t.Errorf("member %d is %d in the job, and that is member %d; want %d", i, m.World(i), m.Rank(w), w)
				}
			}
			for w := range 60 {
				if got := m.Rank(w); !in[w] && got != -1 {
					t.Errorf("%d is member %d of %v", w, got, members)
				}
			}
			if m.World(-1) != -1 || m.Rank(-3) != -3 {
				t.Error("no rank is some rank")
			}
		})
	}
}

func TestNilMapChangesNothing(t *testing.T) {
	var m *Map
	for _, r := range []int{-3, -1, 0, 5, 1 << 20} {
		if m.World(r) != r || m.Rank(r) != r {
			t.Errorf("%d becomes %d and %d", r, m.World(r), m.Rank(r))
		}
	}
	if m.Len() != -1 {
		t.Error("it knows how many there are")
	}
}

func TestMembersAreRanksAndOnce(t *testing.T) {
	for _, members := range [][]int{{-1}, {0, -3}, {1, 2, 1}, {5, 5}, {5, 5, 5}, {1 << 31}} {
		if m, err := New(members); err == nil {
			t.Errorf("%v makes %+v", members, m)
		}
	}
}
