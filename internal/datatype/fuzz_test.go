package datatype

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/weft-mpi/weft/mpi/cause"
	"pgregory.net/rapid"
)

// FuzzConstructors calls constructors with numbers that the fuzzer chooses, the
// impossible ones too: each call gives a type that can be used, or an *ArgError.
func FuzzConstructors(f *testing.F) {
	f.Add([]byte{1, 3, 1, 2, 4, 2, 6, 5, 1, 1, 4, 0, 8})
	f.Add(bytes.Repeat([]byte{4, 2, 250, 3}, 9))
	f.Add(bytes.Repeat([]byte{10, 2, 3, 4, 1, 2, 0, 1}, 5))
	f.Add([]byte{11, 4, 1, 2, 5, 7, 0, 1, 255, 255, 2, 2, 1})
	f.Add([]byte{9, 2, 255, 128, 255, 64, 8, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		d := fuzzed{b: b}
		known := []*Type{Of(Byte), Of(Int32), Of(DoubleInt), Of(ShortInt)}
		for len(d.b) > 0 && len(known) < 12 {
			old := known[d.below(len(known))]
			made, err := d.construct(old, known)
			var arg *cause.ArgError
			switch {
			case err == nil:
				if err := made.Commit(); err != nil {
					t.Fatal(err)
				}
				known = append(known, made)
			case !errors.As(err, &arg) || made != nil:
				t.Fatalf("%v, %v is no ArgError", made, err)
			}
		}
		last := known[len(known)-1]
		if decoded, err := Decode(last.Encode(nil)); err != nil || decoded.Sig(2) != last.Sig(2) {
			t.Fatalf("%v decoded: %v, %v", last, decoded, err)
		}
		if again, err := rebuild(last); err != nil || !bytes.Equal(again.Encode(nil), last.Encode(nil)) {
			t.Fatalf("%v made again: %v, %v", last, again, err)
		}
		useDecoded(t, last, 2)
	})
}

// fuzzed gives numbers out of the fuzzer's bytes.
type fuzzed struct{ b []byte }

func (d *fuzzed) below(n int) int {
	if len(d.b) == 0 {
		return 0
	}
	v := int(d.b[0]) % n
	d.b = d.b[1:]
	return v
}

// int is a number near 0, mostly; behind the byte 255 any number.
func (d *fuzzed) int() int {
	if len(d.b) > 0 && d.b[0] == 255 {
		var all [8]byte
		d.b = d.b[1:]
		d.b = d.b[copy(all[:], d.b):]
		return int(binary.BigEndian.Uint64(all[:]))
	}
	return d.below(255)%40 - 8
}

func (d *fuzzed) ints() []int {
	list := make([]int, d.below(5))
	for i := range list {
		list[i] = d.int()
	}
	return list
}

func (d *fuzzed) construct(old *Type, known []*Type) (*Type, error) {
	switch d.below(12) {
	case 0:
		return Contiguous(d.int(), old)
	case 1:
		return Vector(d.int(), d.int(), d.int(), old)
	case 2:
		return HVector(d.int(), d.int(), d.int(), old)
	case 3:
		return Indexed(d.ints(), d.ints(), old)
	case 4:
		return HIndexed(d.ints(), d.ints(), old)
	case 5:
		return IndexedBlock(d.int(), d.ints(), old)
	case 6:
		return HIndexedBlock(d.int(), d.ints(), old)
	case 7:
		return Resized(old, d.int(), d.int())
	case 8:
		return Dup(old)
	case 9:
		lens, disps, types := d.ints(), d.ints(), make([]*Type, d.below(5))
		for i := range types {
			types[i] = known[d.below(len(known))]
		}
		return Struct(lens, disps, types)
	case 10:
		return Subarray(d.ints(), d.ints(), d.ints(), []Order{OrderC, OrderFortran, 0}[d.below(3)], old)
	default:
		dists := make([]Dist, d.below(4))
		for i := range dists {
			dists[i] = DistributeNone + Dist(d.below(4))
		}
		return Darray(d.int(), d.int(), d.ints(), dists, d.ints(), d.ints(), []Order{OrderC, OrderFortran, 0}[d.below(3)], old)
	}
}

// FuzzUnpack unpacks the fuzzer's bytes in the fuzzer's pieces into elements of
// random types, which the fuzzer chooses by rapid's bytes.
func FuzzUnpack(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8})
	f.Fuzz(rapid.MakeFuzz(func(rt *rapid.T) {
		s := drawSample(rt)
		if s.overlaps {
			return
		}
		guarded := append(bytes.Repeat([]byte{0x5A}, len(s.mem)), 0x5A, 0x5A)
		mem := guarded[:len(s.mem):len(s.mem)]
		c := s.cursor(rt, mem)
		pieces(rt, len(s.packed), func(from, to int) { c.Unpack(s.packed[from:to]) })
		want := append(bytes.Repeat([]byte{0x5A}, len(s.mem)), 0x5A, 0x5A)
		for i, at := range s.where {
			want[at] = s.packed[i]
		}
		if !bytes.Equal(guarded, want) {
			rt.Fatalf("memory is\n%v, not\n%v:%s", guarded, want, s.text)
		}
	}))
}
