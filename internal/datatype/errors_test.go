package datatype

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi/cause"
)

func TestABadArgumentIsNamed(t *testing.T) {
	f, wide := Of(Float64), must(Vector(2, 1, math.MaxInt>>4, Of(Float64)))
	raw, _ := Contiguous(2, f)
	var c Cursor
	memory := make([]byte, 64)
	type result struct {
		t   *Type
		err error
	}
	of := func(t *Type, err error) result { return result{t, err} }
	failed := func(err error) result { return result{nil, err} }
	_, packErr := Pack(f, 2, memory, 0, memory[:15], 0)
	_, unpackErr := Unpack(f, 2, memory, 0, memory, 49)
	_, externalErr := PackExternal(f, 9, memory, 0, make([]byte, 99), 0)
	_, posErr := UnpackExternal(f, 1, memory, 0, memory, -1)
	_, sizeErr := f.PackSize(math.MaxInt / 8 * 2)
	_, negativeErr := f.PackSize(-1)
	_, _, spanErr := f.Span(-1)
	for _, v := range []struct {
		is    error
		words string
		result
	}{
		{ErrNegative, "Contiguous: argument 1, count = -1:", of(Contiguous(-1, f))},
		{ErrNilType, "Contiguous: argument 2, t:", of(Contiguous(1, nil))},
		{ErrTooLarge, "Contiguous: argument 1, count = 9223372036854775807:", of(Contiguous(math.MaxInt, f))},
		{ErrNegative, "Vector: argument 1, count = -2:", of(Vector(-2, 1, 1, f))},
		{ErrNegative, "Vector: argument 2, blocklen = -2:", of(Vector(2, -2, 1, f))},
		{ErrTooLarge, "Vector: argument 3, stride = 4611686018427387904:", of(Vector(2, 1, 1<<62, f))},
		{ErrTooLarge, "Vector: argument 2, blocklen = 4611686018427387904:", of(Vector(2, 1<<62, 1, f))},
		{ErrTooLarge, "Vector: argument 1, count:", of(Vector(1<<40, 1, 1<<40, f))},
		{ErrNilType, "Vector: argument 4, t:", of(Vector(2, 2, 1, nil))},
		{ErrNegative, "HVector: argument 2, blocklen = -1:", of(HVector(2, -1, 1, f))},
		{ErrTooLarge, "HVector: argument 1, count:", of(HVector(3, 1, math.MinInt, f))},
		{ErrNegative, "Indexed: argument 1, lens[1] = -1:", of(Indexed([]int{1, -1}, []int{0, 1}, f))},
		{ErrLengths, "Indexed: argument 2, disps: the lists are not equally long: it has 3 items, lens has 2", of(Indexed([]int{1, 1}, []int{0, 1, 2}, f))},
		{ErrTooLarge, "Indexed: argument 2, disps[1] = 2305843009213693952:", of(Indexed([]int{1, 1}, []int{0, 1 << 61}, f))},
		{ErrTooLarge, "HIndexed: argument 2, disps[0] = 9223372036854775807:", of(HIndexed([]int{1}, []int{math.MaxInt}, f))},
		{ErrTooLarge, "HIndexed: argument 2, disps:", of(HIndexed([]int{1, 1}, []int{math.MinInt, math.MaxInt - 8}, f))},
		{ErrNegative, "IndexedBlock: argument 1, blocklen = -1:", of(IndexedBlock(-1, nil, f))},
		{ErrNilType, "HIndexedBlock: argument 3, t:", of(HIndexedBlock(1, nil, nil))},
		{ErrNilType, "Struct: argument 3, types[1]:", of(Struct([]int{1, 1}, []int{0, 8}, []*Type{f, nil}))},
		{ErrLengths, "Struct: argument 3, types:", of(Struct([]int{1, 1}, []int{0, 8}, []*Type{f}))},
		{ErrNegative, "Struct: argument 1, lens[0] = -3:", of(Struct([]int{-3}, []int{0}, []*Type{f}))},
		{ErrTooLarge, "Struct: argument 1, lens[1] = 100:", of(Struct([]int{1, 100}, []int{0, 0}, []*Type{f, wide}))},
		{ErrTooLarge, "Struct: argument 2, disps[0] = 9223372036854775800:", of(Struct([]int{1}, []int{math.MaxInt - 7}, []*Type{f}))},
		{ErrTooLarge, "Resized: argument 3, extent:", of(Resized(f, math.MaxInt, 1))},
		{ErrNilType, "Resized: argument 1, t:", of(Resized(nil, 0, 1))},
		{ErrNegative, "PackSize: argument 1, count = -1:", failed(negativeErr)},
		{ErrNilType, "Dup: argument 1, t:", of(Dup(nil))},
		{ErrValue, "Subarray: argument 1, sizes:", of(Subarray(nil, nil, nil, OrderC, f))},
		{ErrLengths, "Subarray: argument 3, starts:", of(Subarray([]int{4}, []int{2}, nil, OrderC, f))},
		{ErrValue, "Subarray: argument 1, sizes[0] = 0:", of(Subarray([]int{0}, []int{0}, []int{0}, OrderC, f))},
		{ErrOutside, "Subarray: argument 2, subsizes[1] = 6: it does not fit into the array: give 1 to 5", of(Subarray([]int{4, 5}, []int{2, 6}, []int{0, 0}, OrderC, f))},
		{ErrOutside, "Subarray: argument 3, starts[0] = 3: it does not fit into the array: give 0 to 2", of(Subarray([]int{4, 5}, []int{2, 2}, []int{3, 0}, OrderC, f))},
		{ErrValue, "Subarray: argument 4, order = 7:", of(Subarray([]int{4}, []int{2}, []int{0}, 7, f))},
		{ErrTooLarge, "Subarray: argument 1, sizes[0] = 4611686018427387904:", of(Subarray([]int{1 << 62, 4}, []int{1, 1}, []int{0, 0}, OrderC, f))},
		{ErrOutside, "Darray: argument 2, rank = 4:", of(darray(4, 4, DistributeBlock, DistributeDfltDarg, 4))},
		{ErrValue, "Darray: argument 1, size = 0:", of(darray(0, 0, DistributeBlock, DistributeDfltDarg, 4))},
		{ErrValue, "Darray: argument 6, psizes: there is no such value: their product is the number of processes, 4", of(darray(4, 0, DistributeBlock, DistributeDfltDarg, 3))},
		{ErrValue, "Darray: argument 3, gsizes:", of(Darray(1, 0, nil, nil, nil, nil, OrderC, f))},
		{ErrValue, "Darray: argument 3, gsizes[0] = 0:", of(Darray(1, 0, []int{0}, []Dist{DistributeBlock}, []int{1}, []int{1}, OrderC, f))},
		{ErrLengths, "Darray: argument 6, psizes:", of(Darray(1, 0, []int{4}, []Dist{DistributeBlock}, []int{4}, []int{1, 1}, OrderC, f))},
		{ErrValue, "Darray: argument 6, psizes[0] = 0:", of(darray(4, 0, DistributeBlock, DistributeDfltDarg, 0))},
		{ErrTooLarge, "Darray: argument 3, gsizes[0] = 4611686018427387904:", of(Darray(1, 0, []int{1 << 62, 4}, []Dist{DistributeBlock, DistributeBlock}, []int{DistributeDfltDarg, DistributeDfltDarg}, []int{1, 1}, OrderC, Of(Int8)))},
		{ErrValue, "Darray: argument 4, distribs[0] = 9:", of(darray(4, 0, 9, DistributeDfltDarg, 4))},
		{ErrValue, "Darray: argument 5, dargs[0] = 0:", of(darray(4, 0, DistributeCyclic, 0, 4))},
		{ErrOutside, "Darray: argument 5, dargs[0] = 2: it does not fit into the array: blocks that hold 10 elements on 4 processes have 3 or more", of(darray(4, 0, DistributeBlock, 2, 4))},
		{ErrValue, "Darray: argument 6, psizes[0] = 4:", of(darray(4, 0, DistributeNone, DistributeDfltDarg, 4))},
		{ErrNotCommitted, "Reset: argument 1, t:", failed(c.Reset(raw, 1, memory, 0))},
		{ErrNilType, "Reset: argument 1, t:", failed(c.Reset(nil, 1, memory, 0))},
		{ErrNegative, "Reset: argument 2, count = -1:", failed(c.Reset(f, -1, memory, 0))},
		{ErrTooLarge, "Reset: argument 2, count = 4611686018427387904:", failed(c.Reset(f, 1<<62, memory, 0))},
		{ErrMemory, "Reset: argument 3, mem: the elements do not lie within the memory: 9 elements touch the bytes from 0 to 72 from the origin, the memory has those from 0 to 64", failed(c.Reset(f, 9, memory, 0))},
		{ErrMemory, "Reset: argument 3, mem:", failed(c.Reset(f, 1, memory, 57))},
		{ErrMemory, "Reset: argument 3, mem:", failed(c.Reset(must(HIndexedBlock(1, []int{-8}, f)), 1, memory, 7))},
		{ErrMemory, "Reset: argument 4, origin = -1: the elements do not lie within the memory: the memory has 64 bytes", failed(c.Reset(f, 1, memory, -1))},
		{ErrMemory, "Reset: argument 4, origin = 65:", failed(c.Reset(f, 1, memory, 65))},
		{ErrNilType, "Commit: t:", failed((*Type)(nil).Commit())},
		{ErrShort, "Pack: argument 5, dst: there is too little room for the packed bytes: 16 are packed, it has 15 from position 0 on", failed(packErr)},
		{ErrMissing, "Unpack: argument 5, src:", failed(unpackErr)},
		{ErrMemory, "PackExternal: argument 3, mem:", failed(externalErr)},
		{ErrOutside, "UnpackExternal: argument 6, pos = -1:", failed(posErr)},
		{ErrTooLarge, "PackSize: argument 1, count =", failed(sizeErr)},
		{ErrNegative, "Span: argument 1, count = -1:", failed(spanErr)},
	} {
		var arg *cause.ArgError
		switch {
		case v.t != nil:
			t.Errorf("%s: got a type", v.words)
		case !errors.As(v.err, &arg) || !errors.Is(v.err, v.is):
			t.Errorf("%s: got %v", v.words, v.err)
		case !strings.HasPrefix(v.err.Error(), v.words):
			t.Errorf("got  %v\nwant %s", v.err, v.words)
		}
	}
}

