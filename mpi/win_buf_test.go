package mpi_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/weft-mpi/weft/mpi"
)

// aimed is an operation of random types: the elements at the target, those at the origin
// with as many bytes, and what the lists say of both.
type aimed struct {
	there drawnBuf // its memory is a part of the window
	disp  int
	here  drawnBuf
}

// aim draws one for a part of n bytes. Origins have the same type, raw bytes, or bytes in
// any order.
func aim(seed, n int) (a aimed) {
	a.there = rapid.Custom(drawBuf).Example(seed)
	r := rand.New(rand.NewPCG(uint64(seed), 7))
	shift := r.IntN(n - len(a.there.mem))
	a.disp = shift + a.there.origin
	for i := range a.there.where {
		a.there.where[i] += shift
	}
	size := len(a.there.where)
	switch r.IntN(3) {
	case 0:
		if a.here = rapid.Custom(drawBuf).Example(seed); !a.here.overlaps {
			break
		}
		fallthrough
	case 1:
		a.here = spreadOver(r.Perm(size), mpi.TypeByte, 1)
	default:
		a.here = spreadOver(r.Perm(size + 5)[:size], mpi.TypeByte, 1)
	}
	return a
}

// spreadOver is elements of size bytes at places of a list.
func spreadOver(list []int, t *mpi.Datatype, size int) (b drawnBuf) {
	b.t, b.count = get(mpi.TypeIndexedBlock(1, list, t)), 1
	ok(b.t.Commit())
	most := 0
	for _, at := range list {
		for i := range size {
			b.where = append(b.where, at*size+i)
		}
		most = max(most, at+1)
	}
	b.mem = make([]byte, most*size)
	return b
}

// marked makes the bytes of memory ones that n tells from others.
func marked(mem []byte, n int) []byte {
	for i := range mem {
		mem[i] = byte(i*11 + n*29 + 3)
	}
	return mem
}

// eachWindow calls f with windows of n bytes at each rank, of each kind.
func eachWindow(c *mpi.Comm, n int, f func(kind string, w *mpi.Win, part []byte, base []int)) {
	o := mpi.WinOptions{DispUnit: 1}
	bases := make([]int, c.Size())
	for _, kind := range []string{"create", "allocate", "separate", "dynamic"} {
		var w mpi.Window[byte]
		base := bases
		switch kind {
		case "create":
			w = get(mpi.WinCreate(c, make([]byte, n), o))
		case "separate":
			w = get(mpi.WinCreate(c, make([]byte, n), mpi.WinOptions{DispUnit: 1, Model: mpi.WinSeparate}))
		case "allocate":
			w = get(mpi.WinAllocate[byte](c, n, o))
		case "dynamic":
			d, part := get(mpi.WinCreateDynamic(c, mpi.WinOptions{})), make([]byte, n)
			at := []int{get(mpi.Attach(d, part))}
			base = make([]int, c.Size())
			ok(mpi.Allgather(c, at, base))
			f(kind, d, part, base)
			ok(d.Free())
			continue
		}
		f(kind, w.Win, w.Local(), base)
		ok(w.Free())
	}
}

