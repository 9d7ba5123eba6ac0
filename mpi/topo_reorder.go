package mpi

import (
	"github.com/weft-mpi/weft/internal/hardware"
	"github.com/weft-mpi/weft/internal/topo"
)

// order has the ranks of d tell one another where they are, and the edges of a distributed
// graph, and returns the position of each rank. All compute the same.
func (k *arrangement) order(d *Comm) ([]int, error) {
	mine := d.ownPlace()
	at := len(mine)
	if k.tells != nil {
		mine = append(mine, k.tells()...)
	}
	told, err := gathered(d, mine)
	if err != nil {
		return nil, err
	}
	places := make([]topo.Place, d.size)
	for r, words := range told {
		places[r], told[r] = words[:at], words[at:]
	}
	return topo.Reorder(places, k.edges(told), k.grid), nil
}

// gathered returns what each rank of d gives, at all ranks.
func gathered(d *Comm, mine []int) ([][]int, error) {
	counts, n := make([]int, d.size), 0
	if err := Allgather(d, []int{len(mine)}, counts); err != nil {
		return nil, err
	}
	for _, count := range counts {
		n += count
	}
	all, from := make([]int, n), make([][]int, d.size)
	if err := Allgatherv(d, mine, all, counts, nil); err != nil {
		return nil, err
	}
	for r, count := range counts {
		from[r], all = all[:count:count], all[count:]
	}
	return from, nil
}

// ownPlace is where this rank is: its host, and the parts of the host down to the core.
func (c *Comm) ownPlace() topo.Place {
	p := c.w.placed()
	place := topo.Place{c.hosts()[c.rank][0]}
	for i, t := range hardware.Types {
		if t != "L1Cache" && t != "PU" { // those of a core
			place = append(place, int(p[i]))
		}
	}
	// A level that the machine does not have is one part of what is around it.
	within := false
	for i := len(place) - 1; i > 0; i-- {
		if place[i] != hardware.None {
			within = true
		} else if within {
			place[i] = 0
		}
	}
	return place
}

// hosts is which host each rank is on, by the first of the communicator's ranks there.
func (c *Comm) hosts() []topo.Place {
	first, places, all := map[string]int{}, make([]topo.Place, c.size), c.members()
	for r := range places {
		name := c.w.hosts[all.World(r)]
		if _, known := first[name]; !known {
			first[name] = r
		}
		places[r] = topo.Place{first[name]}
	}
	return places
}

// mapped is the position that a rank has if only hosts count, or Undefined.
func (c *Comm) mapped(edges []topo.Edge, grid *topo.Grid, n int) int {
	if r := topo.Reorder(c.hosts(), edges, grid)[c.rank]; r < n {
		return r
	}
	return Undefined
}
