package mpi_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// words are a Buf of the operands of join: memory, and where each of them is in it.
type words struct {
	b   mpi.Buf
	mem []byte
	at  []int
}

// wordsOf places values: one element of a type, or as many as there are values (apart),
// at even or odd addresses.
func wordsOf(rng *rand.Rand, apart bool, v []word) *words {
	w := &words{at: make([]int, len(v))}
	origin, distance := rng.IntN(10), 8+rng.IntN(3)*rng.IntN(9)
	for i := range v {
		w.at[i] = origin + i*distance
	}
	w.mem = make([]byte, origin+len(v)*distance+8)
	for i := range w.mem {
		w.mem[i] = byte(rng.Uint32())
	}
	t := get(mpi.TypeResized(mpi.TypeUint64, 0, distance))
	count := len(v)
	if !apart {
		rng.Shuffle(len(v), func(i, j int) { w.at[i], w.at[j] = w.at[j], w.at[i] })
		disps := slices.Clone(w.at)
		for i := range disps {
			disps[i] -= origin
		}
		t, count = get(mpi.TypeHindexedBlock(1, disps, mpi.TypeUint64)), 1
	}
	ok(t.Commit())
	w.b = mpi.As(t, w.mem, count).At(origin)
	w.put(w.mem, v)
	return w
}

func (w *words) put(mem []byte, v []word) {
	for i, v := range v {
		binary.NativeEndian.PutUint64(mem[w.at[i]:], uint64(v))
	}
}

// check ends the rank unless the memory has v and is else as it was.
func (w *words) check(call string, x *trial[word], before []byte, v []word) {
	w.put(before, v)
	if !bytes.Equal(w.mem, before) {
		stop(fmt.Errorf("%s of %d words, %+v, root %d: rank %d of %d has\n%v, want\n%v", call, x.n, x.form, x.root, x.c.Rank(), x.c.Size(), w.mem, before))
	}
}

// combined makes a call of either form on Bufs of words: of input, which recv has in
// place, and room for n words. The first of them become want, which is nil where recv is
// not significant; the number of those that are undefined then is loose.
func (x *trial[T]) combined(name string, rng *rand.Rand, apart bool, input []word, n int, want []word, loose int,
	blocking func(send, recv mpi.Buf) error, nonblocking func(send, recv mpi.Buf) (mpi.Request, error)) {
	y := &trial[word]{c: x.c, form: x.form, root: x.root, n: x.n}
	send, recv, before := unusable, (*words)(nil), []byte(nil)
	room, made := unusable, [][]byte(nil)
	if input != nil {
		w := wordsOf(rng, apart, input)
		send, made = w.b, append(made, w.mem)
	}
	if want != nil {
		values := make([]word, n)
		if x.inPlace {
			copy(values, input)
			send = mpi.BufInPlace
		}
		recv = wordsOf(rng, apart, values)
		room, before, made = recv.b, slices.Clone(recv.mem), append(made, recv.mem)
	}
	switch {
	case x.persistent:
		again(get(nonblocking(send, room)), made)
	case x.nonblocking:
		x.end(nonblocking(send, room))
	default:
		ok(blocking(send, room))
	}
	if recv != nil {
		for _, at := range recv.at[len(want) : len(want)+loose] {
			copy(before[at:], recv.mem[at:at+8])
		}
		recv.check(name, y, before, want)
	}
}

// Calls with an operator combine words in the order of ranks, wherever they are in
// memory.
func TestReductionsOnBufsGiveWhatTheModelGives(t *testing.T) {
	withTypesToo(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		for _, p := range []int{1, 2, 3, 6} {
			t.Run(fmt.Sprint(p), func(t *testing.T) {
				act(t, fabric, p, func(w *mpi.World, c *mpi.Comm) {
					me, op := c.Rank(), (*mpi.Op)(mpi.NewOp(join))
					for k, n := range []int{0, 1, 7, 300, 9000} {
						if n > 1000 && p > 3 {
							continue
						}
						for f, form := range forms {
							rng := rand.New(rand.NewPCG(uint64(me), uint64(8*k+f)))
							x := &trial[word]{c: c, form: form, n: n, element: letter, op: op, fold: join}
							mine := x.vector(me, 0, n)
							x.combined("Allreduce", rng, k%2 == 0, mine, n, x.folded(p-1, 0, n), 0,
								func(s, r mpi.Buf) error { return c.Allreduce(op, s, r) },
								func(s, r mpi.Buf) (mpi.Request, error) {
									return either(x.form, c.Iallreduce, c.AllreduceInit)(op, s, r)
								})
							x.combined("Scan", rng, k%2 == 0, mine, n, x.folded(me, 0, n), 0,
								func(s, r mpi.Buf) error { return c.Scan(op, s, r) },
								func(s, r mpi.Buf) (mpi.Request, error) { return either(x.form, c.Iscan, c.ScanInit)(op, s, r) })
							want := mine // of rank 0 in place
							switch {
							case me > 0:
								want = x.folded(me-1, 0, n)
							case !x.inPlace:
								want = nil
							}
							x.combined("Exscan", rng, k%2 == 0, mine, n, want, 0,
								func(s, r mpi.Buf) error { return c.Exscan(op, s, r) },
								func(s, r mpi.Buf) (mpi.Request, error) { return either(x.form, c.Iexscan, c.ExscanInit)(op, s, r) })
							size, loose := n, 0
							if x.inPlace {
								size, loose = p*n, (p-1)*n
							}
							x.combined("ReduceScatterBlock", rng, true, x.vector(me, 0, p*n), size, x.folded(p-1, me*n, n), loose,
								func(s, r mpi.Buf) error { return c.ReduceScatterBlock(op, s, r) },
								func(s, r mpi.Buf) (mpi.Request, error) {
									return either(x.form, c.IreduceScatterBlock, c.ReduceScatterBlockInit)(op, s, r)
								})
							counts := lengths(p, n, 2)
							whole, own := countOf(counts), counts[me]
							if size, loose = own, 0; x.inPlace {
								size, loose = whole, whole-own
							}
							x.combined("ReduceScatter", rng, true, x.vector(me, 0, whole), size, x.folded(p-1, countOf(counts[:me]), own), loose,
								func(s, r mpi.Buf) error { return c.ReduceScatter(op, s, r, counts) },
								func(s, r mpi.Buf) (mpi.Request, error) {
									return either(x.form, c.IreduceScatter, c.ReduceScatterInit)(op, s, r, counts)
								})
							for x.root = range p {
								want := x.folded(p-1, 0, n)
								y := *x
								if me != x.root {
									want, y.inPlace = nil, false
								}
								y.combined("Reduce", rng, k%2 == 0, mine, n, want, 0,
									func(s, r mpi.Buf) error { return c.Reduce(op, s, r, x.root) },
									func(s, r mpi.Buf) (mpi.Request, error) {
										return either(x.form, c.Ireduce, c.ReduceInit)(op, s, r, x.root)
									})
							}
						}
					}
				}, opts...)
			})
		}
	})
}