// What is put, got and replaced with random types at both sides is where their lists say,
// and nothing else has changed.
func TestOperationsWithRandomTypesDoAsTheirTypemapsSay(t *testing.T) {
	const n, seeds = 4000, 40
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(_ *mpi.World, c *mpi.Comm) {
			me := c.Rank()
			eachWindow(c, n, func(kind string, w *mpi.Win, part []byte, base []int) {
				check := func(what string, got, want []byte, a *aimed) {
					if !bytes.Equal(got, want) {
						stop(fmt.Errorf("%s: %s with %d of %v there and %d of %v here: has\n%v, want\n%v", kind, what, a.there.count, a.there.t, a.here.count, a.here.t, got, want))
					}
				}
				for seed := range seeds {
					a := aim(seed, n)
					target := (me + seed) % 2 // each rank is the target of one
					origin := (me + seed) % 2
					request := seed%3 == 0
					// Stores of a part, and those of operations, are epochs apart.
					ok(w.Lock(mpi.LockExclusive, me))
					marked(part, me)
					ok(w.Unlock(me))
					ok(c.Barrier())
					ok(w.LockAll())
					end := func(r mpi.Request, err error) {
						ok(err)
						_, err = mpi.Wait(&r)
						ok(err)
					}
					// A Get, also of elements that overlap.
					marked(a.here.mem, 50+me)
					want := bytes.Clone(a.here.mem)
					for i, at := range a.here.where {
						want[at] = marked(make([]byte, n), target)[a.there.where[i]]
					}
					if request {
						end(w.Rget(a.here.buf(a.here.mem), target, base[target]+a.disp, a.there.count, a.there.t))
					} else {
						ok(w.Get(a.here.buf(a.here.mem), target, base[target]+a.disp, a.there.count, a.there.t))
						ok(w.Flush(target))
					}
					check("Get", a.here.mem, want, &a)
					ok(w.FlushAll())
					ok(w.UnlockAll())
					ok(c.Barrier())
					ok(w.LockAll())
					// A Put.
					marked(a.here.mem, 70+me)
					put := func() error {
						if request {
							r, err := w.Rput(a.here.buf(a.here.mem), target, base[target]+a.disp, a.there.count, a.there.t)
							if err == nil {
								_, err = mpi.Wait(&r)
							}
							return err
						}
						return w.Put(a.here.buf(a.here.mem), target, base[target]+a.disp, a.there.count, a.there.t)
					}
					after := marked(make([]byte, n), me)
					if a.there.overlaps {
						wantClass(put(), mpi.ErrType)
					} else {
						ok(put())
						from := marked(bytes.Clone(a.here.mem), 70+origin)
						for i, at := range a.there.where {
							after[at] = from[a.here.where[i]]
						}
					}
					ok(w.UnlockAll())
					ok(c.Barrier())
					ok(w.Lock(mpi.LockExclusive, me))
					check("Put", part, after, &a)
					ok(w.Unlock(me))
					ok(c.Barrier())
				}
			})
		})
	})
}

// Accumulates of scattered numbers add up, and each result is what was there.
func TestAccumulatesWithTypesAddUp(t *testing.T) {
	const elems, rounds = 400, 12
	onEach(t, func(t *testing.T, fabric string) {
		for _, ranks := range []int{1, 3} {
			t.Run(fmt.Sprint(ranks), func(t *testing.T) {
				act(t, fabric, ranks, func(_ *mpi.World, c *mpi.Comm) {
					eachWindow(c, 8*elems, func(kind string, w *mpi.Win, part []byte, base []int) {
						r := rand.New(rand.NewPCG(uint64(c.Rank()), 3))
						ok(w.LockAll())
						sums := make([]int64, ranks*elems)
						last := make([]uint64, ranks*elems) // of what this rank has seen
						for round := range rounds {
							target := r.IntN(ranks)
							n := 1 + r.IntN(elems)
							list := r.Perm(elems)[:n]
							there := spreadOver(list, mpi.TypeInt64, 8)
							here, old := spreadOver(r.Perm(n), mpi.TypeInt64, 8), spreadOver(r.Perm(n + 3)[:n], mpi.TypeInt64, 8)
							for i, at := range list {
								binary.NativeEndian.PutUint64(here.mem[here.where[8*i]:], uint64(round+1))
								sums[target*elems+at] += int64(round + 1)
							}
							if round%2 == 0 {
								ok(w.Accumulate(mpi.Sum, here.buf(here.mem), target, base[target], 1, there.t))
								ok(w.FlushLocal(target))
								continue
							}
							if round%4 == 1 {
								ok(w.GetAccumulate(mpi.Sum, here.buf(here.mem), old.buf(old.mem), target, base[target], 1, there.t))
								ok(w.FlushLocal(target))
							} else {
								q := get(w.RgetAccumulate(mpi.Sum, here.buf(here.mem), old.buf(old.mem), target, base[target], 1, there.t))
								get(mpi.Wait(&q))
							}
							for i, at := range list {
								v := binary.NativeEndian.Uint64(old.mem[old.where[8*i]:])
								if seen := &last[target*elems+at]; v < *seen {
									stop(fmt.Errorf("%s: element %d of rank %d was %d, and %d before", kind, at, target, v, *seen))
								} else {
									*seen = v + uint64(round+1)
								}
							}
						}
						ok(w.UnlockAll())
						ok(c.Barrier())
						all := make([]int64, len(sums))
						ok(mpi.Allreduce(c, mpi.Sum, sums, all))
						ok(w.Lock(mpi.LockExclusive, c.Rank()))
						for i := range elems {
							if got := int64(binary.NativeEndian.Uint64(part[8*i:])); got != all[c.Rank()*elems+i] {
								stop(fmt.Errorf("%s: element %d is %d, want %d", kind, i, got, all[c.Rank()*elems+i]))
							}
						}
						ok(w.Unlock(c.Rank()))
						ok(c.Barrier())
					})
				})
			})
		}
	})
}

