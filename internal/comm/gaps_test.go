package comm

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/pt2pt"
)

// other is every other byte of some memory.
type other struct {
	mem   []byte
	aside bool // long copies are made without the loop
	loop  string
}

// otherOf is memory with b between bytes that stay as they are.
func otherOf(b []byte, aside bool) *other {
	o := &other{mem: bytes.Repeat([]byte{0xA5}, 2*len(b)), aside: aside}
	o.put(b, 0)
	return o
}

func (o *other) get(dst []byte, at int) {
	for i := range dst {
		dst[i] = o.mem[2*(at+i)]
	}
}

func (o *other) put(src []byte, at int) {
	for i, b := range src {
		o.mem[2*(at+i)] = b
	}
}

func (o *other) Pack(dst []byte, at int) {
	o.look(len(dst))
	o.get(dst, at)
}

func (o *other) Unpack(src []byte, at int) {
	o.look(len(src))
	o.put(src, at)
}

// look records a long copy that the owner of the loop makes.
func (o *other) look(n int) {
	if o.aside && n >= longCombine && !strings.Contains(string(debug.Stack()), "progress.Try(") {
		o.loop = "a long copy is made by the owner of the loop"
	}
}

func (o *other) CopyTo(dst Gapped, to, at, n int) {
	o.look(n)
	b := make([]byte, n)
	o.get(b, at)
	dst.(*other).put(b, to)
}

func (o *other) Part(at, n int) pt2pt.Data {
	return pt2pt.Data{Layout: otherPart{o, at}, Size: uint64(n)}
}

type otherPart struct {
	of *other
	at int
}

func (p otherPart) Pack(dst []byte, at uint64)   { p.of.get(dst, p.at+int(at)) }
func (p otherPart) Unpack(src []byte, at uint64) { p.of.put(src, p.at+int(at)) }
func (p otherPart) Free()                        {}

// is reports whether the memory has b, and nothing else was written.
func (o *other) is(b []byte) bool { return bytes.Equal(o.mem, otherOf(b, false).mem) }

// Plans around gaps are carried out by both ways: with In, Out, or both not in one
// range, long or short, in place, and with memory that a message uses directly.
func TestAPlanIsCarriedOutAroundGaps(t *testing.T) {
	type block struct {
		call     coll.Call
		in, out  int // blocks
		reduces  bool
		rootOnly bool // Out is the root's
	}
	for way, call := range ways {
		for _, n := range []int{1, 100, 20_000} {
			for size := 1; size <= 4; size++ {
				for _, gaps := range []coll.Gaps{coll.GapsIn, coll.GapsOut, coll.GapsIn | coll.GapsOut} {
					t.Run(fmt.Sprintf("%s/%d ranks/%d words/gaps %d", way, size, n, gaps), func(t *testing.T) {
						noErrors(t, each(engines(t, size), func(ctx context.Context, in *Instance) error {
							c := in.World
							var first error // told in the end: the other ranks wait for the calls of this one
							for _, b := range []block{{coll.Allreduce, 1, 1, true, false}, {coll.Scan, 1, 1, true, false}, {coll.Allgather, 1, size, false, false},
								{coll.Alltoall, size, size, false, false}, {coll.Gather, 1, size, false, true}} {
								for _, inPlace := range []bool{false, true} {
									if inPlace && (b.call == coll.Gather || gaps&coll.GapsOut == 0) {
										continue
									}
									k := PlanKey{Call: b.call, Elem: 8, Count: n, InPlace: inPlace, Gaps: gaps}
									if err := aroundGaps(ctx, c, way, call, &k, b.in*n, b.out*n, b.reduces, b.rootOnly); err != nil && first == nil {
										first = fmt.Errorf("%v, in place %t: %w", b.call, inPlace, err)
									}
								}
							}
							return first
						}))
					})
				}
			}
		}
	}
}

// word is a word of a rank's input.
func word(rank, i int) uint64 { return uint64(rank)<<32 | uint64(i+1) }

func aroundGaps(ctx context.Context, c *Comm, way string, call func(context.Context, *Comm, coll.Call, *coll.Plan, Operands) error,
	k *PlanKey, in, out int, reduces, rootOnly bool) error {
	put := func(b []byte, at, rank, from int) {
		for i := range k.Count {
			binary.LittleEndian.PutUint64(b[8*(at+i):], word(rank, from+i))
		}
	}
	input, result, want := make([]byte, 8*in), make([]byte, 8*out), make([]byte, 8*out)
	for at := 0; at < in; at += k.Count {
		put(input, at, c.Rank, at)
	}
	for r := range c.Size {
		switch k.Call {
		case coll.Allgather, coll.Gather:
			put(want, r*k.Count, r, 0)
		case coll.Alltoall:
			put(want, r*k.Count, r, c.Rank*k.Count)
		}
	}
	last := c.Size - 1
	if k.Call == coll.Scan {
		last = c.Rank
	}
	for i := 0; reduces && i < k.Count; i++ {
		sum := uint64(0)
		for r := range last + 1 {
			sum += word(r, i)
		}
		binary.LittleEndian.PutUint64(want[8*i:], sum)
	}
	if k.InPlace {
		at := 0
		if k.Call == coll.Allgather {
			at = c.Rank * k.Count
		}
		copy(result[8*at:], input)
	}
	o := Operands{In: input, Out: result, Elem: 8, Gaps: new(Gaps)}
	gapsIn, gapsOut := otherOf(input, way == "nonblocking"), otherOf(result, way == "nonblocking")
	if k.Gaps&coll.GapsIn != 0 {
		o.In, o.Gaps.In = nil, gapsIn
	}
	if k.Gaps&coll.GapsOut != 0 {
		o.Out, o.Gaps.Out = nil, gapsOut
	}
	if k.InPlace {
		o.In, o.Gaps.In = nil, nil
	}
	if rootOnly && c.Rank > 0 {
		o.Out, o.Gaps.Out = nil, nil
		want = result
	}
	o.Combine = func(lower, upper, to []byte) {
		for i := 0; i < len(to); i += 8 {
			binary.LittleEndian.PutUint64(to[i:], binary.LittleEndian.Uint64(lower[i:])+binary.LittleEndian.Uint64(upper[i:]))
		}
	}
	if err := call(ctx, c, k.Call, c.Plan(k), o); err != nil {
		return err
	}
	got := otherOf(result, false)
	if k.Gaps&coll.GapsOut != 0 {
		got = gapsOut
	}
	switch {
	case !got.is(want):
		return fmt.Errorf("rank %d of %d has another result, or its gaps are written", c.Rank, c.Size)
	case !gapsIn.is(input):
		return fmt.Errorf("the input of rank %d is written", c.Rank)
	case gapsIn.loop+gapsOut.loop != "":
		return fmt.Errorf("%s", gapsIn.loop+gapsOut.loop)
	}
	return nil
}
