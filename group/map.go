package group

import "fmt"

// Map is an ordered set of ranks of the job: a communicator's. The nil Map is all
// of them in their order. It does not change and is safe for concurrent use.
type Map struct {
	// Members are first, first+stride and so on, unless they are listed.
	first, stride, n int
	list             []int32
	back             map[int32]int32 // of list: the place of each
}

// New returns the Map of members in their order: ranks of the job, none of them
// twice, of which it keeps no reference.
func New(members []int) (*Map, error) {
	m := &Map{stride: 1, n: len(members)}
	back := make(map[int32]int32, len(members))
	strided := true
	for i, w := range members {
		if w < 0 || w > 1<<31-1 {
			return nil, fmt.Errorf("group: %d is no rank", w)
		}
		if at, twice := back[int32(w)]; twice {
			return nil, fmt.Errorf("group: rank %d is in it twice, as %d and %d", w, at, i)
		}
		back[int32(w)] = int32(i)
		switch i {
		case 0:
			m.first = w
		case 1:
			m.stride = w - m.first
		}
		strided = strided && w == m.first+i*m.stride
	}
	if !strided {
		m.back, m.list = back, make([]int32, len(members))
		for i, w := range members {
			m.list[i] = int32(w)
		}
	}
	return m, nil
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
