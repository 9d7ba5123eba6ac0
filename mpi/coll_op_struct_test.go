package mpi_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// heap is a body with padding and a field that is not sent.
type heap struct {
	seen  int8
	place [2]float64
	note  int64 `mpi:"-"`
	mass  float32
}

// merge is not commutative: seen is the upper one's.
func merge(a, b heap) heap {
	if a.note != 0 || b.note != 0 {
		return heap{note: 1}
	}
	return heap{b.seen, [2]float64{a.place[0] + b.place[0], max(a.place[1], b.place[1])}, 7, a.mass + b.mass}
}

// An operator of structs gets whole ones without what is not sent, in the order of ranks,
// and leaves that alone in the result.
func TestOperatorsCombineStructs(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, p := range []int{1, 2, 3, 5} {
			t.Run(fmt.Sprint(p), func(t *testing.T) {
				act(t, fabric, p, func(w *mpi.World, c *mpi.Comm) {
					op := (*mpi.Op)(mpi.NewStructOp(merge))
					for _, n := range []int{0, 1, 50, 4000} {
						made := func(r, i int) heap {
							return heap{int8(r*7 + i), [2]float64{float64(r + i), float64(r % 3)}, int64(r + 1), float32(i) / 2}
						}
						mine, want := make([]heap, n), make([]heap, n)
						for i := range mine {
							mine[i], want[i] = made(c.Rank(), i), made(0, i)
							for r := 1; r < p; r++ {
								a, b := want[i], made(r, i)
								a.note, b.note = 0, 0
								want[i] = merge(a, b)
							}
							want[i].note = 99
						}
						got := make([]heap, n)
						for i := range got {
							got[i].note = 99
						}
						check := func(what string) {
							if !slices.Equal(got, want) {
								stop(fmt.Errorf("%s of %d: %v, want %v", what, n, got, want))
							}
						}
						ok(c.Allreduce(op, mpi.OfStructs(mine), mpi.OfStructs(got)))
						check("Allreduce")
						for i := range got {
							got[i] = mine[i]
							got[i].note = 99
						}
						r := get(c.Iallreduce(op, mpi.BufInPlace, mpi.OfStructs(got)))
						get(mpi.Wait(&r))
						check("Iallreduce in place")
					}
				})
			})
		}
	})
}

// Structs without padding are combined where they are, also if another rank has just
// their numbers.
func TestOperatorsCombineStructsThatAreNumbers(t *testing.T) {
	type point struct{ X, Y, Z float64 }
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) {
			f := func(a, b point) point { return point{a.X*10 + b.X, a.Y*10 + b.Y, a.Z*10 + b.Z} }
			op := (*mpi.Op)(mpi.NewStructOp(f))
			flat := []float64{float64(c.Rank()), 1, 2, 5, float64(c.Rank()), 3}
			got := make([]point, 2)
			if c.Rank() == 1 {
				ok(c.Allreduce(op, mpi.Of(flat), mpi.OfStructs(got)))
			} else {
				odd := append([]byte{0}, make([]byte, 48)...) // an address that is not aligned
				get(mpi.Unpack(get(packedOf(mpi.Of(flat))), 0, mpi.As(mpi.TypeFloat64, odd, 6).At(1)))
				ok(c.Allreduce(op, mpi.As(mpi.TypeFloat64, odd, 6).At(1), mpi.OfStructs(got)))
			}
			var want []point
			for i := range 2 {
				of := func(r int) point { return []point{{float64(r), 1, 2}, {5, float64(r), 3}}[i] }
				want = append(want, f(f(of(0), of(1)), of(2)))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	})
}

func packedOf(b mpi.Buf) ([]byte, error) {
	size, err := mpi.PackSize(b.Count(), b.Type())
	if err != nil {
		return nil, err
	}
	out := make([]byte, size)
	_, err = mpi.Pack(b, out, 0)
	return out, err
}