// darray distributes ten elements in one dimension.
func darray(size, rank int, d Dist, darg, processes int) (*Type, error) {
	return Darray(size, rank, []int{10}, []Dist{d}, []int{darg}, []int{processes}, OrderC, Of(Int8))
}

func TestNamesAreWords(t *testing.T) {
	_, short := Decode([]byte{encodingVersion})
	_, deep := Decode(binary.AppendVarint(binary.AppendVarint([]byte{encodingVersion, 0}, math.MinInt64), math.MaxInt64))
	for _, c := range []struct {
		got  any
		want string
	}{
		{OrderC, "C"}, {OrderFortran, "Fortran"}, {Order(7), "Order(7)"},
		{DistributeBlock, "block"}, {DistributeCyclic, "cyclic"}, {DistributeNone, "none"}, {Dist(7), "Dist(7)"},
		{CombinerDarray, "darray"}, {Combiner(0), "Combiner(0)"}, {Combiner(99), "Combiner(99)"},
		{DoubleInt, "double_int"}, {Kind(0), "Kind(0)"}, {Of(Int32), "int32"}, {(*Type)(nil), "no type"},
		{must(Vector(2, 1, 3, Of(Int32))), "vector of 8 bytes, lb 0, extent 16"},
		{short, "no encoded type: byte 1: the bytes end here"},
		{deep, "no encoded type: byte 22: " + ErrTooLarge.Error()},
	} {
		if got := fmt.Sprint(c.got); got != c.want {
			t.Errorf("%q, not %q", got, c.want)
		}
	}
}

