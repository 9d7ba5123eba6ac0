package topo

// None is the rank beyond the edge of a grid.
const None = -3

// Grid is a Cartesian topology. Its ranks go through the last dimension first.
type Grid struct {
	Dims     []int
	Periodic []bool
}

// Check says whether g is a grid for which n processes are enough. The error is a *GridError.
func (g Grid) Check(n int) error {
	if len(g.Dims) != len(g.Periodic) {
		return &GridError{n, g, -1}
	}
	left := n
	for i, d := range g.Dims {
		if d < 1 {
			return &GridError{n, g, i}
		}
		left /= d
	}
	if left < 1 {
		return &GridError{n, g, -1}
	}
	return nil
}

// Size is the number of positions: 1 without dimensions.
func (g Grid) Size() int {
	size := 1
	for _, d := range g.Dims {
		size *= d
	}
	return size
}

// Coords are the coordinates of a rank.
func (g Grid) Coords(rank int) []int {
	coords := make([]int, len(g.Dims))
	for i := len(coords) - 1; i >= 0; i-- {
		coords[i] = rank % g.Dims[i]
		rank /= g.Dims[i]
	}
	return coords
}

// Rank is the rank at the coordinates, which wrap around in periodic dimensions. The error
// is a *CoordError.
func (g Grid) Rank(coords []int) (int, error) {
	if len(coords) != len(g.Dims) {
		return None, &CoordError{-1, len(coords), len(g.Dims)}
	}
	rank := 0
	for i, c := range coords {
		d := g.Dims[i]
		if g.Periodic[i] {
			c = wrap(c, d)
		} else if c < 0 || c >= d {
			return None, &CoordError{i, c, d}
		}
		rank = rank*d + c
	}
	return rank, nil
}

// wrap is c in a periodic dimension of size d.
func wrap(c, d int) int {
	if c %= d; c < 0 {
		c += d
	}
	return c
}

// Shift is whose data a rank gets, and which rank gets its own, when all send theirs by
// disp in dimension dim (MPI-4.0 §8.5.6).
func (g Grid) Shift(rank, dim, disp int) (source, dest int) {
	stride := Grid{Dims: g.Dims[dim+1:]}.Size()
	d := g.Dims[dim]
	c := rank / stride % d
	at := func(to int) int { return rank + (to-c)*stride }
	if g.Periodic[dim] {
		disp = wrap(disp, d)
		return at(wrap(c-disp, d)), at((c + disp) % d)
	}
	source, dest = None, None
	if disp <= c && disp > c-d {
		source = at(c - disp)
	}
	if disp >= -c && disp < d-c {
		dest = at(c + disp)
	}
	return source, dest
}

// Neighbors are the ranks next to a rank: that of slot 2d is before it in dimension d, that
// of slot 2d+1 after it.
func (g Grid) Neighbors(rank int) []int {
	near := make([]int, 0, 2*len(g.Dims))
	for dim := range g.Dims {
		before, after := g.Shift(rank, dim, 1)
		near = append(near, before, after)
	}
	return near
}

// Sub is the grid of the dimensions that are kept (MPI-4.0 §8.5.7). The ranks of one color
// are those of one such grid, and key is the rank there.
func (g Grid) Sub(rank int, keep []bool) (sub Grid, color, key int) {
	for i, c := range g.Coords(rank) {
		if keep[i] {
			sub.Dims, sub.Periodic = append(sub.Dims, g.Dims[i]), append(sub.Periodic, g.Periodic[i])
			key = key*g.Dims[i] + c
		} else {
			color = color*g.Dims[i] + c
		}
	}
	return sub, color, key
}

// Edges are those of all ranks to their Neighbors, by slots, of weight 1.
func (g Grid) Edges() []Edge {
	var edges []Edge
	for rank := range g.Size() {
		for _, to := range g.Neighbors(rank) {
			if to != None {
				edges = append(edges, Edge{rank, to, 1})
			}
		}
	}
	return edges
}
