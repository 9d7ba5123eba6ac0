package mpi_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// upTo is 0, 1 and so on.
func upTo[T int32 | int](n int) []T {
	s := make([]T, n)
	for i := range s {
		s[i] = T(i)
	}
	return s
}

// Each view sends what it shows and receives only there, by itself and from slices.
func TestViewsAreSentAndReceived(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, c := range []struct {
			name string
			view func(s []int32) mpi.Buf
			has  []int32
		}{
			{"column", func(s []int32) mpi.Buf { return mpi.Strided(s[1:], 3, 1, 4) }, []int32{1, 5, 9}},
			{"blocks", func(s []int32) mpi.Buf { return mpi.Strided(s, 3, 2, 4) }, []int32{0, 1, 4, 5, 8, 9}},
			{"one range", func(s []int32) mpi.Buf { return mpi.Strided(s, 2, 3, 3) }, []int32{0, 1, 2, 3, 4, 5}},
			{"nothing", func(s []int32) mpi.Buf { return mpi.Strided(s, 0, 3, 3) }, nil},
			{"no blocks", func(s []int32) mpi.Buf { return mpi.Indexed(s, nil, nil) }, nil},
			{"inside", func(s []int32) mpi.Buf { return mpi.Subarray(s, []int{3, 4}, []int{2, 2}, []int{1, 1}) }, []int32{5, 6, 9, 10}},
			{"of a longer one", func(s []int32) mpi.Buf { return mpi.Subarray(s, []int{2, 3}, []int{2, 1}, []int{0, 2}) }, []int32{2, 5}},
			{"three dimensions", func(s []int32) mpi.Buf { return mpi.Subarray(s, []int{2, 2, 3}, []int{2, 1, 2}, []int{0, 1, 0}) }, []int32{3, 4, 9, 10}},
			{"five dimensions", func(s []int32) mpi.Buf {
				return mpi.Subarray(s, []int{1, 2, 1, 3, 2}, []int{1, 2, 1, 1, 1}, []int{0, 0, 0, 2, 1})
			}, []int32{5, 11}},
			{"list", func(s []int32) mpi.Buf { return mpi.Indexed(s, []int{1, 0, 3}, []int{11, 12, 2}) }, []int32{11, 2, 3, 4}},
			{"moved on", func(s []int32) mpi.Buf { return mpi.Strided(s, 2, 1, 4).At(8) }, []int32{2, 6}},
			{"moved back", func(s []int32) mpi.Buf { return mpi.Subarray(s, []int{3, 4}, []int{2, 2}, []int{1, 1}).At(-4) }, []int32{4, 5, 8, 9}},
		} {
			t.Run(c.name, func(t *testing.T) {
				act(t, fabric, 2, func(w *mpi.World, comm *mpi.Comm) {
					s := upTo[int32](12)
					if comm.Rank() == 0 {
						ok(comm.Send(c.view(s), 1, 0))
						ok(mpi.Send(comm, c.has, 1, 0))
						ok(comm.Send(c.view(s), 1, 0))
						return
					}
					got := make([]int32, len(c.has))
					get(mpi.Recv(comm, got, 0, 0))
					if !slices.Equal(got, c.has) {
						stop(fmt.Errorf("sent %v, want %v", got, c.has))
					}
					for range 2 {
						into, want := slices.Repeat([]int32{-1}, 12), slices.Repeat([]int32{-1}, 12)
						for _, v := range c.has {
							want[v] = v
						}
						st := get(comm.Recv(c.view(into), 0, 0))
						if !slices.Equal(into, want) || st.Bytes != uint64(4*len(c.has)) {
							stop(fmt.Errorf("received %v, want %v, %+v", into, want, st))
						}
					}
				})
			})
		}
	})
}

