package mpi_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// withoutType is the error of a call that returns a type, which is to be nil.
func withoutType(t *testing.T) func(*mpi.Datatype, error) error {
	return func(d *mpi.Datatype, err error) error {
		if d != nil {
			t.Errorf("beside %v there is the type %v", err, d)
		}
		return err
	}
}

// Each bad argument of a constructor is refused with a class, and named.
func TestConstructorsNameTheBadArgument(t *testing.T) {
	f := mpi.TypeFloat64
	freed := get(mpi.TypeContiguous(1, f))
	ok(freed.Free())
	huge := get(mpi.TypeContiguous(1<<40, f))
	of := withoutType(t)
	const tooLarge = "the size, a bound or a displacement of the type would be above 9223372036854775807"
	for _, c := range []struct {
		err   error
		class mpi.Class
		words string // behind "mpi."
		arg   string
		pos   int
		item  int
	}{
		{of(mpi.TypeContiguous(-1, f)), mpi.ErrCount, "TypeContiguous: argument 1, count = -1: it is negative", "count", 1, -1},
		{of(mpi.TypeContiguous(1, nil)), mpi.ErrType, "TypeContiguous: argument 2, t: it is no datatype: take a predefined one", "t", 2, -1},
		{of(mpi.TypeContiguous(1, new(mpi.Datatype))), mpi.ErrType, "TypeContiguous: argument 2, t: it is no datatype", "t", 2, -1},
		{of(mpi.TypeContiguous(1, freed)), mpi.ErrType, "TypeContiguous: argument 2, t: the datatype has been freed", "t", 2, -1},
		{of(mpi.TypeContiguous(1<<30, huge)), mpi.ErrCount, "TypeContiguous: argument 1, count = 1073741824: " + tooLarge, "count", 1, -1},
		{of(mpi.TypeVector(-1, 1, 1, f)), mpi.ErrCount, "TypeVector: argument 1, count = -1: it is negative", "count", 1, -1},
		{of(mpi.TypeVector(1, -2, 1, f)), mpi.ErrArg, "TypeVector: argument 2, blocklen = -2: it is negative", "blocklen", 2, -1},
		{of(mpi.TypeVector(2, 1, math.MaxInt, f)), mpi.ErrArg, "TypeVector: argument 3, stride = 9223372036854775807: " + tooLarge, "stride", 3, -1},
		{of(mpi.TypeVector(1, 1, 1, nil)), mpi.ErrType, "TypeVector: argument 4, t: it is no datatype", "t", 4, -1},
		{of(mpi.TypeHvector(-1, 1, 1, f)), mpi.ErrCount, "TypeHvector: argument 1, count = -1: it is negative", "count", 1, -1},
		{of(mpi.TypeHvector(1, -1, 1, f)), mpi.ErrArg, "TypeHvector: argument 2, blocklen = -1: it is negative", "blocklen", 2, -1},
		{of(mpi.TypeHvector(4, 1, math.MaxInt/2, f)), mpi.ErrCount, "TypeHvector: argument 1, count: " + tooLarge, "count", 1, -1},
		{of(mpi.TypeHvector(1, 1, 1, nil)), mpi.ErrType, "TypeHvector: argument 4, t: it is no datatype", "t", 4, -1},
		{of(mpi.TypeIndexed([]int{1, -1}, []int{0, 0}, f)), mpi.ErrArg, "TypeIndexed: argument 1, lens[1] = -1: it is negative", "lens", 1, 1},
		{of(mpi.TypeIndexed([]int{1, 1}, []int{0}, f)), mpi.ErrArg, "TypeIndexed: argument 2, disps: the lists are not equally long: it has 1 items, lens has 2", "disps", 2, -1},
		{of(mpi.TypeIndexed([]int{1}, []int{math.MaxInt}, f)), mpi.ErrArg, "TypeIndexed: argument 2, disps[0] = 9223372036854775807: " + tooLarge, "disps", 2, 0},
		{of(mpi.TypeIndexed(nil, nil, nil)), mpi.ErrType, "TypeIndexed: argument 3, t: it is no datatype", "t", 3, -1},
		{of(mpi.TypeHindexed([]int{-1}, []int{0}, f)), mpi.ErrArg, "TypeHindexed: argument 1, lens[0] = -1: it is negative", "lens", 1, 0},
		{of(mpi.TypeHindexed(nil, []int{0}, f)), mpi.ErrArg, "TypeHindexed: argument 2, disps: the lists are not equally long", "disps", 2, -1},
		{of(mpi.TypeHindexed(nil, nil, nil)), mpi.ErrType, "TypeHindexed: argument 3, t: it is no datatype", "t", 3, -1},
		{of(mpi.TypeIndexedBlock(-1, nil, f)), mpi.ErrArg, "TypeIndexedBlock: argument 1, blocklen = -1: it is negative", "blocklen", 1, -1},
		{of(mpi.TypeIndexedBlock(1, nil, nil)), mpi.ErrType, "TypeIndexedBlock: argument 3, t: it is no datatype", "t", 3, -1},
		{of(mpi.TypeHindexedBlock(-1, nil, f)), mpi.ErrArg, "TypeHindexedBlock: argument 1, blocklen = -1: it is negative", "blocklen", 1, -1},
		{of(mpi.TypeHindexedBlock(1, []int{math.MaxInt}, f)), mpi.ErrArg, "TypeHindexedBlock: argument 2, disps[0] = 9223372036854775807: " + tooLarge, "disps", 2, 0},
		{of(mpi.TypeHindexedBlock(1, nil, nil)), mpi.ErrType, "TypeHindexedBlock: argument 3, t: it is no datatype", "t", 3, -1},
		{of(mpi.TypeStruct([]int{1, 1}, []int{0, 8}, []*mpi.Datatype{f, nil})), mpi.ErrType, "TypeStruct: argument 3, types[1]: it is no datatype", "types", 3, 1},
		{of(mpi.TypeStruct([]int{1}, []int{0}, []*mpi.Datatype{freed})), mpi.ErrType, "TypeStruct: argument 3, types[0]: the datatype has been freed", "types", 3, 0},
		{of(mpi.TypeStruct([]int{1}, []int{0}, nil)), mpi.ErrArg, "TypeStruct: argument 3, types: the lists are not equally long: it has 0 items, lens has 1", "types", 3, -1},
		{of(mpi.TypeStruct([]int{1}, nil, []*mpi.Datatype{f})), mpi.ErrArg, "TypeStruct: argument 2, disps: the lists are not equally long", "disps", 2, -1},
		{of(mpi.TypeStruct([]int{-1}, []int{0}, []*mpi.Datatype{f})), mpi.ErrArg, "TypeStruct: argument 1, lens[0] = -1: it is negative", "lens", 1, 0},
		{of(mpi.TypeSubarray(nil, nil, nil, mpi.OrderC, f)), mpi.ErrArg, "TypeSubarray: argument 1, sizes: there is no such value: an array has at least one dimension", "sizes", 1, -1},
		{of(mpi.TypeSubarray([]int{0}, []int{0}, []int{0}, mpi.OrderC, f)), mpi.ErrArg, "TypeSubarray: argument 1, sizes[0] = 0: ", "sizes", 1, 0},
		{of(mpi.TypeSubarray([]int{4, 5}, []int{1, 6}, []int{0, 0}, mpi.OrderC, f)), mpi.ErrArg, "TypeSubarray: argument 2, subsizes[1] = 6: it does not fit into the array: give 1 to 5", "subsizes", 2, 1},
		{of(mpi.TypeSubarray([]int{4, 5}, []int{2, 2}, []int{3, 0}, mpi.OrderC, f)), mpi.ErrArg, "TypeSubarray: argument 3, starts[0] = 3: it does not fit into the array: give 0 to 2", "starts", 3, 0},
		{of(mpi.TypeSubarray([]int{4}, []int{2}, []int{0}, 0, f)), mpi.ErrArg, "TypeSubarray: argument 4, order = 0: there is no such value: give OrderC or OrderFortran", "order", 4, -1},
		{of(mpi.TypeSubarray([]int{4}, []int{2}, []int{0}, mpi.OrderC, nil)), mpi.ErrType, "TypeSubarray: argument 5, t: it is no datatype", "t", 5, -1},
		{of(mpi.TypeSubarray([]int{1 << 40, 1 << 40}, []int{1, 1}, []int{0, 0}, mpi.OrderC, f)), mpi.ErrArg, "TypeSubarray: argument 1, sizes[0] = 1099511627776: " + tooLarge, "sizes", 1, 0},
		{of(darray(0, 0, mpi.DistributeBlock, mpi.DistributeDfltDarg, 2, f)), mpi.ErrArg, "TypeDarray: argument 1, size = 0: ", "size", 1, -1},
		{of(darray(2, 2, mpi.DistributeBlock, mpi.DistributeDfltDarg, 2, f)), mpi.ErrArg, "TypeDarray: argument 2, rank = 2: it does not fit into the array: give 0 to 1", "rank", 2, -1},
		{of(darray(2, 0, 0, mpi.DistributeDfltDarg, 2, f)), mpi.ErrArg, "TypeDarray: argument 4, distribs[0] = 0: there is no such value: give DistributeBlock, DistributeCyclic or DistributeNone", "distribs", 4, 0},
		{of(darray(2, 0, mpi.DistributeCyclic, 0, 2, f)), mpi.ErrArg, "TypeDarray: argument 5, dargs[0] = 0: there is no such value: give 1 or more, or DistributeDfltDarg", "dargs", 5, 0},
		{of(darray(2, 0, mpi.DistributeBlock, 2, 2, f)), mpi.ErrArg, "TypeDarray: argument 5, dargs[0] = 2: it does not fit into the array", "dargs", 5, 0},
		{of(darray(2, 0, mpi.DistributeBlock, 9, 3, f)), mpi.ErrArg, "TypeDarray: argument 6, psizes: there is no such value: their product is the number of processes, 2", "psizes", 6, -1},
		{of(darray(2, 0, mpi.DistributeBlock, 9, 2, nil)), mpi.ErrType, "TypeDarray: argument 8, t: it is no datatype", "t", 8, -1},
		{of(mpi.TypeResized(nil, 0, 1)), mpi.ErrType, "TypeResized: argument 1, t: it is no datatype", "t", 1, -1},
		{of(mpi.TypeResized(f, math.MaxInt, 1)), mpi.ErrArg, "TypeResized: argument 3, extent: " + tooLarge, "extent", 3, -1},
	} {
		want(t, c.words, c.err, c.class)
		if got := fmt.Sprint(c.err); !strings.HasPrefix(got, "mpi."+c.words) {
			t.Errorf("got  %s\nwant mpi.%s", got, c.words)
		}
		call, _, _ := strings.Cut(c.words, ":")
		if arg, is := errors.AsType[*mpi.ArgError](c.err); !is || arg.Call != call || arg.Arg != c.arg || arg.Pos != c.pos || arg.Item != c.item {
			t.Errorf("%s: the ArgError is %+v", c.words, arg)
		}
	}
}

