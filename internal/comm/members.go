package comm

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/group"
)

// The first part of a creation whose ranks do not know the members of the new
// communicators: each rank tells all others two words.

const tellSize = 16

// hasFailed is what a rank tells that can't take part.
const hasFailed = NoColor - 1

// tell has every rank hear of every rank's color and key (Split); of the first member
// and the hash of its group (Create); of its own place in its group and that hash
// (Create from an intercommunicator); of whether it is to be high (Merge).
func (k *creation) tell() (*coll.Plan, *Operands, error) {
	a, b := k.spec.Color, k.spec.Key
	k.part = k.heardColors
	switch {
	case k.spec.Split && k.remote != nil:
		k.part = k.heardColorsOfBoth
	case k.spec.Split:
	case k.spec.Group == nil:
		a, b, k.part = 0, 0, k.heardHigh
		if k.high {
			a = 1
		}
	case k.remote != nil:
		a, b = k.placeWords()
		k.part = k.heardPlaces
	default:
		a, b = k.groupWords()
		k.part = k.heardGroups
	}
	if k.failed != nil {
		a, b = hasFailed, 0
	}
	k.word, k.out = make([]byte, tellSize), make([]byte, tellSize*k.size)
	binary.LittleEndian.PutUint64(k.word, uint64(a))
	binary.LittleEndian.PutUint64(k.word[8:], uint64(b))
	return k.plan(coll.Allgather, tellSize, 0), &Operands{In: k.word, Out: k.out, Elem: tellSize}, nil
}

// saidBy is what a rank has told.
func (k *creation) saidBy(rank int) (a, b int) {
	w := k.out[tellSize*rank:]
	return int(binary.LittleEndian.Uint64(w)), int(binary.LittleEndian.Uint64(w[8:]))
}

// groupWords are the first member of the group in the parent and the hash of all.
func (k *creation) groupWords() (first, hash int) {
	g := k.spec.Group
	if g.Rank(k.in.World.Rank) < 0 {
		return NoColor, 0
	}
	return k.c.rankOf(g.World(0)), hashOf(g)
}

// placeWords are the rank's place in its group and the hash of that.
func (k *creation) placeWords() (place, hash int) {
	g := k.spec.Group
	if g.Rank(k.in.World.Rank) < 0 {
		return NoColor, 0
	}
	return g.Rank(k.in.World.Rank), hashOf(g)
}

func hashOf(g *group.Map) int {
	h := fnv.New64a()
	h.Write(appendRanks(nil, g))
	return int(h.Sum64())
}

// heardColors finds the ranks of this one's color.
func (k *creation) heardColors() (*coll.Plan, *Operands, error) {
	k.leader = -1
	if mine, _ := k.saidBy(k.rank); k.failed == nil && mine != NoColor {
		k.leader, k.ranks = k.colored(mine, 0, k.size)
		k.place, k.many = k.ranks.Rank(k.in.World.Rank), k.ranks.Len()
	}
	return k.draw()
}

// heardColorsOfBoth finds those of both groups. The first member of the first group
// draws the id.
func (k *creation) heardColorsOfBoth() (*coll.Plan, *Operands, error) {
	k.leader = -1
	if mine, _ := k.saidBy(k.rank); k.failed == nil && mine != NoColor {
		leader, a := k.colored(mine, 0, k.first)
		_, b := k.colored(mine, k.first, k.size)
		k.sides(leader, a, b)
	}
	return k.draw()
}

// sides makes two groups those of the new intercommunicator, unless one has no members:
// then there is none.
func (k *creation) sides(leader int, a, b *group.Map) {
	if a.Len() <= 0 || b.Len() <= 0 {
		return
	}
	if k.leader = leader; k.rank >= k.first {
		a, b = b, a
	}
	k.ranks, k.remote = a, b
	k.place, k.many = a.Rank(k.in.World.Rank), a.Len()
}

