package group

// Each operation takes time linear in the lengths of its Maps. None takes the nil
// Map, which does not know its members: All makes the Map to use in its place.

// Union is the members of m in their order, then those of other that are not in m
// in theirs (MPI_Group_union, MPI-4.0 §7.3.2).
func (m *Map) Union(other *Map) *Map {
	list := m.members(m.n + other.n)
	for i := range other.n {
		if w := other.World(i); m.Rank(w) < 0 {
			list = append(list, int32(w))
		}
	}
	return of(list)
}

// Intersection is the members of m that are in other too, in the order of m
// (MPI_Group_intersection, MPI-4.0 §7.3.2).
func (m *Map) Intersection(other *Map) *Map {
	return m.where(func(world int) bool { return other.Rank(world) >= 0 })
}

// Difference is the members of m that are not in other, in the order of m
// (MPI_Group_difference, MPI-4.0 §7.3.2).
func (m *Map) Difference(other *Map) *Map {
	return m.where(func(world int) bool { return other.Rank(world) < 0 })
}

// where is the members whose ranks in the job are wanted.
func (m *Map) where(wanted func(world int) bool) *Map {
	var list []int32
	for i := range m.n {
		if w := m.World(i); wanted(w) {
			list = append(list, int32(w))
		}
	}
	return of(list)
}

// members is a list of the members with room for so many.
func (m *Map) members(room int) []int32 {
	list := make([]int32, m.n, room)
	for i := range list {
		list[i] = int32(m.World(i))
	}
	return list
}

// Relation is how two Maps compare.
type Relation uint8

const (
	Ident   Relation = iota // the same members in the same order
	Similar                 // the same members in another order
	Unequal                 // not the same members
)

// Compare is how the members of the two compare (MPI_Group_compare, MPI-4.0
// §7.3.1).
func (m *Map) Compare(other *Map) Relation {
	if m.n != other.n {
		return Unequal
	}
	if m == other || m.list == nil && other.list == nil && m.first == other.first && m.stride == other.stride {
		return Ident
	}
	how := Ident
	for i := range m.n {
		switch other.Rank(m.World(i)) {
		case i:
		case -1:
			return Unequal
		default:
			how = Similar
		}
	}
	return how
}

// Translate is the numbers in other of members of m, in the order of ranks: -1 for
// one that is not in other, or not in m. Other negative numbers stand for no rank
// and are left as they are (MPI_Group_translate_ranks, MPI-4.0 §7.3.1).
func (m *Map) Translate(ranks []int, other *Map) []int {
	out := make([]int, len(ranks))
	for i, r := range ranks {
		if r >= m.n {
			out[i] = -1
		} else {
			out[i] = other.Rank(m.World(r))
		}
	}
	return out
}
