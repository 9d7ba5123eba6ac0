package rma

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/datatype"
	"github.com/weft-mpi/weft/internal/op"
	"github.com/weft-mpi/weft/internal/testkit/faulty"
	"github.com/weft-mpi/weft/progress"
)

// blocks is a committed type of blocks of bytes.
func blocks(n int, disps ...int) *datatype.Type {
	return must(datatype.HIndexedBlock(n, disps, datatype.Of(datatype.Byte)))
}

// numbered are n numbers with a stride in 8 bytes each.
func numbered(n, stride, at int) *datatype.Type {
	return must(datatype.HIndexed([]int{1}, []int{8 * at}, must(datatype.Vector(n, 1, stride, datatype.Of(datatype.Int64)))))
}

// flat are elements that are one range.
func flat(b []byte) Elements {
	return Elements{Type: datatype.Of(datatype.Byte), Count: len(b), Mem: b}
}

// flatInts are numbers that are one range.
func flatInts(b []byte) Elements {
	return Elements{Type: datatype.Of(datatype.Int64), Count: len(b) / 8, Mem: b}
}

// ints are numbers in memory.
func ints(v ...int64) (b []byte) {
	for _, x := range v {
		b = binary.NativeEndian.AppendUint64(b, uint64(x))
	}
	return b
}

// locked has each rank make calls within an epoch of LockAll.
func locked(t *testing.T, all []*Win, f func(ctx context.Context, w *Win) error) {
	t.Helper()
	each(t, all, func(ctx context.Context, w *Win) error {
		return errors.Join(w.LockAll(ctx, NoCheck), f(ctx, w), w.UnlockAll(ctx))
	})
}