func TestReductionsOnBufsBetweenGroups(t *testing.T) {
	onBoth(t, func(s half) {
		for f, form := range notInPlace {
			rng := rand.New(rand.NewPCG(uint64(s.local.Rank()), uint64(f)))
			x := &duel[word]{half: s, trial: trial[word]{c: s.x, form: form, n: 9, element: letter, fold: join, op: (*mpi.Op)(mpi.NewOp(join))}}
			c, op := s.x, x.op
			x.combined("Allreduce", rng, false, x.vector(x.me(), 0, x.n), x.n, x.sum(0, x.n), 0,
				func(s, r mpi.Buf) error { return c.Allreduce(op, s, r) },
				func(s, r mpi.Buf) (mpi.Request, error) {
					return either(x.form, c.Iallreduce, c.AllreduceInit)(op, s, r)
				})
			whole := x.size(0) * x.size(1) * x.n
			mine := whole / c.Size()
			x.combined("ReduceScatterBlock", rng, true, x.vector(x.me(), 0, whole), mine, x.sum(c.Rank()*mine, mine), 0,
				func(s, r mpi.Buf) error { return c.ReduceScatterBlock(op, s, r) },
				func(s, r mpi.Buf) (mpi.Request, error) {
					return either(x.form, c.IreduceScatterBlock, c.ReduceScatterBlockInit)(op, s, r)
				})
			counts := uneven(c.Size(), mine)
			x.combined("ReduceScatter", rng, true, x.vector(x.me(), 0, whole), counts[c.Rank()], x.sum(countOf(counts[:c.Rank()]), counts[c.Rank()]), 0,
				func(s, r mpi.Buf) error { return c.ReduceScatter(op, s, r, counts) },
				func(s, r mpi.Buf) (mpi.Request, error) {
					return either(x.form, c.IreduceScatter, c.ReduceScatterInit)(op, s, r, counts)
				})
			x.roots(func() {
				var input, want []word
				if x.root >= 0 {
					input = x.vector(x.me(), 0, x.n)
				}
				if x.root == mpi.Root {
					want = x.sum(0, x.n)
				}
				x.combined("Reduce", rng, false, input, x.n, want, 0,
					func(s, r mpi.Buf) error { return c.Reduce(op, s, r, x.root) },
					func(s, r mpi.Buf) (mpi.Request, error) {
						return either(x.form, c.Ireduce, c.ReduceInit)(op, s, r, x.root)
					})
			})
		}
	})
}

// MPI's operators combine what views show, and what a slice is at another rank.
func TestOperatorsOfMPICombineViews(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) {
			matrix := make([]float64, 12) // of 4 by 3: the column is this rank's
			for i := range 4 {
				matrix[3*i+c.Rank()] = float64(10*i + c.Rank())
			}
			column := mpi.Strided(matrix[c.Rank():], 4, 1, 3)
			sum := make([]float64, 4)
			if c.Rank() == 0 {
				ok(mpi.Allreduce(c, mpi.Sum, []float64{0, 10, 20, 30}, sum))
			} else {
				ok(c.Allreduce(mpi.Sum, column, mpi.Of(sum)))
			}
			if want := []float64{3, 33, 63, 93}; !slices.Equal(sum, want) {
				t.Errorf("the sum is %v, not %v", sum, want)
			}
			flags := mpi.As(mpi.TypeByte, []byte{1 << c.Rank(), 0xff}, 2)
			bits := []byte{0, 0}
			if ok(c.Allreduce(mpi.BXor, flags, mpi.As(mpi.TypeByte, bits, 2))); bits[0] != 7 || bits[1] != 0xff {
				t.Errorf("the bits are %v", bits)
			}
		})
	})
}