// A view that is not in its slice is refused by each call, in words, and nothing is sent
// or written.
func TestViewsOutsideOfTheirSlicesAreRefused(t *testing.T) {
	s := upTo[int32](12)
	const huge = math.MaxInt
	bad := []struct {
		view  mpi.Buf
		class mpi.Class
		words string // behind "mpi.Send: b: mpi."
	}{
		{mpi.Strided(s, -1, 1, 1), mpi.ErrCount, "Strided: argument 2, count = -1: it is negative"},
		{mpi.Strided(s, 1, -1, 1), mpi.ErrArg, "Strided: argument 3, blocklen = -1: it is negative"},
		{mpi.Strided(s, 1, 13, 1), mpi.ErrArg, "Strided: argument 3, blocklen = 13: it is outside of s: s has 12 elements"},
		{mpi.Strided(s, 4, 1, 4), mpi.ErrArg, "Strided: argument 4, stride = 4: it is outside of s: s has 12 elements, so that 3 blocks of 1 fit"},
		{mpi.Strided(s, huge, 1, 1), mpi.ErrArg, "Strided: argument 4, stride = 1: it is outside of s: s has 12 elements, so that 12 blocks of 1 fit"},
		{mpi.Strided(s, 2, 1, huge), mpi.ErrArg, "Strided: argument 4, stride = 9223372036854775807: it is outside of s"},
		{mpi.Strided(s, 2, 1, -1), mpi.ErrArg, "Strided: argument 4, stride = -1: it is outside of s: the second block would begin at element -1"},
		{mpi.Strided(s, huge, 1, 0), mpi.ErrCount, "Strided: argument 2, count"},
		{mpi.Strided[int32](nil, 1, 1, 1), mpi.ErrArg, "Strided: argument 3, blocklen = 1: it is outside of s: s has 0 elements"},
		{mpi.Subarray(s, nil, nil, nil), mpi.ErrArg, "Subarray: argument 2, sizes: there is no such value: an array has at least one dimension"},
		{mpi.Subarray(s, []int{3, 4}, []int{1}, []int{0, 0}), mpi.ErrArg, "Subarray: argument 3, subsizes: the lists are not equally long: it has 1 items, sizes has 2"},
		{mpi.Subarray(s, []int{3, 4}, []int{1, 1}, nil), mpi.ErrArg, "Subarray: argument 4, starts: the lists are not equally long: it has 0 items, sizes has 2"},
		{mpi.Subarray(s, []int{3, 0}, []int{1, 0}, []int{0, 0}), mpi.ErrArg, "Subarray: argument 2, sizes[1] = 0: "},
		{mpi.Subarray(s, []int{3, 4}, []int{1, 5}, []int{0, 0}), mpi.ErrArg, "Subarray: argument 3, subsizes[1] = 5: it does not fit into the array: give 1 to 4"},
		{mpi.Subarray(s, []int{3, 4}, []int{2, 1}, []int{2, 0}), mpi.ErrArg, "Subarray: argument 4, starts[0] = 2: it does not fit into the array: give 0 to 1"},
		{mpi.Subarray(s, []int{3, 5}, []int{1, 1}, []int{0, 0}), mpi.ErrArg, "Subarray: argument 2, sizes[1] = 5: it is outside of s: s has 12 elements, an array of [3 5] has more"},
		{mpi.Subarray(s, []int{huge, huge}, []int{1, 1}, []int{0, 0}), mpi.ErrArg, "Subarray: argument 2, sizes[0] = 9223372036854775807: it is outside of s"},
		{mpi.Subarray(s, []int{4, 1 << 62}, []int{1, 1}, []int{0, 0}), mpi.ErrArg, "Subarray: argument 2, sizes[1] = 4611686018427387904: it is outside of s"},
		{mpi.Indexed(s, []int{1, 2}, []int{0}), mpi.ErrArg, "Indexed: argument 3, offs: the lists are not equally long: it has 1 items, lens has 2"},
		{mpi.Indexed(s, []int{1, -2}, []int{0, 0}), mpi.ErrArg, "Indexed: argument 2, lens[1] = -2: it is negative"},
		{mpi.Indexed(s, []int{1}, []int{-1}), mpi.ErrArg, "Indexed: argument 3, offs[0] = -1: it is outside of s: s has 12 elements"},
		{mpi.Indexed(s, []int{1, 3}, []int{0, 10}), mpi.ErrArg, "Indexed: argument 2, lens[1] = 3: it is outside of s: s has 2 elements from 10 on"},
		{mpi.Indexed(s, []int{huge}, []int{1}), mpi.ErrArg, "Indexed: argument 2, lens[0] = 9223372036854775807: it is outside of s"},
	}
	act(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) {
		for _, b := range bad {
			err := c.Send(b.view.At(4), 0, 0)
			want(t, b.words, err, b.class)
			if full := "mpi.Send: b: mpi." + b.words; !strings.HasPrefix(fmt.Sprint(err), full) {
				t.Errorf("got  %v\nwant %s", err, full)
			}
			if _, err := c.Recv(b.view, 0, 0); !errors.Is(err, b.class) {
				t.Errorf("%s: Recv = %v", b.words, err)
			}
			if arg, ok := errors.AsType[*mpi.ArgError](err); !ok || arg.Call == "" || arg.Arg == "" {
				t.Errorf("%s has no ArgError: %#v", b.words, err)
			}
			if b.view.Type() != nil {
				t.Errorf("%s: it has a type", b.words)
			}
		}
		if found, _, err := mpi.Iprobe(c, mpi.AnySource, mpi.AnyTag); found || err != nil {
			t.Errorf("something has been sent, or %v", err)
		}
	})
	if !slices.Equal(s, upTo[int32](12)) {
		t.Errorf("the slice is %v", s)
	}
	// Nothing can be received into a view whose blocks overlap.
	act(t, "mem", 1, func(w *mpi.World, c *mpi.Comm) {
		for _, b := range []mpi.Buf{mpi.Strided(s, 2, 1, 0), mpi.Strided(s, 3, 3, 2), mpi.Indexed(s, []int{2, 2}, []int{0, 1})} {
			_, err := c.Recv(b, 0, 0)
			want(t, "an overlapping receive", err, mpi.ErrType)
			ok(c.Send(b, mpi.ProcNull, 0))
		}
	})
}

