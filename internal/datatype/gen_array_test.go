package datatype

import "pgregory.net/rapid"

// drawArray draws a subarray or a distributed array. The model visits all elements
// of the array in its order and asks of each whether it belongs to the part.
func drawArray(rt draws, distributed bool, old tree, extent int) tree {
	dims := rapid.IntRange(1, 3).Draw(rt.T, "dimensions")
	order := rapid.SampledFrom([]Order{OrderC, OrderFortran}).Draw(rt.T, "order")
	sizes := make([]int, dims)
	for i := range sizes {
		sizes[i] = rapid.IntRange(1, 5).Draw(rt.T, "size")
	}
	if distributed {
		return drawDarray(rt, sizes, order, old, extent)
	}
	subsizes, starts := make([]int, dims), make([]int, dims)
	for i, s := range sizes {
		subsizes[i] = rapid.IntRange(1, s).Draw(rt.T, "subsize")
		starts[i] = rapid.IntRange(0, s-subsizes[i]).Draw(rt.T, "start")
	}
	m := array(sizes, order, old.m, extent, func(at []int) bool {
		for i, a := range at {
			if a < starts[i] || a >= starts[i]+subsizes[i] {
				return false
			}
		}
		return true
	})
	t, err := Subarray(sizes, subsizes, starts, order, old.t)
	ints := append([]int{dims}, sizes...)
	ints = append(append(append(ints, subsizes...), starts...), int(order))
	return made(rt, t, err, m, "subarray", ints, old)
}

// array is the elements of an array that are in the part.
func array(sizes []int, order Order, m naive, extent int, in func(at []int) bool) (r naive) {
	total := 1
	for _, s := range sizes {
		total *= s
	}
	at := make([]int, len(sizes))
	for n := range total {
		rest := n
		for i := range sizes {
			dim := i
			if order == OrderC {
				dim = len(sizes) - 1 - i
			}
			at[dim], rest = rest%sizes[dim], rest/sizes[dim]
		}
		if in(at) {
			r = append(r, m.at(n*extent).withoutMarkers()...)
		}
	}
	return append(append(naive{{lbMarker, 0}}, r...), entry{ubMarker, total * extent})
}

func drawDarray(rt draws, gsizes []int, order Order, old tree, extent int) tree {
	dims, size := len(gsizes), 1
	dists, dargs, psizes := make([]Dist, dims), make([]int, dims), make([]int, dims)
	for i, g := range gsizes {
		dists[i], dargs[i] = rapid.SampledFrom([]Dist{DistributeBlock, DistributeCyclic, DistributeNone}).Draw(rt.T, "dist"), DistributeDfltDarg
		psizes[i] = 1
		if dists[i] != DistributeNone {
			psizes[i] = rapid.IntRange(1, 3).Draw(rt.T, "processes")
			if rapid.Bool().Draw(rt.T, "darg given") {
				least := 1
				if dists[i] == DistributeBlock {
					least = (g + psizes[i] - 1) / psizes[i]
				}
				dargs[i] = rapid.IntRange(least, 6).Draw(rt.T, "darg")
			}
		}
		size *= psizes[i]
	}
	rank := rapid.IntRange(0, size-1).Draw(rt.T, "rank")
	m := array(gsizes, order, old.m, extent, func(at []int) bool {
		owner := 0
		for i, a := range at {
			block := dargs[i]
			switch {
			case dists[i] == DistributeNone:
				block = gsizes[i]
			case block == DistributeDfltDarg && dists[i] == DistributeCyclic:
				block = 1
			case block == DistributeDfltDarg:
				block = (gsizes[i] + psizes[i] - 1) / psizes[i]
			}
			owner = owner*psizes[i] + a/block%psizes[i]
		}
		return owner == rank
	})
	t, err := Darray(size, rank, gsizes, dists, dargs, psizes, order, old.t)
	ints := append([]int{size, rank, dims}, gsizes...)
	for _, d := range dists {
		ints = append(ints, int(d))
	}
	ints = append(append(append(ints, dargs...), psizes...), int(order))
	return made(rt, t, err, m, "darray", ints, old)
}
