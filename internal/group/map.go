package group

import "fmt"

// Map is an ordered set of ranks of the job: a group, or a communicator's members.
// The nil Map is all of them in their order, however many there are. It does not
// change and is safe for concurrent use.
type Map struct {
	// Members are first, first+stride and so on, unless they are listed.
	first, stride, n int
	list             []int32
	back             map[int32]int32 // of list: the place of each
}

// New returns the Map of members in their order: ranks of the job, none of them
// twice, of which it keeps no reference.
func New(members []int) (*Map, error) {
	list := make([]int32, len(members))
	for i, w := range members {
		if w < 0 || w > 1<<31-1 {
			return nil, fmt.Errorf("group: %d is no rank", w)
		}
		list[i] = int32(w)
	}
	m := of(list)
	if len(m.back) < len(m.list) {
		for i, w := range list {
			if at := m.back[w]; int(at) != i {
				return nil, fmt.Errorf("group: rank %d is in it twice, as %d and %d", w, i, at)
			}
		}
	}
	return m, nil
}

// All returns the Map of all ranks of a job of n, in their order. Unlike the nil
// Map, which translates alike, it knows how many there are. All(0) has no members.
func All(n int) *Map { return &Map{stride: 1, n: max(n, 0)} }

// of returns the Map of a list, which becomes its own. It lists members only where
// they have no stride. If one is there twice, back is shorter than list.
func of(list []int32) *Map {
	m := &Map{stride: 1, n: len(list)}
	if m.n > 0 {
		m.first = int(list[0])
	}
	if m.n > 1 {
		m.stride = int(list[1]) - m.first
	}
	strided := m.stride != 0
	for i, w := range list {
		strided = strided && int(w) == m.first+i*m.stride
	}
	if !strided {
		m.list, m.back = list, make(map[int32]int32, len(list))
		for i, w := range list {
			m.back[w] = int32(i)
		}
	}
	return m
}

// Len is the number of members; -1 for the nil Map, which does not know it.
func (m *Map) Len() int {
	if m == nil {
		return -1
	}
	return m.n
}

// World is the rank in the job of a member, which the caller has checked to be
// one: 0 to Len-1. A negative number stands for no rank, and is left as it is.
func (m *Map) World(rank int) int {
	switch {
	case m == nil || rank < 0:
		return rank
	case m.list != nil:
		return int(m.list[rank])
	}
	return m.first + rank*m.stride
}

// Rank is the member's number of a rank of the job, or -1 if it is none. A
// negative number is left as it is.
func (m *Map) Rank(world int) int {
	switch {
	case m == nil || world < 0:
		return world
	case m.list != nil:
		if i, ok := m.back[int32(world)]; ok {
			return int(i)
		}
		return -1
	}
	i := (world - m.first) / m.stride
	if i < 0 || i >= m.n || m.first+i*m.stride != world {
		return -1
	}
	return i
}