// The columns at the edges of matrices are exchanged with one Put each, of views and types
// that are longer than any packet.
func TestColumnsOfMatricesAreExchanged(t *testing.T) {
	const rows, columns = 3000, 7
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 3, func(_ *mpi.World, c *mpi.Comm) {
			me, right := c.Rank(), (c.Rank()+1)%c.Size()
			column := get(mpi.TypeVector(rows, 1, columns, mpi.TypeFloat64))
			ok(column.Commit())
			for _, model := range []mpi.WinModel{mpi.WinUnified, mpi.WinSeparate} {
				w := get(mpi.WinAllocate[float64](c, rows*columns, mpi.WinOptions{Model: model}))
				m := w.Local()
				ok(w.Fence(mpi.NoPrecede))
				for i := range rows {
					for k := 1; k < columns; k++ {
						m[i*columns+k] = float64(1000*me + 10*k)
					}
				}
				ok(w.Fence())
				// All ranks get a column while the others put to the one beside it.
				got := make([]float64, rows)
				src := make([]float64, rows*columns)
				for i := range rows {
					src[i*columns+columns-1] = float64(1000*me) + float64(i)/8
				}
				ok(w.Win.Put(mpi.Strided(src[columns-1:], rows, 1, columns), right, 0, 1, column))
				ok(w.Win.Get(mpi.Of(got), right, 3, 1, column))
				ok(w.Win.Accumulate(mpi.Max, mpi.Strided(src[columns-1:], rows, 1, columns), right, 5, 1, column))
				ok(w.Fence(mpi.NoSucceed))
				left := (me + 2) % 3
				for i := range rows {
					v := float64(1000*left) + float64(i)/8
					if m[i*columns] != v || m[i*columns+1] != float64(1000*me+10) || got[i] != float64(1000*right+30) || m[i*columns+5] != math.Max(v, float64(1000*me+50)) {
						stop(fmt.Errorf("%v: row %d has %v, the column that was got %v", model, i, m[i*columns:][:columns], got[i]))
					}
				}
				ok(c.Barrier())
				ok(w.Free())
			}
		})
	})
}

// FetchAndOp and CompareAndSwap take Bufs of one element.
func TestOneElementIsFetchedAndSwapped(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(_ *mpi.World, c *mpi.Comm) {
			w := get(mpi.WinAllocate[int32](c, 3, mpi.WinOptions{}))
			ok(w.LockAll())
			one, zero, old := []int32{1}, []int32{0}, []int32{-1}
			for range 10 {
				ok(w.Win.FetchAndOp(mpi.Sum, mpi.Of(one), mpi.Of(old), 1, 2))
				ok(w.FlushLocal(1))
				for old[0] = 1; old[0] != 0; {
					ok(w.Win.CompareAndSwap(mpi.Of(zero), mpi.Of(one), mpi.Of(old), 1, 0))
					ok(w.FlushLocal(1))
				}
				ok(w.Win.FetchAndOp(mpi.Replace, mpi.Of(zero), mpi.Of(old), 1, 0))
				ok(w.FlushLocal(1))
				if old[0] != 1 {
					stop(fmt.Errorf("the lock was %d", old[0]))
				}
			}
			ok(c.Barrier())
			ok(w.Win.FetchAndOp(mpi.NoOp, mpi.Buf{}, mpi.Of(old), 1, 2))
			ok(w.UnlockAll())
			if old[0] != 20 {
				stop(fmt.Errorf("counted to %d", old[0]))
			}
			ok(w.Free())
		})
	})
}

