package datatype

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// Types that programs use, large enough for every loop of the kernels: packed and
// unpacked in pieces of many lengths, against the runs.
func TestLargeTypesOfAllBlockLengths(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var types []*Type
	for b := range 140 {
		if b > 70 && b%13 != 0 {
			continue // these lengths share a loop
		}
		old := must(Contiguous(b+1, Of(Byte)))
		disps := random.Perm(200)
		types = append(types,
			must(Vector(200, 1, 3, old)),
			must(IndexedBlock(1, disps, old)),
			must(Vector(90, 3, 4, must(Resized(old, 0, 2*b+3)))),                                // rows of three blocks
			must(HVector(5, 1, 50*(3*b+7), must(HVector(40, 1, 3*b+7, old)))),                   // long rows
			must(HVector(90, 1, 4*b+20, must(HIndexedBlock(1, []int{0, b + 3, 3*b + 8}, old))))) // a list in rows
	}
	for _, b := range []int{1023, mostLines - 1, mostLines, mostLines + 1} {
		types = append(types, must(HVector(20, 1, b+40, must(Contiguous(b, Of(Byte))))))
	}
	lens, disps := make([]int, 200), make([]int, 200)
	for i := range lens {
		lens[i], disps[i] = 1+random.IntN(90), 100*i
	}
	irregular := must(HIndexed(lens, disps, Of(Byte)))
	types = append(types, irregular, must(Contiguous(7, irregular)))
	for _, typ := range types {
		checkAgainstRuns(t, random, typ)
	}
}

func checkAgainstRuns(t *testing.T, random *rand.Rand, typ *Type) {
	t.Helper()
	lo, hi, err := typ.Span(2)
	if err != nil || lo < 0 {
		t.Fatalf("%v: span from %d: %v", typ, lo, err)
	}
	mem := make([]byte, hi)
	noise := make([]byte, 997) // a prime: no two blocks are alike
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	for at := 0; at < hi; at += len(noise) {
		copy(mem[at:], noise)
	}
	var runs, c Cursor
	if err := runs.Reset(typ, 2, mem, 0); err != nil {
		t.Fatal(err)
	}
	var want []byte
	for off, n := range runs.Runs(1 << 40) {
		want = append(want, mem[off:off+n]...)
	}
	if err := c.Reset(typ, 2, mem, 0); err != nil {
		t.Fatal(err)
	}
	into := make([]byte, hi)
	var back Cursor
	if err := back.Reset(typ, 2, into, 0); err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(want); {
		piece := make([]byte, 1+random.IntN(4000))
		n := c.Pack(piece)
		if string(piece[:n]) != string(want[at:at+n]) {
			t.Fatalf("%v: bytes %d to %d differ", typ, at, at+n)
		}
		if back.Unpack(piece[:n]) != n {
			t.Fatalf("%v: unpacked less than %d bytes", typ, n)
		}
		at += n
	}
	runs.Seek(0)
	for off, n := range runs.Runs(1 << 40) {
		if string(into[off:off+n]) != string(mem[off:off+n]) {
			t.Fatalf("%v: unpacked bytes at %d differ", typ, off)
		}
		clear(into[off : off+n])
	}
	if n := len(into) - bytes.Count(into, []byte{0}); n != 0 {
		t.Fatalf("%v: %d bytes are written that belong to no element", typ, n)
	}
}

func TestAnAlmostRegularListIsNoVector(t *testing.T) {
	record := must(Struct([]int{1, 1}, []int{0, 8}, []*Type{Of(Int32), Of(Float64)}))
	random := rand.New(rand.NewPCG(3, 4))
	for at := range 40 {
		disps := make([]int, 40)
		for i := range disps {
			disps[i] = 3 * i
			if i > at {
				disps[i]++
			}
		}
		checkAgainstList(t, disps, 8, must(IndexedBlock(1, disps, Of(Float64))))
		checkAgainstList(t, disps, 16, must(IndexedBlock(1, disps, record)))
		checkAgainstList(t, disps, 12, must(IndexedBlock(1, disps, must(Contiguous(3, Of(Float32))))))
		checkAgainstRuns(t, random, must(IndexedBlock(1, disps, record)))
	}
}

// checkAgainstList compares where the blocks of a list begin.
func checkAgainstList(t *testing.T, disps []int, extent int, typ *Type) {
	t.Helper()
	_, hi, _ := typ.Span(1)
	var c Cursor
	if err := c.Reset(typ, 1, make([]byte, hi), 0); err != nil {
		t.Fatal(err)
	}
	for i, d := range disps {
		c.Seek(i * typ.Size() / len(disps))
		if off, _ := c.Next(1); off != d*extent {
			t.Fatalf("block %d of %v begins at %d, not %d", i, disps, off, d*extent)
		}
	}
}

func TestOverlapOfLargeTypes(t *testing.T) {
	column := must(Vector(4096, 1, 4096, Of(Float64)))
	columns := must(Resized(column, 0, 8))
	many := must(Vector(1<<21, 1, 2, Of(Int32)))
	random := make([]int, mostRuns+1)
	for i := range random {
		random[i] = 16*i + i%2
	}
	for _, c := range []struct {
		what            string
		t               *Type
		count           int
		overlaps, known bool
	}{
		{"the columns of a matrix", columns, 4096, false, true},
		{"one column too many", must(Resized(must(Vector(512, 1, 512, Of(Float64))), 0, 8)), 513, true, true},
		{"one column too many of a large matrix", columns, 4097, true, true},
		{"one of every other column too many, among more blocks than are looked at", must(Resized(column, 0, 16)), 2049, false, false},
		{"a vector", many, 1, false, true},
		{"vectors between one another", must(Resized(many, 0, 4)), 2, false, true},
		{"a sorted list of more blocks than are looked at", must(HIndexedBlock(1, random, Of(Int32))), 1, false, true},
		{"twice one element", must(Resized(Of(Int32), 0, 0)), 2, true, true},
		{"elements that share a byte", must(Resized(Of(Int32), 0, 3)), 5, true, true},
		{"elements backwards", must(Resized(Of(Int32), 0, -4)), 5, false, true},
		{"nothing", columns, 0, false, true},
	} {
		for range 2 { // the second answer is a kept one
			if overlaps, known := c.t.Overlaps(c.count); overlaps != c.overlaps || known != c.known {
				t.Errorf("%s: overlaps %v, known %v", c.what, overlaps, known)
			}
		}
	}
	raw, _ := Contiguous(3, Of(Int8))
	if _, known := raw.Overlaps(1); known {
		t.Error("a type that is not committed has an answer")
	}
}

func TestCopyingDoesNotAllocate(t *testing.T) {
	for _, typ := range examples() {
		lo, hi, _ := typ.Span(2)
		mem, buf := make([]byte, hi-min(lo, 0)), make([]byte, 2*typ.Size())
		var c Cursor
		if n := testing.AllocsPerRun(100, func() {
			if err := c.Reset(typ, 2, mem, -min(lo, 0)); err != nil {
				t.Fatal(err)
			}
			c.Pack(buf)
			c.Seek(len(buf) / 2)
			c.Unpack(buf)
			c.Seek(0)
			for _, n := c.Next(64); n > 0; _, n = c.Next(64) {
			}
			_, _ = typ.Overlaps(2)
		}); n != 0 {
			t.Errorf("%v: %v allocations", typ, n)
		}
	}
}