// A view of a shape that has been used costs no memory.
func TestAViewOfAKnownShapeAllocatesNothing(t *testing.T) {
	s := make([]float64, 100)
	sizes, subsizes, starts := []int{10, 10}, []int{10, 1}, []int{0, 0}
	if n := testing.AllocsPerRun(100, func() {
		starts[1] = (starts[1] + 1) % 10
		for _, b := range []mpi.Buf{mpi.Strided(s, 10, 1, 10), mpi.Subarray(s, sizes, subsizes, starts)} {
			if b.Err() != nil {
				t.Fatal(b.Err())
			}
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// Views of more shapes than are kept are right, whoever makes them at the same time.
func TestGoroutinesMakeViewsOfManyShapes(t *testing.T) {
	s, wide := upTo[int32](200), upTo[int](200)
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 400 {
				count, blocklen, stride := 1+(i+g)%7, 1+i%3, 3+i%20
				var has []int32
				for b := range count {
					for k := range blocklen {
						has = append(has, int32(b*stride+k))
					}
				}
				if got := sent[int32](mpi.Strided(s, count, blocklen, stride)); !slices.Equal(got, has) {
					t.Errorf("%d blocks of %d, %d apart are %v", count, blocklen, stride, got)
				}
				if got := sent[int](mpi.Strided(wide, count, blocklen, stride)); len(got) != len(has) || got[len(got)-1] != int(has[len(has)-1]) {
					t.Errorf("%d blocks of %d ints, %d apart are %v", count, blocklen, stride, got)
				}
				rows, columns := 2+i%9, 2+(i+g)%19
				part := mpi.Subarray(s, []int{rows, columns}, []int{2, 1}, []int{rows - 2, columns - 1})
				if got := sent[int32](part); !slices.Equal(got, []int32{int32((rows-1)*columns - 1), int32(rows*columns - 1)}) {
					t.Errorf("the last two of the last column of %d x %d are %v", rows, columns, got)
				}
			}
		})
	}
	all.Wait()
}