// MinLoc and MaxLoc take MPI's pairs, Loc, and any struct of such fields.
func TestLocationsOfTheSmallestAndTheLargest(t *testing.T) {
	type found struct {
		Distance float64
		Rank     int32
	}
	onEach(t, func(t *testing.T, fabric string) {
		for p := 1; p <= 5; p++ {
			t.Run(fmt.Sprint(p), func(t *testing.T) {
				act(t, fabric, p, func(w *mpi.World, c *mpi.Comm) {
					value := func(r, i int) float64 { return float64((r*3 + i*5) % 4) }
					locs, mine := make([]mpi.Loc[float64], 6), make([]found, 6)
					for i := range locs {
						locs[i] = mpi.Loc[float64]{Value: value(c.Rank(), i), Index: int32(c.Rank())}
						mine[i] = found{locs[i].Value, locs[i].Index}
					}
					for _, x := range []struct {
						op     *mpi.Op
						better func(a, b float64) bool
					}{{mpi.MinLoc, func(a, b float64) bool { return a < b }}, {mpi.MaxLoc, func(a, b float64) bool { return a > b }}} {
						send := []mpi.Buf{mpi.OfStructs(locs), mpi.OfStructs(mine), mpi.As(mpi.TypeDoubleInt, locs, 6)}[c.Rank()%3]
						got := make([]found, 6)
						ok(c.Allreduce(x.op, send, mpi.OfStructs(got)))
						for i, g := range got {
							want := found{value(0, i), 0}
							for r := 1; r < p; r++ {
								if v := value(r, i); x.better(v, want.Distance) {
									want = found{v, int32(r)}
								}
							}
							if g != want {
								t.Errorf("%v of %d ranks, element %d: %v, want %v", x.op, p, i, g, want)
							}
						}
					}
					for _, kind := range []func() error{
						func() error { return locate[int16](c, mpi.TypeShortInt) }, func() error { return locate[int32](c, mpi.Type2Int) },
						func() error { return locate[int64](c, mpi.TypeLongInt) }, func() error { return locate[float32](c, mpi.TypeFloatInt) },
					} {
						ok(kind())
					}
				})
			})
		}
	})
}

// locate finds the last rank by Loc or by MPI's type of the same pairs.
func locate[T ~int16 | ~int32 | ~int64 | ~int | ~float32 | ~float64](c *mpi.Comm, pair *mpi.Datatype) error {
	mine, got := []mpi.Loc[T]{{T(c.Rank()), int32(-c.Rank())}}, make([]mpi.Loc[T], 1)
	send := mpi.OfStructs(mine)
	if c.Rank()%2 == 1 {
		send = mpi.As(pair, mine, 1)
	}
	if err := c.Allreduce(mpi.MaxLoc, send, mpi.As(pair, got, 1)); err != nil {
		return err
	}
	if last := c.Size() - 1; got[0] != (mpi.Loc[T]{T(last), int32(-last)}) {
		return fmt.Errorf("%v gives %v", pair, got)
	}
	return nil
}

func TestReduceLocalOnBufs(t *testing.T) {
	matrix := make([]float64, 5000*3)
	for i := range matrix {
		matrix[i] = float64(i)
	}
	sum := make([]float64, 5000)
	for i := range sum {
		sum[i] = 1
	}
	mustDo(t, mpi.Sum.ReduceLocal(mpi.Strided(matrix[1:], 5000, 1, 3), mpi.Of(sum)))
	for i, v := range sum {
		if v != float64(3*i+1)+1 {
			t.Fatalf("element %d is %v", i, v)
		}
	}
	mustDo(t, mpi.Sum.ReduceLocal(mpi.Of(sum), mpi.Strided(matrix, 5000, 1, 3)))
	for i, v := range matrix {
		want := float64(i)
		if i%3 == 0 {
			want += float64(i) + 2
		}
		if v != want {
			t.Fatalf("element %d of the matrix is %v, not %v", i, v, want)
		}
	}
	a, b := []heap{{seen: 1, mass: 2}}, []heap{{seen: 2, mass: 3, note: 4}}
	mustDo(t, (*mpi.Op)(mpi.NewStructOp(merge)).ReduceLocal(mpi.OfStructs(a), mpi.OfStructs(b)))
	if want := (heap{seen: 2, mass: 5, note: 4}); b[0] != want {
		t.Errorf("%v, want %v", b[0], want)
	}
	bad := func(what string, class mpi.Class, err error) { t.Helper(); want(t, what, err, class) }
	bad("other lengths", mpi.ErrCount, mpi.Sum.ReduceLocal(mpi.Of(sum), mpi.Of(sum[:1])))
	bad("one buffer", mpi.ErrBuffer, mpi.Sum.ReduceLocal(mpi.Of(sum), mpi.Of(sum)))
	bad("in place", mpi.ErrBuffer, mpi.Sum.ReduceLocal(mpi.BufInPlace, mpi.Of(sum)))
	bad("rows that overlap", mpi.ErrBuffer, mpi.Sum.ReduceLocal(mpi.Strided(matrix, 10, 2, 3), mpi.Strided(matrix[1:], 10, 2, 3)))
	mustDo(t, mpi.Sum.ReduceLocal(mpi.Strided(matrix, 10, 1, 3), mpi.Strided(matrix[1:], 10, 1, 3)))
}