func TestASizeJustBelowTheLimitIsFine(t *testing.T) {
	big := must(Contiguous(1<<20, must(Contiguous(1<<20, must(Contiguous(1<<19, Of(Float64)))))))
	if big.Size() != 1<<62 {
		t.Errorf("the size is %d", big.Size())
	}
	if _, err := Contiguous(2, big); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a type of 2⁶³ bytes: %v", err)
	}
	far := must(HIndexed([]int{1, 1}, []int{math.MinInt / 2, math.MaxInt/2 - 1}, Of(Int8)))
	if lb, extent := far.TrueExtent(); lb != math.MinInt/2 || extent != math.MaxInt {
		t.Errorf("true lb and extent are %d and %d", lb, extent)
	}
	if _, known := far.Overlaps(1); !known {
		t.Error("overlap of two elements is not known")
	}
}

func TestNestingHasALimit(t *testing.T) {
	deep := Of(Int8)
	var err error
	for n := 0; ; n++ {
		var next *Type
		next, err = HIndexed([]int{2, 1}, []int{0, 1 << 20 * (n + 1)}, must(Resized(deep, 0, 1<<10*(n+1))))
		if err != nil || n > 2*MaxDepth {
			break
		}
		deep = next
	}
	if !errors.Is(err, ErrTooDeep) && !errors.Is(err, ErrTooLarge) {
		t.Fatalf("nesting for ever: %v", err)
	}
	chain := Of(Int8)
	for n := range 100 {
		chain = must(Struct([]int{1, 1}, []int{0, 1000 + 100*n}, []*Type{chain, must(Vector(40, 1, 2, Of(Int16)))}))
	}
	lo, hi, _ := chain.Span(2)
	mem := make([]byte, hi-lo)
	for i := range mem {
		mem[i] = byte(i)
	}
	packed := make([]byte, 2*chain.Size())
	if _, err := Pack(chain, 2, mem, 0, packed, 0); err != nil {
		t.Fatal(err)
	}
	var c Cursor
	if err := c.Reset(chain, 2, mem, 0); err != nil {
		t.Fatal(err)
	}
	for pos := len(packed) - 1; pos >= 0; pos -= 7 {
		var one [1]byte
		c.Seek(pos)
		if c.Pack(one[:]); one[0] != packed[pos] {
			t.Fatalf("byte %d is %d, not %d", pos, one[0], packed[pos])
		}
	}
}

func TestACursorWhoseResetFailsHasNothing(t *testing.T) {
	var c Cursor
	mem := make([]byte, 16)
	if err := c.Reset(Of(Float64), 1, mem, 8); err != nil {
		t.Fatal(err)
	}
	c.Pack(make([]byte, 3))
	if err := c.Reset(Of(Float64), 1, mem, 9); err == nil {
		t.Fatal("an element outside of the memory is accepted")
	}
	c.Seek(5)
	if n := c.Pack(mem) + c.Unpack(nil) + c.Pack(nil); n != 0 || c.Len() != 0 {
		t.Errorf("%d bytes are copied, %d are left", n, c.Len())
	}
	if _, n := c.Next(9); n != 0 {
		t.Errorf("a run of %d bytes", n)
	}
}
