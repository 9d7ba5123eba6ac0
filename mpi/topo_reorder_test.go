package mpi_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// onTwoHosts runs a test with ranks that are placed round robin on two hosts.
func onTwoHosts(t *testing.T, f func(t *testing.T, w *mpi.World, c *mpi.Comm)) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, n := range []int{4, 8} {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				act(t, fabric, n, func(w *mpi.World, c *mpi.Comm) {
					mpi.Hosts(w, []string{"a", "b", "a", "b", "a", "b", "a", "b"}[:n]...)
					mpi.Place(w, machine(), c.Rank()/2)
					f(t, w, c)
				})
			})
		}
	})
}

// between is how many neighbors of a rank are on the other host, summed over all ranks.
func between(w *mpi.World, c *mpi.Comm) int {
	worlds, n := make([]int, c.Size()), []int{0}
	ok(mpi.Allgather(c, []int{w.Comm().Rank()}, worlds))
	for _, r := range c.Neighbors() {
		if r != mpi.ProcNull && (worlds[r]+w.Comm().Rank())%2 == 1 {
			n[0]++
		}
	}
	ok(mpi.Allreduce(c, mpi.Sum, mpi.InPlace[int](), n))
	return n[0]
}

// Ranks that are placed round robin are numbered anew, so that less goes between hosts.
// CartMap does the like without the other ranks.
func TestReorderPutsNeighborsOnOneHost(t *testing.T) {
	onTwoHosts(t, func(t *testing.T, w *mpi.World, c *mpi.Comm) {
		n := c.Size()
		for _, tc := range []struct {
			n          int
			dims, want []int // want: how many neighbors are on the other host, without and with Reorder
		}{
			{4, []int{4}, []int{6, 2}}, {4, []int{2, 2}, []int{4, 4}}, {4, []int{3}, []int{4, 2}},
			{8, []int{2, 4}, []int{12, 4}}, {8, []int{4, 2}, []int{8, 4}}, {8, []int{8}, []int{14, 2}}, {8, []int{3, 2}, []int{6, 4}},
		} {
			for i, reorder := range []bool{false, true} {
				if tc.n != n {
					continue
				}
				cart := get(c.CartCreate(mpi.CartOptions{Dims: tc.dims, Reorder: reorder}))
				if cart == nil {
					continue
				}
				if n := between(w, cart); n > tc.want[i] {
					t.Errorf("%v, reorder %t: %d neighbors are on the other host, want %d", tc.dims, reorder, n, tc.want[i])
				}
				isGrid(t, cart, tc.dims, make([]bool, len(tc.dims)))
			}
		}
		mapped := make([]int, n)
		ok(mpi.Allgather(c, []int{get(c.CartMap(mpi.CartOptions{Dims: []int{0}}))}, mapped))
		at := func(position int) int { return slices.Index(mapped, position) % 2 }
		for p := range n {
			if at(p) != at(p/(n/2)*(n/2)) {
				t.Errorf("a row is laid on the hosts as %v", mapped)
			}
		}
		ok(mpi.Allgather(c, []int{get(c.CartMap(mpi.CartOptions{Dims: []int{2}}))}, mapped))
		slices.Sort(mapped)
		if want := append(slices.Repeat([]int{mpi.Undefined}, n-2), 0, 1); !slices.Equal(mapped, want) {
			t.Errorf("CartMap gives %d ranks in a grid of two the numbers %v", n, mapped)
		}
	})
}

// Of graphs the edges stay with the rank, whichever process it is.
func TestReorderedGraphsKeepTheirEdges(t *testing.T) {
	onTwoHosts(t, func(t *testing.T, w *mpi.World, c *mpi.Comm) {
		// Two rings, each of half of the ranks.
		var edges []given
		n, o := c.Size(), mpi.GraphOptions{Reorder: true}
		for r := range n {
			for _, next := range []int{1, n/2 - 1} {
				to := r/(n/2)*(n/2) + (r+next)%(n/2)
				edges, o.Edges = append(edges, given{n - 1 - r, r, to, 1 + r}), append(o.Edges, to)
			}
			o.Index = append(o.Index, len(o.Edges))
		}
		slices.Reverse(edges)
		mine, part := neighborsIn(edges, c.Rank(), true), by(edges, c.Rank(), true)
		mine.Reorder, part.Reorder = true, true
		a, b, g := get(c.DistGraphAdjacent(mine)), get(c.DistGraphCreate(part)), get(c.GraphCreate(o))
		isDistGraph(t, a, edges, true)
		isDistGraph(t, b, edges, true)
		for what, c := range ordered(map[string]*mpi.Comm{"adjacent": a, "general": b, "graph": g}) {
			if n := between(w, c); n != 0 {
				t.Errorf("%s: %d neighbors are on the other host", what, n)
			}
		}
		all := make([]int, n)
		ok(mpi.Allgather(c, []int{get(c.GraphMap(o))}, all))
		if at := slices.Index(all, 0) % 2; slices.Index(all, 1)%2 != at || slices.Index(all, n-1)%2 == at {
			t.Errorf("GraphMap gives the ranks %v", all)
		}
	})
}

// A rank that dies instead of making the call fails it at the others, with Reorder and
// without.
func TestADeathFailsTheCreationOfATopology(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, reorder := range []bool{false, true} {
			bad := errors.New("bad luck")
			err := try(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) error {
				if c.Rank() == 1 {
					return bad
				}
				_, err := c.CartCreate(mpi.CartOptions{Dims: []int{0}, Reorder: reorder})
				want(t, "CartCreate", err, mpi.ErrProcFailed)
				return err
			})
			if !errors.Is(err, bad) {
				t.Errorf("the job ends with %v", err)
			}
		}
	})
}