// An operator and elements that do not fit say why.
func TestOperatorsThatDoNotFitBufs(t *testing.T) {
	type two struct {
		A float64
		B int32
		C bool
	}
	n := []two{{}}
	for _, c := range []struct {
		op  *mpi.Op
		b   mpi.Buf
		say string
	}{
		{nil, mpi.OfStructs(n), "the operator is nil"},
		{mpi.Sum, mpi.OfStructs(n), "send: the operator Sum combines elements of one kind, and these are of several: NewStructOp"},
		{mpi.MinLoc, mpi.OfStructs(n), "send: the operator MinLoc combines elements of one kind"},
		{mpi.MinLoc, mpi.Of([]float64{1, 2}), "send: the operator MinLoc is not defined for float64: it takes pairs of a value and an index"},
		{mpi.Sum, mpi.As(mpi.TypeDoubleInt, n, 1), "send: the operator Sum is not defined for float64 with int32"},
		{mpi.Sum, mpi.As(mpi.TypeByte, n, 1), "send: the operator Sum is not defined for byte"},
		{mpi.BOr, mpi.As(mpi.TypePacked, n, 1), "send: the operator BOr is not defined for packed"},
		{(*mpi.Op)(mpi.NewOp(func(a, _ int32) int32 { return a })), mpi.Of([]float64{1}), "is not defined for float64: it takes int32"},
		{(*mpi.Op)(mpi.NewStructOp(merge)), mpi.OfStructs(n), "send: its elements are not structs of type mpi_test.heap, in Bufs, which the operator of NewStructOp takes"},
		{(*mpi.Op)(mpi.NewStructOp(merge)), mpi.Of([]float64{1}), "send: its elements are not"},
		{(*mpi.Op)(mpi.NewStructOp(func(a, _ *int) *int { return a })), mpi.OfStructs(n), "the operator of NewStructOp can't be used: "},
		{(*mpi.Op)(mpi.NewStructOp(func(a, _ struct{}) struct{} { return a })), mpi.OfStructs(n), "has no fields that are sent"},
		{(*mpi.Op)(mpi.NewStructOp[two](nil)), mpi.OfStructs(n), "give it a function that is not nil"},
		{mpi.Replace, mpi.Of([]float64{1}), "on windows only"},
	} {
		act(t, "mem", 1, func(w *mpi.World, comm *mpi.Comm) {
			err := comm.Allreduce(c.op, c.b, mpi.OfStructs(make([]two, 1)))
			if !errors.Is(err, mpi.ErrOp) || !strings.Contains(err.Error(), c.say) {
				t.Errorf("%v, want %q", err, c.say)
			}
		})
	}
	act(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) {
		want(t, "a slice", mpi.Allreduce(c, (*mpi.Op)(mpi.NewStructOp(merge)), []int32{1}, []int32{0}), mpi.ErrOp)
		err := c.Allreduce(mpi.Sum, mpi.Of([]float64{1}), mpi.Of([]float32{0}))
		if want(t, "two kinds", err, mpi.ErrType); !strings.Contains(err.Error(), "send has elements of float64, recv of float32") {
			t.Error(err)
		}
		if s := fmt.Sprint(mpi.MaxLoc, (*mpi.Op)(mpi.NewStructOp(merge))); s != "MaxLoc of NewStructOp" {
			t.Error(s)
		}
	})
}

func mustDo(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