// Pairs are replaced whole, whoever else does, and their padding stays.
func TestPairsAreReplacedWhole(t *testing.T) {
	const elems, rounds = 70, 30
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 3, func(_ *mpi.World, c *mpi.Comm) {
			me := c.Rank()
			for _, k := range []struct {
				t             *mpi.Datatype
				first, second int // bytes
				at            int // of the second
			}{{mpi.TypeDoubleInt, 8, 4, 8}, {mpi.TypeShortInt, 2, 4, 4}, {mpi.Type2Int, 4, 4, 4}, {mpi.Type2Double, 8, 8, 8}} {
				_, extent := k.t.Extent()
				// Backwards, with a gap between any two.
				list := get(mpi.TypeVector(elems, 1, -2, k.t))
				ok(list.Commit())
				n, size := 2*elems*extent, k.first+k.second
				eachWindow(c, n, func(kind string, w *mpi.Win, part []byte, base []int) {
					ok(w.Lock(mpi.LockExclusive, me))
					for i := range part {
						part[i] = 99
					}
					ok(w.Unlock(me))
					ok(c.Barrier())
					whole := func(b []byte) {
						for i := range b {
							if b[i] != b[0] || b[0] != 99 && int(b[0])/40 >= 3 {
								stop(fmt.Errorf("%s: a pair of %v is %v", kind, k.t, b))
							}
						}
					}
					ok(w.LockAll())
					mine, got, old := make([]byte, elems*extent), make([]byte, elems*extent), make([]byte, elems*size)
					for round := range rounds {
						for i := range mine {
							mine[i] = byte(40*me + round)
						}
						target := (me + round) % 3
						disp := base[target] + 2*(elems-1)*extent
						switch round % 3 {
						case 0:
							ok(w.Accumulate(mpi.Replace, mpi.As(k.t, mine, elems), target, disp, 1, list))
						case 1:
							ok(w.GetAccumulate(mpi.Replace, mpi.As(k.t, mine, elems), mpi.As(k.t, got, elems), target, disp, 1, list))
						default:
							ok(w.GetAccumulate(mpi.NoOp, mpi.Buf{}, mpi.As(k.t, got, elems), target, disp, 1, list))
						}
						ok(w.FlushLocal(target))
						if round%3 > 0 {
							get(mpi.Pack(mpi.As(k.t, got, elems), old, 0))
							for i := range elems {
								whole(old[i*size:][:size])
							}
						}
					}
					ok(w.UnlockAll())
					ok(c.Barrier())
					ok(w.Lock(mpi.LockExclusive, me))
					for i := range 2 * elems {
						b := part[i*extent:][:extent]
						if i%2 == 0 {
							whole(append(bytes.Clone(b[:k.first]), b[k.at:k.at+k.second]...))
						} else if !bytes.Equal(b, bytes.Repeat([]byte{99}, extent)) {
							stop(fmt.Errorf("%s: between two %v is %v", kind, k.t, b))
						}
						if !bytes.Equal(b[k.first:k.at], bytes.Repeat([]byte{99}, k.at-k.first)) || b[extent-1] != 99 && k.at+k.second < extent {
							stop(fmt.Errorf("%s: the padding of a %v is %v", kind, k.t, b))
						}
					}
					ok(w.Unlock(me))
					ok(c.Barrier())
				})
			}
		})
	})
}
