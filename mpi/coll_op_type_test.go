package mpi_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// laid are types of two int32 and how far from displacement 0 of an element they are.
type laid struct {
	t     *mpi.Datatype
	first int // displacement of the first one
	next  int // of the second one behind it
}

func layouts() map[string]laid {
	two := func(at, next, lb, extent int) laid {
		d := get(mpi.TypeResized(get(mpi.TypeHindexed([]int{1, 1}, []int{at, at + next}, mpi.TypeInt32)), lb, extent))
		ok(d.Commit())
		return laid{d, at, next}
	}
	return map[string]laid{
		"dense":              two(0, 4, 0, 8),
		"dense, further on":  two(24, 4, 24, 8),
		"with a gap":         two(0, 8, 0, 16),
		"below the origin":   two(-12, 8, -12, 24),
		"the second first":   two(8, -8, 0, 12),
		"backwards":          two(4, 8, 0, -16),
		"wide":               two(-20000, 40000, -20000, 40008),
		"interleaved":        two(0, 400, 0, 4),
		"one byte too far":   two(1, 4, 1, 8),
		"extents of 9 bytes": two(0, 5, 0, 9),
	}
}

// put and at write and read the two of element i in memory whose displacement 0 is at origin.
func (l laid) put(mem []byte, origin, i int, a, b int32) {
	_, extent := l.t.Extent()
	at := origin + i*extent + l.first
	binary.NativeEndian.PutUint32(mem[at:], uint32(a))
	binary.NativeEndian.PutUint32(mem[at+l.next:], uint32(b))
}

func (l laid) at(mem []byte, origin, i int) (a, b int32) {
	_, extent := l.t.Extent()
	at := origin + i*extent + l.first
	return int32(binary.NativeEndian.Uint32(mem[at:])), int32(binary.NativeEndian.Uint32(mem[at+l.next:]))
}

// buffer is room for n elements.
func (l laid) buffer(n int) (mem []byte, origin int, b mpi.Buf) {
	_, extent := l.t.Extent()
	lb, each := l.t.TrueExtent()
	lo, hi := lb+min(0, (n-1)*extent), lb+each+max(0, (n-1)*extent)
	mem = make([]byte, max(hi, 0)-min(lo, 0))
	return mem, max(-lo, 0), mpi.As(l.t, mem, n).At(max(-lo, 0))
}

func address(b []byte) uintptr { return reflect.ValueOf(b).Pointer() }

// An operator of a datatype gets whole elements as they lie in memory, aligned and in the
// order of ranks, and what lies between those of the result stays as it is.
func TestOperatorsCombineElementsOfAnyType(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, p := range []int{1, 2, 3, 5} {
			act(t, fabric, p, func(_ *mpi.World, c *mpi.Comm) {
				for name, l := range ordered(layouts()) {
					_, extent := l.t.Extent()
					align := uintptr(min(extent&-extent, 16))
					o := mpi.NewTypeOp(func(in, inout []byte, n int, d *mpi.Datatype) { // (a, b)·(c, d) = (a·c, b·c + d)
						lb, _ := l.t.TrueExtent()
						origin := max((n-1)*-extent, 0) - lb
						if len(in) != len(inout) || d != l.t || (address(in)+uintptr(origin))%align != 0 || (address(inout)+uintptr(origin))%align != 0 {
							panic(fmt.Sprint(len(in), len(inout), n, d))
						}
						for i := range n {
							a, b := l.at(in, origin, i)
							c, d := l.at(inout, origin, i)
							l.put(inout, origin, i, a*c, b*c+d)
						}
					})
					for _, n := range []int{0, 1, 7, 90} {
						mine := func(r, i int) (a, b int32) { return int32(r*3+i)%7 + 1, int32(r + 2*i) }
						mem, origin, send := l.buffer(n)
						got, _, recv := l.buffer(n)
						want := bytes.Repeat([]byte{0x5a}, len(got))
						copy(got, want)
						for i := range n {
							a, b := mine(c.Rank(), i)
							l.put(mem, origin, i, a, b)
							a, b = mine(0, i)
							for r := 1; r < p; r++ {
								x, y := mine(r, i)
								a, b = a*x, b*x+y
							}
							l.put(want, origin, i, a, b)
						}
						ok(c.Allreduce(o, send, recv))
						if !bytes.Equal(got, want) {
							t.Errorf("%s, %d of them: % x, want % x", name, n, got, want)
						}
						copy(got, mem)
						ok(wait(c.Iallreduce(o, mpi.BufInPlace, recv)))
						for i := range n {
							a, b := l.at(got, origin, i)
							if c, d := l.at(want, origin, i); a != c || b != d {
								t.Errorf("%s, %d of them, in place: element %d is (%d, %d), want (%d, %d)", name, n, i, a, b, c, d)
							}
						}
						for i := range n {
							a, b := mine(1, i)
							l.put(got, origin, i, a, b)
						}
						ok(o.ReduceLocal(send, recv))
						for i := range n {
							x, y := mine(c.Rank(), i)
							z, w := mine(1, i)
							if a, b := l.at(got, origin, i); a != x*z || b != y*z+w {
								t.Errorf("%s, %d of them, ReduceLocal: element %d is (%d, %d)", name, n, i, a, b)
							}
						}
					}
				}
			})
		}
	})
}

// The operator can't be used without a function, on elements too large to unpack, or on two
// types whose elements differ.
func TestOperatorsOfTypesRefuse(t *testing.T) {
	act(t, "mem", 1, func(_ *mpi.World, c *mpi.Comm) {
		far := get(mpi.TypeHindexed([]int{1, 1}, []int{0, 1 << 40}, mpi.TypeByte))
		ok(far.Commit())
		o := mpi.NewTypeOp(func(in, inout []byte, n int, d *mpi.Datatype) {}, mpi.Commutes())
		if !o.Commutes() || o.String() != "of NewTypeOp" {
			t.Errorf("%v commutes: %t", o, o.Commutes())
		}
		eight := mpi.Of(make([]int64, 1))
		wantWords(t, "no function", c.Allreduce(mpi.NewTypeOp(nil), eight, mpi.Of(make([]int64, 1))), mpi.ErrOp, "has no function")
		wantWords(t, "two types", c.Allreduce(o, eight, mpi.Of(make([]int32, 2))), mpi.ErrType, "elements of 8 bytes", "of 4")
		want(t, "far apart", c.Allreduce(o, mpi.BufInPlace, mpi.As(far, make([]byte, 1), 1)), mpi.ErrBuffer)
		want(t, "a slice", mpi.Allreduce(c, o, []int64{1}, []int64{1}), mpi.ErrOp)
		ok(c.Allreduce(o, mpi.Buf{}, mpi.Buf{}))
	})
}