// The model's programs leave what MPI allows where the fabric is busy, late, and refuses
// some Gets, too.
func TestProgramsOverAFaultyTransport(t *testing.T) {
	seeds := uint64(30)
	if testing.Short() {
		seeds = 6
	}
	for seed := *modelFrom; seed < *modelFrom+seeds; seed++ {
		p := drawModel(seed)
		for i := range p.wins {
			p.wins[i].shared = false // a fabric that is busy reaches nothing
		}
		faults := faulty.Some
		faults.NoGet = []int{0, 64}[seed%2]
		g, err := newMesh(fmt.Sprint("faulty ", seed), p.n, p.eager, func(w way) fabric.Provider {
			return faulty.Provider(mem.NewNetwork(p.n, mem.WithDepth(3), mem.WithSeed(seed)).Provider(), seed+uint64(w), faults)
		}, func(a, b int) way { return p.ways[a][b] }, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(p.play(g), g.close()); err != nil {
			t.Fatalf("seed %d, %v: %v", seed, p, err)
		}
	}
}

// Elements of one operation are some aligned and some not: the processor changes the
// first, the owner of the target's loop the others, and the sums are exact.
func TestElementsOfAllAlignmentsAddUp(t *testing.T) {
	const n, elems, rounds = 4, 6, 300
	m, err := newMesh(t.Name(), n, 64, memNetworks(n), func(a, b int) way { return way((a + b) % int(ways)) }, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.close()
	var mem [][]byte
	for range n {
		mem = append(mem, alignedBytes(16*elems))
	}
	all, err := m.window(16, mem, 1)
	if err != nil {
		t.Fatal(err)
	}
	place := func(i int) int { return 16*i + 4*(i%3) } // 0, 4 or 8 behind
	var sums [n][n][elems]int64
	locked(t, all, func(ctx context.Context, w *Win) error {
		r := rand.New(rand.NewPCG(uint64(w.rank), 1))
		last := map[[2]int]int64{}
		for range rounds {
			target, list := r.IntN(n), r.Perm(elems)[:1+r.IntN(elems)]
			var disps []int
			var src []byte
			for _, i := range list {
				disps = append(disps, place(i))
				src = append(src, ints(int64(i+1))...)
				sums[w.rank][target][i] += int64(i + 1)
			}
			x := Typed{Code: op.CodeSum, Kind: op.Int64, Target: target, Type: must(datatype.HIndexedBlock(1, disps, datatype.Of(datatype.Int64))), Count: 1, Src: flatInts(src)}
			old := make([]byte, len(src))
			if r.IntN(2) == 0 {
				x.Old = flatInts(old)
			}
			if err := w.DoTyped(&x); err != nil {
				return err
			}
			if x.Old.Type == nil {
				continue
			}
			if err := w.flush(ctx, target, true); err != nil {
				return err
			}
			for k, i := range list {
				v := int64(binary.NativeEndian.Uint64(old[8*k:]))
				if at := [2]int{target, i}; v < last[at] {
					return fmt.Errorf("element %d of rank %d was %d, and %d before", i, target, v, last[at])
				} else {
					last[at] = v + int64(i+1)
				}
			}
		}
		return nil
	})
	for target := range n {
		for i := range elems {
			want := int64(0)
			for o := range n {
				want += sums[o][target][i]
			}
			if got := int64(binary.NativeEndian.Uint64(mem[target][place(i):])); got != want {
				t.Errorf("element %d of rank %d is %d, want %d", i, target, got, want)
			}
		}
	}
}

// An element that is not aligned is changed by the owner of its loop and nobody else,
// whoever reaches it, and those before it are changed at once.
func TestElementsThatAreNotAlignedAreTheOwners(t *testing.T) {
	g := newRig(t, 2, reached)
	all := g.windows(t, 16, 64)
	mem := all[0].targets[1].mem
	held, free := make(chan struct{}), make(chan struct{})
	go g.loops[1].Exclusive(func() { close(held); <-free })
	<-held
	locked(t, all[:1], func(ctx context.Context, w *Win) error {
		x := Typed{Code: op.CodeSum, Kind: op.Int64, Target: 1, Type: must(datatype.HIndexedBlock(1, []int{0, 12, 24}, datatype.Of(datatype.Int64))), Count: 1, Src: flatInts(ints(1, 2, 3))}
		err := w.DoTyped(&x)
		if got, want := mem[:32], append(ints(1), make([]byte, 24)...); !bytes.Equal(got, want) {
			t.Errorf("before the owner comes there is % x, want % x", got, want)
		}
		close(free)
		err = errors.Join(err, w.flush(ctx, 1, false))
		if got, want := mem[:32], slices.Concat(ints(1), make([]byte, 4), ints(2), make([]byte, 4), ints(3)); !bytes.Equal(got, want) {
			t.Errorf("behind the flush there is % x, want % x", got, want)
		}
		return err
	})
}

// A Put or Get goes by the fabric if its pieces are few or long, and else in packets.
func TestFewOrLongPiecesGoByTheFabric(t *testing.T) {
	const long = 2048 // Caps.Chunk of mem
	g := newRig(t, 2, byFabric)
	all := g.windows(t, 16, 1<<20)
	every := func(n, bytes, stride int) *datatype.Type {
		return must(datatype.HVector(n, 1, stride, must(datatype.Contiguous(bytes, datatype.Of(datatype.Byte)))))
	}
	for i, c := range []struct {
		name     string
		there    *datatype.Type
		here     *datatype.Type // nil: one range
		byFabric bool
	}{
		{"four pieces", every(4, 8, 16), nil, true},
		{"five", every(5, 8, 16), nil, false},
		{"five here, one there", every(5, 8, 8), every(5, 8, 16), false},
		{"five on both sides", every(5, 8, 16), every(5, 8, 24), false},
		{"five long ones", every(5, long, 2*long), nil, true},
		{"five long ones here, one there", every(5, long, long), every(5, long, 2*long), true},
		{"long ones there and short ones here", every(5, long, 2*long), every(5*long/8, 8, 16), false},
		{"a hundred long ones", every(100, long, long+8), nil, true},
		{"a hundred that are nearly long", every(100, long-1, long+8), nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			size := c.there.Size()
			src := pattern(3*size, i, 1)
			here := Elements{Type: c.here, Count: 1, Mem: src}
			if c.here == nil {
				here = flat(src[:size])
			}
			got := here
			got.Mem = make([]byte, len(here.Mem))
			count := func(m manner) (by [paths]uint64) {
				for p := range paths {
					by[p] = all[0].e.counts.done[m][p].operations
				}
				return by
			}
			for _, named := range []bool{false, true} {
				for _, x := range []Typed{{Src: here}, {Old: got}} {
					x.Target, x.Type, x.Count = 1, c.there, 1
					m := mannerOf(codeBytes, x.Old.Type != nil, false)
					before := count(m)
					locked(t, all[:1], func(ctx context.Context, w *Win) error {
						if !named {
							return w.DoTyped(&x)
						}
						h, err := w.BeginTyped(&x)
						if err == nil {
							_, err = progress.WaitResult(&h)
						}
						return err
					})
					after := count(m)
					if by := after[pathFabric] - before[pathFabric]; (by == 1) != c.byFabric || after[pathPackets]-before[pathPackets] != 1-by {
						t.Errorf("operations were by way %v, and are %v", before, after)
					}
				}
			}
			for off, n := range cursorOver(here).Runs(1 << 20) {
				if !bytes.Equal(got.Mem[off:off+n], here.Mem[off:off+n]) {
					t.Fatalf("%d bytes at %d came back wrong", n, off)
				}
			}
		})
	}
	if way := all[0].Way(1); !strings.Contains(way, fmt.Sprintf("more than 4 pieces of less than %d bytes", long)) {
		t.Error(way)
	}
}

func cursorOver(e Elements) *datatype.Cursor {
	c := new(datatype.Cursor)
	if err := c.Reset(e.Type, e.Count, e.Mem, e.Origin); err != nil {
		panic(err)
	}
	return c
}

// Operations by loads and stores with types leave nothing to the garbage collector.
func TestTypedOperationsByLoadsAndStoresAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	all := newRig(t, 2, reached).windows(t, 16, 256)
	there, here := numbered(4, 2, 1), Elements{Type: numbered(4, 3, 0), Count: 1, Mem: make([]byte, 8*12)}
	old := here
	old.Mem = make([]byte, 8*12)
	locked(t, all[:1], func(ctx context.Context, w *Win) error {
		for name, x := range map[string]Typed{
			"put":            {Src: here},
			"get":            {Old: old},
			"accumulate":     {Src: here, Kind: op.Int64, Code: op.CodeSum},
			"get-accumulate": {Src: here, Old: old, Kind: op.Int64, Code: op.CodeSum},
		} {
			x.Target, x.Type, x.Count = 1, there, 1
			if n := testing.AllocsPerRun(100, func() {
				y := x
				if err := w.DoTyped(&y); err != nil {
					t.Error(err)
				}
			}); n != 0 {
				t.Errorf("%s: %v allocations", name, n)
			}
		}
		return nil
	})
}

