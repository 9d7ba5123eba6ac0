package mpi_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/weft-mpi/weft/mpi"
)

// allNear has all ranks be equally near each other, so that nobody moves.
func allNear(w *mpi.World) {
	mpi.Hosts(w, slices.Repeat([]string{"here"}, w.Comm().Size())...)
	mpi.Place(w, fstest.MapFS{})
}

// shifted is the rank that has the coordinates of rank, and disp more in a dimension, by
// trying all.
func shifted(c *mpi.Comm, o mpi.CartInfo, rank, dim, disp int) int {
	at := get(c.CartCoords(rank))
	at[dim] += disp
	if o.Periodic[dim] {
		at[dim] = (at[dim]%o.Dims[dim] + o.Dims[dim]) % o.Dims[dim]
	}
	for r := range c.Size() {
		if slices.Equal(get(c.CartCoords(r)), at) {
			return r
		}
	}
	return mpi.ProcNull
}

// isGrid checks what a rank knows of a grid, and sends messages along it.
func isGrid(t *testing.T, c *mpi.Comm, dims []int, periodic []bool) {
	o, me := get(c.Cart()), c.Rank()
	if !slices.Equal(o.Dims, dims) || !slices.Equal(o.Periodic, periodic) || get(c.CartRank(o.Coords...)) != me {
		t.Errorf("rank %d is at %v, which is rank %d, of %v %v, want %v %v", me, o.Coords, get(c.CartRank(o.Coords...)), o.Dims, o.Periodic, dims, periodic)
	}
	var near []int
	for dim := range dims {
		for _, disp := range []int{-7, -1, 0, 1, 2, 1 << 40} {
			source, dest, err := c.CartShift(dim, disp)
			ok(err)
			if from, to := shifted(c, o, me, dim, -disp), shifted(c, o, me, dim, disp); source != from || dest != to {
				t.Errorf("%v: rank %d shifts by %d along %d from %d to %d, want %d and %d", o, me, disp, dim, source, dest, from, to)
			}
			in := []int{mpi.ProcNull}
			get(mpi.Sendrecv(c, []int{me}, dest, 0, in, source, 0))
			if in[0] != source {
				t.Errorf("%v: rank %d has got what %d sent, want %d", o, me, in[0], source)
			}
		}
		near = append(near, shifted(c, o, me, dim, -1), shifted(c, o, me, dim, 1))
	}
	if !slices.Equal(c.Neighbors(), near) || get(c.Topology()) != mpi.TopologyCart {
		t.Errorf("%v of %v: the neighbors of %d are %v, want %v", get(c.Topology()), o, me, c.Neighbors(), near)
	}
}

func TestGridsHaveCoordinatesNeighborsAndShifts(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 10, func(w *mpi.World, c *mpi.Comm) {
			allNear(w)
			all := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
			for _, tc := range []struct {
				o        mpi.CartOptions
				dims     []int
				periodic []bool
			}{
				{mpi.CartOptions{Dims: []int{2, 5}, Periodic: []bool{true, false}}, []int{2, 5}, []bool{true, false}},
				{mpi.CartOptions{Dims: []int{0, 0}}, []int{5, 2}, []bool{false, false}},
				{mpi.CartOptions{Dims: []int{1, 0, 2}, Periodic: []bool{true, true, true}}, []int{1, 5, 2}, []bool{true, true, true}},
				{mpi.CartOptions{Dims: []int{2, 2}, Periodic: []bool{false, true}}, []int{2, 2}, []bool{false, true}},
				{mpi.CartOptions{Dims: []int{7}}, []int{7}, []bool{false}},
				{mpi.CartOptions{}, nil, nil},
			} {
				for _, tc.o.Reorder = range []bool{false, true} {
					n := 1
					for _, d := range tc.dims {
						n *= d
					}
					cart := get(c.CartCreate(tc.o))
					hasRanks(t, w, cart, all[:n])
					if cart == nil {
						continue
					}
					isGrid(t, cart, tc.dims, tc.periodic)
					ok(cart.Free())
				}
			}
			hasRanks(t, w, c, all)
		})
	})
}