// darray distributes ten elements in one dimension.
func darray(size, rank int, d mpi.Dist, darg, processes int, t *mpi.Datatype) (*mpi.Datatype, error) {
	return mpi.TypeDarray(size, rank, []int{10}, []mpi.Dist{d}, []int{darg}, []int{processes}, mpi.OrderC, t)
}

// What is refused has neither read nor written anything.
func TestBadPacksChangeNothing(t *testing.T) {
	column := get(mpi.TypeVector(3, 1, 4, mpi.TypeInt32))
	raw := get(column.Dup())
	ok(column.Commit())
	freed := get(column.Dup())
	s := upTo[int32](12)
	old := mpi.As(freed, s, 1)
	ok(freed.Free())
	good := mpi.As(column, s, 1)
	mem := make([]byte, 100)
	for i := range mem {
		mem[i] = byte(i)
	}
	own := mem[:48:48] // memory that Bufs have too
	for name, c := range map[string]struct {
		b     mpi.Buf
		buf   []byte
		pos   int
		class mpi.Class
		words string // of Pack, behind "mpi.Pack: "
	}{
		"position below 0":       {good, mem, -1, mpi.ErrArg, "argument 3, pos = -1: it is outside of out, which has 100 bytes"},
		"position behind":        {good, mem, 101, mpi.ErrArg, "argument 3, pos = 101: it is outside of out"},
		"room":                   {good, mem, 89, mpi.ErrBuffer, "out: it has 11 bytes from position 89 on, the elements of b have 12"},
		"no room":                {good, nil, 0, mpi.ErrBuffer, "out: it has 0 bytes from position 0 on, the elements of b have 12"},
		"not committed":          {mpi.As(raw, s, 1), mem, 0, mpi.ErrType, "b: the type is not committed: call Commit first"},
		"freed":                  {old, mem, 0, mpi.ErrType, "b: the datatype has been freed"},
		"made of a freed type":   {mpi.As(freed, s, 1), mem, 0, mpi.ErrType, "b: mpi.As: the datatype has been freed"},
		"no type":                {mpi.As(nil, s, 1), mem, 0, mpi.ErrType, "b: mpi.As: it is no datatype: take a predefined one"},
		"elements below 0":       {mpi.As(column, s, -1), mem, 0, mpi.ErrCount, "b: it has -1 elements"},
		"elements behind":        {mpi.As(column, s, 2), mem, 0, mpi.ErrBuffer, "b: its 2 elements touch the bytes from 0 to 72 behind displacement 0, the memory has those from 0 to 48"},
		"in place":               {mpi.BufInPlace, mem, 0, mpi.ErrBuffer, "b: "},
		"overlap":                {mpi.As(column, own, 1), own, 14, mpi.ErrBuffer, "out and b overlap"},
		"overlap of one element": {mpi.As(column, own, 1), own[:28], 16, mpi.ErrBuffer, "out and b overlap"},
	} {
		packed := []error{second(mpi.Pack(c.b, c.buf, c.pos)), second(mpi.PackExternal(c.b, c.buf, c.pos)),
			second(mpi.Unpack(c.buf, c.pos, c.b)), second(mpi.UnpackExternal(c.buf, c.pos, c.b))}
		for i, call := range []string{"Pack", "PackExternal", "Unpack", "UnpackExternal"} {
			want(t, call+": "+name, packed[i], c.class)
			words := c.words
			if i > 1 {
				words = strings.NewReplacer("argument 3", "argument 2", "out and", "in and", "out: ", "in: ", "outside of out", "outside of in").Replace(words)
			}
			if got := fmt.Sprint(packed[i]); !strings.HasPrefix(got, "mpi."+call+": "+words) {
				t.Errorf("%s: got\n%s, want\nmpi.%s: %s", name, got, call, words)
			}
		}
	}
	for i := range mem {
		if mem[i] != byte(i) {
			t.Fatalf("byte %d has been written to", i)
		}
	}
	if !slices.Equal(s, upTo[int32](12)) {
		t.Errorf("the slice is %v", s)
	}
	// Packed bytes may lie between the elements.
	if next, err := mpi.Pack(mpi.As(column, own[:36], 1), own, 36); next != 48 || err != nil || !bytes.Equal(own[36:], []byte{0, 1, 2, 3, 16, 17, 18, 19, 32, 33, 34, 35}) {
		t.Errorf("packed to %d, %v: %v", next, own[36:], err)
	}
	if next, err := mpi.Pack(mpi.As(column, own, 1), own[4:16], 0); next != 12 || err != nil {
		t.Errorf("packed between elements: %d, %v", next, err)
	}
	for what, err := range map[string]error{"count": second(mpi.PackSize(-1, column)), "external count": second(mpi.PackExternalSize(-1, column)), "large count": second(mpi.PackSize(math.MaxInt, column))} {
		want(t, what, err, mpi.ErrCount)
	}
	for _, d := range []*mpi.Datatype{nil, freed, new(mpi.Datatype)} {
		want(t, "PackSize of no type", second(mpi.PackSize(1, d)), mpi.ErrType)
		want(t, "PackExternalSize of no type", second(mpi.PackExternalSize(1, d)), mpi.ErrType)
	}
}