// Elements that do not all lie in memory that is attached are refused at the target,
// which the flush or the request tells, with all that they touch; nothing is written.
func TestElementsBesideWhatIsAttachedAreRefused(t *testing.T) {
	g := newRig(t, 2, packets)
	all := g.dynamic(t, 16)
	whole := make([]byte, 96)
	var addrs [2]uint64
	for i, w := range all {
		mem := whole[32:64]
		if i == 0 {
			mem = make([]byte, 96)[32:64]
		}
		var err error
		if addrs[i], err = w.Attach(mem); err != nil {
			t.Fatal(err)
		}
	}
	back := numbered(2, -2, 0) // 16 bytes back to 8 behind
	for _, target := range []int{0, 1} {
		locked(t, all[:1], func(ctx context.Context, w *Win) error {
			for _, at := range []int{8, 32} {
				x := Typed{Code: op.CodeSum, Kind: op.Int64, Target: target, At: int(addrs[target]) + at, Type: back, Count: 1, Src: flatInts(ints(1, 2))}
				var e *RangeError
				if err := w.DoTyped(&x); err != nil {
					return err
				}
				if err := w.flush(ctx, target, false); !errors.As(err, &e) || e.Addr != addrs[target]+uint64(at)-16 || e.Bytes != 24 || e.Rank != target {
					return fmt.Errorf("at %d, by flush: %v", at, err)
				}
				x.Src, x.Old, x.Code = Elements{}, flatInts(make([]byte, 16)), op.CodeNoOp
				h, err := w.BeginTyped(&x)
				if err != nil {
					return err
				}
				if _, err := progress.WaitResult(&h); !errors.As(err, &e) || e.Addr != addrs[target]+uint64(at)-16 || e.Bytes != 24 {
					return fmt.Errorf("at %d, by request: %v", at, err)
				}
			}
			x := Typed{Target: target, At: int(addrs[target]) + 24, Type: back, Count: 1, Src: flatInts(ints(1, 2))}
			return errors.Join(w.DoTyped(&x), w.flush(ctx, target, false))
		})
	}
	if want := append(make([]byte, 32), append(ints(0, 2, 0, 1), make([]byte, 32)...)...); !bytes.Equal(whole, want) {
		t.Errorf("memory is\n% x, want\n% x", whole, want)
	}
}
