package datatype

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestADecodedTypeIsTheEncodedOne(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSample(rt)
		b := s.t.Encode([]byte("before"))[len("before"):]
		d, err := Decode(b)
		if err != nil {
			rt.Fatalf("%v: %x:%s", err, b, s.text)
		}
		if again := d.Encode(nil); !bytes.Equal(again, b) {
			rt.Fatalf("encoded again it is %x, not %x:%s", again, b, s.text)
		}
		s.t = d
		got := make([]byte, len(s.packed))
		s.cursor(rt, s.mem).Pack(got)
		if !bytes.Equal(got, s.packed) {
			rt.Fatalf("packed\n%v, not\n%v:%s", got, s.packed, s.text)
		}
		lb, ub := s.m.bounds()
		if l, e := d.Extent(); l != lb || e != ub-lb {
			rt.Fatalf("lb and extent are %d and %d, not %d and %d:%s", l, e, lb, ub-lb, s.text)
		}
		if !d.Committed() {
			rt.Fatal("the type is not committed")
		}
		for n := range b {
			var bad *DecodeError
			if _, err := Decode(b[:n]); !errors.As(err, &bad) {
				rt.Fatalf("%d of %d bytes: %v:%s", n, len(b), err, s.text)
			}
		}
		var bad *DecodeError
		if _, err := Decode(append(b, 0)); !errors.As(err, &bad) {
			rt.Fatalf("with a byte behind it: %v:%s", err, s.text)
		}
	})
}

func TestAnEncodedTypeIsAsShortAsItsArguments(t *testing.T) {
	column := must(Vector(4096, 1, 4096, Of(Float64)))
	matrix := must(Contiguous(4096, must(Resized(column, 0, 8))))
	if n := len(matrix.Encode(nil)); n > 24 {
		t.Errorf("a transposed matrix takes %d bytes", n)
	}
	fields, places, disps := make([]*Type, 16), make([]int, 16), make([]int, 10000)
	for i := range fields {
		fields[i], places[i] = Of(Bool+Kind(i%5)), 20*i
	}
	ones := []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
	for i := range disps {
		disps[i] = 2*i + i%3&1
	}
	records := must(IndexedBlock(1, disps, must(Struct(ones, places, fields))))
	if n := len(records.Encode(nil)); n > 4*len(disps) {
		t.Errorf("%d blocks of records take %d bytes", len(disps), n)
	}
	twice := Of(Int32)
	for range 50 {
		twice = must(Struct([]int{1, 1}, []int{0, 1 << 20}, []*Type{twice, must(Dup(twice))}))
		if n := len(twice.Encode(nil)); n > 1000 {
			t.Fatalf("a type that is used twice at each level takes %d bytes", n)
		}
	}
}

func TestBytesThatAreNoTypeAreRefused(t *testing.T) {
	head := func(nodes ...byte) []byte { return append([]byte{encodingVersion, flagNode, 0, 2, 0}, nodes...) }
	run := []byte{byte(opRun), byte(Byte), 1}
	after := func(more ...byte) []byte { return head(append(append([]byte{2}, run...), more...)...) }
	most := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f} // 2⁶³−1
	far := binary.AppendVarint(binary.AppendVarint([]byte{encodingVersion, 0}, math.MinInt64), math.MaxInt64)
	if _, err := Decode(head(append([]byte{1}, run...)...)); err != nil {
		t.Fatalf("one byte: %v", err)
	}
	for what, b := range map[string][]byte{
		"nothing":                              nil,
		"another version":                      {encodingVersion + 1, 0, 0, 0},
		"unknown flags":                        {encodingVersion, 8, 0, 0},
		"an extent above 2⁶³":                  far,
		"no nodes":                             head(0),
		"more nodes than bytes":                head(append([]byte{99}, run...)...),
		"an unknown node":                      head(1, 9, 1, 1),
		"an unknown kind":                      head(1, byte(opRun), byte(lastKind)+1, 1),
		"no elements":                          head(1, byte(opRun), byte(Byte), 0),
		"a repetition of nothing":              head(1, byte(opRep), 2, 8, 1),
		"no repetitions":                       after(byte(opRep), 0, 8, 1),
		"a child that is not there":            after(byte(opRep), 2, 8, 2),
		"itself as a child":                    after(byte(opRep), 2, 8, 0),
		"a list without items":                 after(byte(opRuns), byte(Byte), 0, 1, 1),
		"a list that is longer than the bytes": after(byte(opRuns), byte(Byte), 100, 1, 1),
		"an empty run in a list":               after(byte(opRuns), byte(Byte), 2, 8, 1, 0),
		"a list of neither all nor one":        after(byte(opSeq), 3, 8, 8, 2, 1, 1),
		"a size above 2⁶³":                     after(append(append([]byte{byte(opRep)}, 2, 0, 1), append([]byte{byte(opRun), byte(Int64)}, most...)...)...),
		"elements above 2⁶³ bytes":             head(append([]byte{1, byte(opRun), byte(Int64)}, most...)...),
	} {
		var bad *DecodeError
		if got, err := Decode(b); got != nil || !errors.As(err, &bad) {
			t.Errorf("%s: %v, %v", what, got, err)
		}
	}
	deep := []byte{encodingVersion, flagNode, 0, 2, 0, 0xac, 2} // 300 nodes
	deep = append(deep, run...)
	for range 299 {
		deep = append(deep, byte(opRep), 1, 0, 1)
	}
	if _, err := Decode(deep); !errors.Is(err, ErrTooDeep) {
		t.Errorf("300 levels: %v", err)
	}
}

