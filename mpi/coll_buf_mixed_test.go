package mpi_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// mixed is numbers, as a slice and as a Buf whose elements have other memory between them.
type mixed struct {
	slice []float64
	b     mpi.Buf
	wide  []float64
}

func mixture(v ...float64) *mixed {
	m := &mixed{slice: v, wide: make([]float64, 2*len(v)+1)}
	for i, x := range v {
		m.wide[2*i] = x
	}
	t := get(mpi.TypeResized(mpi.TypeFloat64, 0, 16))
	ok(t.Commit())
	m.b = mpi.As(t, m.wide, len(v))
	return m
}

func (m *mixed) values(bufs bool) []float64 {
	if !bufs {
		return m.slice
	}
	var v []float64
	for i := 0; i+1 < len(m.wide); i += 2 {
		v = append(v, m.wide[i])
	}
	return v
}

// A call with slices at some ranks and with Bufs at others is one call, also with checks.
func TestSlicesAndBufsGoTogether(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for checks, opts := range ordered(map[string][]mpi.Option{"no": nil, "coll": {mpi.WithChecks()}, "types": typeChecks[0], "coll,types": typeChecks[1]}) {
			t.Run("checks "+checks, func(t *testing.T) {
				act(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) {
					me := float64(c.Rank())
					for odd := range 3 { // who passes Bufs, or slices
						bufs := (c.Rank() == odd) != (odd == 1)
						all := func() *mixed { return mixture(0, 0, 0) }
						try := func(what string, want []float64, m *mixed, slices_, bufs_ func() error) {
							if bufs {
								ok(bufs_())
							} else {
								ok(slices_())
							}
							if got := m.values(bufs); want != nil && !slices.Equal(got, want) {
								stop(fmt.Errorf("%s, rank %d: %v, want %v", what, c.Rank(), got, want))
							}
						}
						one, three, ones := mixture(me+1), mixture(me, 10+me, 20+me), []int{1, 1, 1}
						m := mixture(me+1, me+2)
						try("Bcast", []float64{2, 3}, m, func() error { return mpi.Bcast(c, m.slice, 1) }, func() error { return c.Bcast(m.b, 1) })
						m = all()
						try("Allgather", []float64{1, 2, 3}, m, func() error { return mpi.Allgather(c, one.slice, m.slice) }, func() error { return c.Allgather(one.b, m.b) })
						m = all()
						try("Allgatherv", []float64{3, 1, 2}, m, func() error { return mpi.Allgatherv(c, one.slice, m.slice, ones, []int{1, 2, 0}) },
							func() error { return c.Allgatherv(one.b, m.b, ones, []int{1, 2, 0}) })
						m = all()
						row := []float64{10 * me, 10*me + 1, 10*me + 2}
						try("Alltoall", row, m, func() error { return mpi.Alltoall(c, three.slice, m.slice) }, func() error { return c.Alltoall(three.b, m.b) })
						m = all()
						try("Alltoallv", row, m, func() error { return mpi.Alltoallv(c, three.slice, ones, nil, m.slice, ones, nil) },
							func() error { return c.Alltoallv(three.b, ones, nil, m.b, ones, nil) })
						rooted := func(root int, v ...float64) []float64 {
							if c.Rank() == root {
								return v
							}
							return nil
						}
						m = all()
						try("Gather", rooted(2, 1, 2, 3), m, func() error { return mpi.Gather(c, one.slice, m.slice, 2) }, func() error { return c.Gather(one.b, m.b, 2) })
						m = all()
						try("Gatherv", rooted(0, 3, 2, 1), m, func() error { return mpi.Gatherv(c, one.slice, m.slice, ones, []int{2, 1, 0}, 0) },
							func() error { return c.Gatherv(one.b, m.b, ones, []int{2, 1, 0}, 0) })
						m = mixture(0)
						try("Scatter", []float64{10*me + 1}, m, func() error { return mpi.Scatter(c, three.slice, m.slice, 1) }, func() error { return c.Scatter(three.b, m.b, 1) })
						m = mixture(0)
						try("Scatterv", []float64{20 - 10*me + 1}, m, func() error { return mpi.Scatterv(c, three.slice, m.slice, ones, []int{2, 1, 0}, 1) },
							func() error { return c.Scatterv(three.b, m.b, ones, []int{2, 1, 0}, 1) })
						m = all()
						try("Reduce", rooted(1, 3, 33, 63), m, func() error { return mpi.Reduce(c, mpi.Sum, three.slice, m.slice, 1) }, func() error { return c.Reduce(mpi.Sum, three.b, m.b, 1) })
						m = all()
						try("Allreduce", []float64{3, 33, 63}, m, func() error { return mpi.Allreduce(c, mpi.Sum, three.slice, m.slice) }, func() error { return c.Allreduce(mpi.Sum, three.b, m.b) })
						m = mixture(0)
						try("ReduceScatterBlock", []float64{30*me + 3}, m, func() error { return mpi.ReduceScatterBlock(c, mpi.Sum, three.slice, m.slice) },
							func() error { return c.ReduceScatterBlock(mpi.Sum, three.b, m.b) })
						m = mixture(0)
						try("Scan", []float64{(me + 1) * (me + 2) / 2}, m, func() error { return mpi.Scan(c, mpi.Sum, one.slice, m.slice) }, func() error { return c.Scan(mpi.Sum, one.b, m.b) })
						m = mixture(0)
						try("Exscan", []float64{me * (me + 1) / 2}, m, func() error { return mpi.Exscan(c, mpi.Sum, one.slice, m.slice) }, func() error { return c.Exscan(mpi.Sum, one.b, m.b) })
					}
				}, opts...)
			})
		}
	})
}

