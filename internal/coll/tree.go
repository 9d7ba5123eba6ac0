package coll

// A tree is a rank's place in a binomial tree over all ranks of its group. Ranks
// count from the tree's root on, and then from 0: that is their place. The parent
// of a place is the place without its lowest bit; below place r are the places up
// to r + reach.
type tree struct {
	root, size int
	place      int
	reach      int // a power of two
}

func newTree(rank, size, root int) tree {
	t := tree{root: root, size: size, place: (rank - root + size) % size}
	if t.reach = t.place & -t.place; t.place == 0 {
		for t.reach = 1; t.reach < size; t.reach *= 2 {
		}
	}
	return t
}

// rank returns the rank at a place.
func (t *tree) rank(place int) int { return (place + t.root) % t.size }

func (t *tree) parent() int { return t.rank(t.place - t.reach) }

// below is the number of ranks of the subtree at a place of the given reach.
func (t *tree) below(place, reach int) int { return min(reach, t.size-place) }

// first is how many of the n ranks from a place on stand before the last rank's
// successor, rank 0. Their blocks lie side by side, and the others' do too.
func (t *tree) first(place, n int) int { return min(n, t.size-t.rank(place)) }