func TestStatusesOfNoTypesAreUndefined(t *testing.T) {
	st := mpi.Status{Bytes: 8}
	for _, d := range []*mpi.Datatype{nil, new(mpi.Datatype)} {
		if st.Count(d) != mpi.Undefined || st.Elements(d) != mpi.Undefined {
			t.Errorf("elements of %v: %d, %d", d, st.Count(d), st.Elements(d))
		}
		want(t, "SetElements", st.SetElements(d, 1), mpi.ErrType)
	}
	want(t, "SetElements below 0", st.SetElements(mpi.TypeInt32, -1), mpi.ErrCount)
	want(t, "SetElements of too many", st.SetElements(mpi.TypeInt32, math.MaxInt), mpi.ErrCount)
	want(t, "SetElements of nil", (*mpi.Status)(nil).SetElements(mpi.TypeInt32, 1), mpi.ErrArg)
	large := mpi.Status{Bytes: math.MaxUint64}
	if st.Bytes != 8 || large.Count(mpi.TypeByte) != mpi.Undefined || large.Elements(mpi.TypeByte) != mpi.Undefined {
		t.Errorf("%+v, and %d elements of so many bytes", st, large.Count(mpi.TypeByte))
	}
}

func TestAddressesGiveDisplacements(t *testing.T) {
	p := make([]particle, 2)
	base, mass, next := get(mpi.Address(&p[0])), get(mpi.Address(&p[0].mass)), get(mpi.Address(&p[1]))
	_, extent := get(mpi.TypeOf[particle]()).Extent()
	if d := mpi.AintDiff(next, base); d != extent || mpi.AintAdd(base, d) != next {
		t.Errorf("the second struct is %d bytes further on, not %d", d, extent)
	}
	if d := mpi.AintDiff(mass, base); d != 40 || mpi.AintDiff(base, mass) != -40 {
		t.Errorf("the mass has displacement %d", d)
	}
	want(t, "Address of nil", second(mpi.Address[int](nil)), mpi.ErrArg)
	want(t, "Address of a pointer", second(mpi.Address(new(*int))), mpi.ErrType)

	// A variable that has an address stays there as its goroutine's stack grows.
	done := make(chan [2]int)
	go func() {
		var v [4]int
		before := get(mpi.Address(&v[0]))
		grow(1000)
		done <- [2]int{before, get(mpi.Address(&v[0]))}
	}()
	if a := <-done; a[0] != a[1] {
		t.Errorf("the variable was at %d and is at %d", a[0], a[1])
	}
}

// grow uses much stack.
func grow(n int) int {
	var room [64]int
	room[n%64] = n
	if n > 0 {
		room[(n+1)%64] = grow(n - 1)
	}
	return room[0] + room[63]
}