// Calls of short Bufs that are one range allocate no more than those of slices.
func TestShortCollectivesOnBufsAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	rounds := allocRounds()
	onEach(t, func(t *testing.T, fabric string) {
		run(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) error {
			c = w.Comm()
			in, out, all := make([]int64, 4), make([]int64, 4), make([]int64, 8)
			pair := make([]mpi.Loc[float32], 2)
			few, many, more := make([]int64, 8), make([]int64, 8192), make([]int64, 8192)
			apart := get(mpi.TypeResized(mpi.TypeInt64, 0, 16))
			ok(apart.Commit())
			columns := func(b []int64) mpi.Buf { return mpi.As(apart, b, len(b)/2) }
			for name, call := range ordered(map[string]func() error{
				"Allreduce":           func() error { return c.Allreduce(mpi.Sum, mpi.Of(in), mpi.Of(out)) },
				"Allreduce of pairs":  func() error { return c.Allreduce(mpi.MaxLoc, mpi.OfStructs(pair[:1]), mpi.OfStructs(pair[1:])) },
				"Reduce":              func() error { return c.Reduce(mpi.Sum, mpi.Of(in), mpi.Of(out), 0) },
				"Bcast":               func() error { return c.Bcast(mpi.Of(in), 1) },
				"Gather":              func() error { return c.Gather(mpi.Of(in), mpi.Of(all), 0) },
				"Scatter":             func() error { return c.Scatter(mpi.Of(all), mpi.Of(out), 0) },
				"Allgather":           func() error { return c.Allgather(mpi.Of(in), mpi.Of(all)) },
				"Alltoall":            func() error { return c.Alltoall(mpi.Of(in), mpi.Of(out)) },
				"Scan":                func() error { return c.Scan(mpi.Max, mpi.Of(in), mpi.Of(out)) },
				"Exscan":              func() error { return c.Exscan(mpi.Sum, mpi.Of(in), mpi.Of(out)) },
				"ReduceScatterBlock":  func() error { return c.ReduceScatterBlock(mpi.Sum, mpi.Of(all), mpi.Of(out)) },
				"Bcast with gaps":     func() error { return c.Bcast(columns(few), 1) },
				"Allgather with gaps": func() error { return c.Allgather(columns(few[:2]), columns(more[:4])) },
				"Alltoall with gaps":  func() error { return c.Alltoall(columns(few), columns(more[:8])) },
				"long ones with gaps": func() error { return c.Alltoall(columns(many), columns(more)) },
			}) {
				do := func() error { return errors.Join(call(), mpi.Allgather(c, in[:1], all[:2])) }
				if err := steady(t, c, name, rounds, do); err != nil {
					return err
				}
			}
			return nil
		})
	})
}
