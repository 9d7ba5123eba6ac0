package mpi_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// FuzzDatatypes makes types and views with numbers that the fuzzer chooses, the impossible
// ones too, packs them and unpacks the fuzzer's bytes into them. Each call does so or is
// refused with an error of some class, and no byte outside of the memory is touched.
func FuzzDatatypes(f *testing.F) {
	f.Add([]byte{0, 9, 1, 9, 10, 12, 1, 2, 1, 11, 12, 9, 9, 9, 200, 100})
	f.Add(bytes.Repeat([]byte{1, 11, 10, 12, 2}, 9))
	f.Add(bytes.Repeat([]byte{8, 2, 11, 12, 2, 10, 9, 2, 8, 8, 1}, 5))
	f.Add([]byte{1, 255, 127, 255, 255, 255, 255, 255, 255, 255, 9, 12, 0})
	f.Add([]byte{9, 2, 12, 11, 2, 9, 9, 2, 8, 9, 1, 4, 4})
	f.Fuzz(func(t *testing.T, b []byte) {
		d := chosen{b}
		types := []*mpi.Datatype{mpi.TypeByte, mpi.TypeInt32, mpi.TypeDoubleInt, mpi.TypeShortInt, nil}
		for len(d.b) > 0 && len(types) < 10 {
			made, err := d.construct(types)
			if !refusal(err) || (err == nil) != (made != nil) {
				t.Fatalf("%v, %v", made, err)
			}
			if err == nil {
				if d.below(4) > 0 {
					ok(made.Commit())
				}
				if again, err := rebuilt(made); err != nil || again.Size() != made.Size() {
					t.Fatalf("%v made again: %v, %v", made, again, err)
				}
				types = append(types, made)
			}
		}
		guarded := slices.Repeat([]int32{0x5A5A5A5A}, 64)
		mem := guarded[8:56:56]
		bufs := []mpi.Buf{
			mpi.As(types[len(types)-1], mem, d.int()).At(d.int()),
			mpi.Strided(mem, d.int(), d.int(), d.int()), mpi.Subarray(mem, d.ints(), d.ints(), d.ints()), mpi.Indexed(mem, d.ints(), d.ints()),
		}
		for _, buf := range bufs {
			if !refusal(buf.Err()) {
				t.Fatal(buf.Err())
			}
			out := bytes.Repeat([]byte{0x5A}, 400)
			next, err := mpi.Pack(buf, out[8:392:392], d.int())
			if !refusal(err) || err != nil && !bytes.Equal(out, bytes.Repeat([]byte{0x5A}, 400)) {
				t.Fatalf("packed %v to %d: %v", buf.Type(), next, err)
			}
			for _, unpack := range []func([]byte, int, mpi.Buf) (int, error){mpi.Unpack, mpi.UnpackExternal} {
				if _, err := unpack(b, d.int(), buf); !refusal(err) {
					t.Fatal(err)
				}
			}
			for i, v := range guarded {
				if (i < 8 || i >= 56) && v != 0x5A5A5A5A {
					t.Fatalf("%v has written to word %d", buf.Type(), i)
				}
			}
		}
	})
}

// refusal reports whether an error is nil or one that says which argument is bad.
func refusal(err error) bool {
	e, is := errors.AsType[*mpi.Error](err)
	return err == nil || is && slices.Contains([]mpi.Class{mpi.ErrType, mpi.ErrCount, mpi.ErrArg, mpi.ErrBuffer}, e.Class) && e.Err != nil
}

// chosen gives numbers out of the fuzzer's bytes.
type chosen struct{ b []byte }

func (d *chosen) below(n int) int {
	if len(d.b) == 0 {
		return 0
	}
	v := int(d.b[0]) % n
	d.b = d.b[1:]
	return v
}

// int is a number near 0, mostly; behind the byte 255 any number.
func (d *chosen) int() int {
	if len(d.b) > 0 && d.b[0] == 255 {
		var all [8]byte
		d.b = d.b[1:]
		d.b = d.b[copy(all[:], d.b):]
		return int(binary.BigEndian.Uint64(all[:]))
	}
	return d.below(255)%40 - 8
}

func (d *chosen) ints() []int {
	list := make([]int, d.below(5))
	for i := range list {
		list[i] = d.int()
	}
	return list
}

func (d *chosen) order() mpi.Order {
	return []mpi.Order{mpi.OrderC, mpi.OrderFortran, 0}[d.below(3)]
}

func (d *chosen) construct(known []*mpi.Datatype) (*mpi.Datatype, error) {
	old := known[d.below(len(known))]
	switch d.below(12) {
	case 0:
		return mpi.TypeContiguous(d.int(), old)
	case 1:
		return mpi.TypeVector(d.int(), d.int(), d.int(), old)
	case 2:
		return mpi.TypeHvector(d.int(), d.int(), d.int(), old)
	case 3:
		return mpi.TypeIndexed(d.ints(), d.ints(), old)
	case 4:
		return mpi.TypeHindexed(d.ints(), d.ints(), old)
	case 5:
		return mpi.TypeIndexedBlock(d.int(), d.ints(), old)
	case 6:
		return mpi.TypeHindexedBlock(d.int(), d.ints(), old)
	case 7:
		return mpi.TypeResized(old, d.int(), d.int())
	case 8:
		return mpi.TypeSubarray(d.ints(), d.ints(), d.ints(), d.order(), old)
	case 9:
		dists := make([]mpi.Dist, d.below(4))
		for i := range dists {
			dists[i] = mpi.DistributeNone + mpi.Dist(d.below(4))
		}
		return mpi.TypeDarray(d.int(), d.int(), d.ints(), dists, d.ints(), d.ints(), d.order(), old)
	case 10:
		lens, disps, types := d.ints(), d.ints(), make([]*mpi.Datatype, d.below(5))
		for i := range types {
			types[i] = known[d.below(len(known))]
		}
		return mpi.TypeStruct(lens, disps, types)
	default:
		return old.Dup()
	}
}