// FuzzDecode decodes anything, and copies with what comes out.
func FuzzDecode(f *testing.F) {
	for _, t := range examples() {
		f.Add(t.Encode(nil), 2)
	}
	f.Fuzz(func(t *testing.T, b []byte, count int) {
		d, err := Decode(b)
		if err != nil {
			var bad *DecodeError
			if !errors.As(err, &bad) {
				t.Fatalf("%v is no DecodeError", err)
			}
			return
		}
		again, err := Decode(d.Encode(nil))
		if err != nil || again.Size() != d.Size() || again.Sig(1) != d.Sig(1) {
			t.Fatalf("encoded again: %v, %v, %v", d, again, err)
		}
		useDecoded(t, d, count&3)
	})
}

// useDecoded does with a type what a rank does with one from another rank.
func useDecoded(t *testing.T, d *Type, count int) {
	lo, hi, err := d.Span(count)
	lo, hi = min(lo, 0), max(hi, 0)
	if err != nil || lo < -1<<20 || hi > 1<<20 || d.Size() > 1<<20 {
		return
	}
	mem := make([]byte, hi-lo)
	for i := range mem {
		mem[i] = byte(i * 7)
	}
	var c Cursor
	if err := c.Reset(d, count, mem, -lo); err != nil {
		t.Fatal(err)
	}
	packed := make([]byte, c.Size())
	if n := c.Pack(packed); n != len(packed) {
		t.Fatalf("packed %d of %d bytes", n, len(packed))
	}
	if c.Size() > 1<<12 {
		return
	}
	for pos := range packed {
		c.Seek(pos)
		var one [1]byte
		if c.Pack(one[:]); one[0] != packed[pos] {
			t.Fatalf("byte %d is %d, not %d", pos, one[0], packed[pos])
		}
	}
	elements := 0
	for e := range d.Elements(count, 0, len(packed)) {
		elements += e.N * e.Kind.basics()
	}
	if elements != d.Basics()*count {
		t.Fatalf("visited %d elements of %d", elements, d.Basics()*count)
	}
	if overlaps, known := d.Overlaps(count); !overlaps && known {
		into := make([]byte, len(mem))
		if _, err := Unpack(d, count, into, -lo, packed, 0); err != nil {
			t.Fatal(err)
		}
		again := make([]byte, len(packed))
		if _, err := Pack(d, count, into, -lo, again, 0); err != nil || !bytes.Equal(again, packed) {
			t.Fatalf("packed, unpacked and packed again, bytes differ: %v", err)
		}
	}
}

func must(t *Type, err error) *Type {
	if err != nil {
		panic(err)
	}
	if err := t.Commit(); err != nil {
		panic(err)
	}
	return t
}

// examples are types of all shapes that programs know.
func examples() []*Type {
	pair := must(Struct([]int{1, 1}, []int{0, 8}, []*Type{Of(Int32), Of(Float64)}))
	column := must(Vector(8, 1, 8, Of(Float64)))
	return []*Type{Of(Byte), Of(DoubleInt), Of(ShortInt), pair, column,
		must(Contiguous(3, Of(ShortInt))), must(Contiguous(0, Of(Byte))),
		must(Vector(3, 2, -4, pair)), must(Contiguous(8, must(Resized(column, 0, 8)))),
		must(Indexed([]int{3, 1, 2}, []int{0, 9, 4}, Of(Uint16))), must(Indexed([]int{3, 1, 2}, []int{0, 9, 4}, pair)),
		must(IndexedBlock(2, []int{0, 3, 7}, Of(ShortInt))), must(HIndexedBlock(1, []int{0, 100, 50}, column)),
		must(Subarray([]int{4, 5, 6}, []int{2, 3, 4}, []int{1, 1, 1}, OrderC, Of(Complex64))),
		must(Darray(4, 3, []int{7, 9}, []Dist{DistributeCyclic, DistributeBlock}, []int{2, DistributeDfltDarg}, []int{2, 2}, OrderFortran, Of(Int8)))}
}