func TestSubgridsArePartsOfTheGrid(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 4, func(w *mpi.World, c *mpi.Comm) {
			me := c.Rank()
			cart := get(c.CartCreate(mpi.CartOptions{Dims: []int{2, 2}, Periodic: []bool{true, false}}))
			for _, tc := range []struct {
				keep     []bool
				ranks    []int
				dims     []int
				periodic []bool
			}{
				{[]bool{false, true}, []int{me &^ 1, me | 1}, []int{2}, []bool{false}},
				{[]bool{true, false}, []int{me & 1, me&1 + 2}, []int{2}, []bool{true}},
				{[]bool{true, true}, []int{0, 1, 2, 3}, []int{2, 2}, []bool{true, false}},
				{[]bool{false, false}, []int{me}, nil, nil},
			} {
				sub := get(cart.CartSub(tc.keep...))
				hasRanks(t, w, sub, tc.ranks)
				isGrid(t, sub, tc.dims, tc.periodic)
			}
		})
	})
}

// Duplicates and other handles have the topology, other communicators made of one have
// none.
func TestDuplicatesKeepTheTopology(t *testing.T) {
	act(t, "mem", 2, func(w *mpi.World, c *mpi.Comm) {
		cart := get(c.CartCreate(mpi.CartOptions{Dims: []int{2}, Periodic: []bool{true}}))
		ok(cart.SetName("the ring"))
		r, d, err := cart.Idup()
		ok(err)
		get(mpi.Wait(&r))
		for _, c := range []*mpi.Comm{get(cart.Dup()), get(cart.DupWithInfo(nil)), d, cart.WithContext(t.Context())} {
			isGrid(t, c, []int{2}, []bool{true})
		}
		for _, c := range []*mpi.Comm{c, get(cart.Split(0, 0)), get(cart.Create(cart.Group())), get(cart.Shrink())} {
			if is := get(c.Topology()); is != mpi.Undefined || c.Neighbors() != nil {
				t.Errorf("a communicator has %v and the neighbors %v", is, c.Neighbors())
			}
			_, err := c.Cart()
			wantWords(t, "Cart", err, mpi.ErrTopology, "no topology", "CartCreate")
		}
		_, err = cart.DistGraphNeighbors()
		wantWords(t, "DistGraphNeighbors", err, mpi.ErrTopology, `"the ring" has a Cartesian topology`, "a distributed graph")
	})
}

// The caller owns what calls return.
func TestTopologiesAreNotChangedByWhatIsMadeOfThem(t *testing.T) {
	act(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) {
		dims, index, edges := []int{1}, []int{2}, []int{0, 0}
		cart := get(c.CartCreate(mpi.CartOptions{Dims: dims, Periodic: []bool{true}}))
		graph := get(c.GraphCreate(mpi.GraphOptions{Index: index, Edges: edges}))
		dist := get(c.DistGraphAdjacent(mpi.DistGraph{Sources: edges, Dests: edges, SourceWeights: edges, DestWeights: edges}))
		spoil := func(lists ...[]int) {
			for _, l := range lists {
				for i := range l {
					l[i] = 99
				}
			}
		}
		spoil(dims, index, edges)
		for range 2 {
			o, of := get(cart.Cart()), get(dist.DistGraphNeighbors())
			index, edges, err := graph.Graph()
			ok(err)
			got := [][]int{o.Dims, o.Coords, get(cart.CartCoords(0)), index, edges, get(graph.GraphNeighbors(0)), cart.Neighbors(), graph.Neighbors(), dist.Neighbors(), of.Sources, of.Dests, of.SourceWeights, of.DestWeights}
			if s := fmt.Sprint(got); s != "[[1] [0] [0] [2] [0 0] [0 0] [0 0] [0 0] [0 0] [0 0] [0 0] [0 0] [0 0]]" {
				t.Errorf("the topologies have %s", s)
			}
			spoil(got...)
			o.Periodic[0] = false
		}
	})
}