// colored returns the ranks of a color, of those from from on and before to, in the
// order of their keys and then their own, and the first of them.
func (k *creation) colored(color, from, to int) (first int, ranks *group.Map) {
	type member struct{ key, rank int }
	var all []member
	for r := from; r < to; r++ {
		if c, key := k.saidBy(r); c == color {
			all = append(all, member{key, r})
		}
	}
	slices.SortFunc(all, func(a, b member) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.rank, b.rank)) })
	worlds := make([]int, len(all))
	for i, m := range all {
		worlds[i] = k.world(m.rank)
	}
	if len(all) > 0 {
		first = all[0].rank
	}
	ranks, err := group.New(worlds) // which fails for no ranks that take part
	k.failed = cmp.Or(k.failed, err)
	return first, ranks
}

// heardGroups checks that all members of this rank's group give the same one.
func (k *creation) heardGroups() (*coll.Plan, *Operands, error) {
	k.leader = -1
	if mine, hash := k.saidBy(k.rank); k.failed == nil && mine != NoColor {
		g := k.spec.Group
		for i := range g.Len() {
			r := k.c.rankOf(g.World(i))
			if first, h := k.saidBy(r); first != hasFailed && (first != mine || h != hash) {
				k.failed = cmp.Or[error](k.failed, &GroupsError{r})
			}
		}
		k.leader, k.ranks, k.place, k.many = mine, g, g.Rank(k.in.World.Rank), g.Len()
	}
	return k.draw()
}

// heardPlaces puts together the groups of both sides.
func (k *creation) heardPlaces() (*coll.Plan, *Operands, error) {
	k.leader = -1
	leader, a := k.placed(0, k.first)
	_, b := k.placed(k.first, k.size)
	if k.failed == nil {
		k.sides(leader, a, b)
	}
	if k.leader >= 0 && k.place < 0 {
		k.leader = -1 // not a member
	}
	return k.draw()
}

// placed returns the members of one side in the order of their places, and the first of
// them. Each rank has told its own place and the hash of its group: all have to be that
// of the ranks so placed.
func (k *creation) placed(from, to int) (first int, ranks *group.Map) {
	at := make([]int, to-from) // ranks by their places
	var who []int
	for r := from; r < to; r++ {
		switch place, _ := k.saidBy(r); {
		case place == hasFailed:
			return 0, nil // all fail
		case place >= 0 && place < len(at):
			at[place] = r
			who = append(who, r)
		}
	}
	worlds := make([]int, len(who))
	for place := range worlds {
		worlds[place] = k.world(at[place])
	}
	ranks, err := group.New(worlds)
	for _, r := range who {
		if _, hash := k.saidBy(r); err != nil || hash != hashOf(ranks) {
			k.failed = cmp.Or[error](k.failed, &GroupsError{r - from})
			return 0, nil
		}
	}
	return at[0], ranks
}

// HighError is the error of a Merge whose ranks of one group do not agree on its place.
type HighError struct {
	Rank int // in its group, that says otherwise than the group's first
}

func (e *HighError) Error() string {
	return fmt.Sprintf("rank %d of a group and its rank 0 say otherwise whether the group is the high one: all ranks of a group give the same high", e.Rank)
}

// heardHigh puts the group first that is not to be the high one. If both say the same
// the canonical order stands.
func (k *creation) heardHigh() (*coll.Plan, *Operands, error) {
	at := func(r int) int { a, _ := k.saidBy(r); return a }
	for r := range k.size {
		of := 0
		if r >= k.first {
			of = k.first
		}
		if at(r) != at(of) && at(r) != hasFailed && at(of) != hasFailed {
			k.failed = cmp.Or[error](k.failed, &HighError{r - of})
		}
	}
	k.remote, k.ranks = nil, k.all
	if at(0) > at(k.first) {
		members := make([]int, 0, k.size)
		for i := range k.size {
			members = append(members, k.world((k.first+i)%k.size))
		}
		var err error
		if k.ranks, err = group.New(members); err != nil {
			k.failed = cmp.Or(k.failed, err)
		}
	}
	k.place, k.many = k.ranks.Rank(k.in.World.Rank), k.size
	return k.draw()
}
