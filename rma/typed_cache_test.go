package rma

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/datatype"
	"github.com/weft-mpi/weft/internal/op"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// sentTo is how many types have left for a peer.
func sentTo(w *Win, p fabric.Peer) (n uint32) {
	w.e.loop.Exclusive(func() { n = w.e.lanes[p].types.last })
	return n
}

// A type leaves once, whichever windows use it, and however often it is made.
func TestATypeIsSentOnce(t *testing.T) {
	g := newRig(t, 2, packets)
	one, two := g.windows(t, 16, 800), g.windows(t, 32, 800)
	for _, all := range [][]*Win{one, two} {
		locked(t, all[:1], func(ctx context.Context, w *Win) error {
			for i := range 20 {
				x := Typed{Target: 1, At: 8, Type: numbered(20, 3, i%3), Count: 1, Src: flat(pattern(160, i, 0))}
				if err := errors.Join(w.DoTyped(&x), w.flush(ctx, 1, false)); err != nil {
					return err
				}
				for k := range 20 {
					if got, want := all[1].mem[8+8*(i%3+3*k):][:8], pattern(160, i, 0)[8*k:][:8]; !bytes.Equal(got, want) {
						return fmt.Errorf("element %d is % x, want % x", k, got, want)
					}
				}
			}
			return nil
		})
	}
	if n := sentTo(one[0], 1); n != 3 {
		t.Errorf("%d types were sent, want 3", n)
	}
}

// With more types than the target keeps they leave again, those that were not used for
// longest first.
func TestATypeThatWasEvictedIsSentAgain(t *testing.T) {
	g := newRig(t, 2, packets)
	all := g.windows(t, 16, 4000)
	use := func(list ...int) {
		t.Helper()
		locked(t, all[:1], func(ctx context.Context, w *Win) error {
			for _, i := range list {
				x := Typed{Code: op.CodeSum, Kind: op.Int64, Target: 1, Type: numbered(3, 2+i, i), Count: 1, Src: flatInts(ints(1, 1, 1))}
				if err := w.DoTyped(&x); err != nil {
					return err
				}
			}
			return nil
		})
	}
	want := make([]int64, 500)
	add := func(list ...int) {
		for _, i := range list {
			for k := range 3 {
				want[i+k*(2+i)]++
			}
		}
	}
	full := make([]int, maxTypes)
	for i := range full {
		full[i] = i
	}
	for _, c := range []struct {
		list []int
		sent uint32
	}{
		{full, maxTypes},
		{full, maxTypes},
		{[]int{0, maxTypes}, maxTypes + 1}, // leaves in place of 1
		{[]int{0, 2, 3}, maxTypes + 1},
		{[]int{1}, maxTypes + 2}, // in place of 4
		{[]int{4, 5}, maxTypes + 4},
	} {
		use(c.list...)
		add(c.list...)
		if n := sentTo(all[0], 1); n != c.sent {
			t.Errorf("%d types were sent, want %d", n, c.sent)
		}
	}
	for i, v := range want {
		if got := int64(binary.NativeEndian.Uint64(all[1].mem[8*i:])); got != v {
			t.Errorf("element %d is %d, want %d", i, got, v)
		}
	}
}

// A type whose code is too long does not leave: its pieces do.
func TestATypeThatIsTooLongGoesInItsPieces(t *testing.T) {
	const n = 3000
	disps := make([]int, n)
	for i := range disps {
		disps[i] = 2*i + i*i%7*20000
	}
	long := must(datatype.HIndexedBlock(1, disps, datatype.Of(datatype.Byte)))
	if len(long.Encode(nil)) <= n {
		t.Fatal("the code is short")
	}
	g := newRig(t, 2, packets)
	g.engines[0].encodings.longest = n
	all := g.windows(t, 16, 150000)
	src, got := pattern(n, 1, 2), make([]byte, n)
	locked(t, all[:1], func(ctx context.Context, w *Win) error {
		return errors.Join(w.DoTyped(&Typed{Target: 1, At: 5, Type: long, Count: 1, Src: flat(src)}), w.flush(ctx, 1, false),
			w.DoTyped(&Typed{Target: 1, At: 5, Type: long, Count: 1, Old: flat(got)}))
	})
	if !bytes.Equal(got, src) {
		t.Error("what was put does not come back")
	}
	for i, at := range disps {
		if all[1].mem[5+at] != src[i] {
			t.Fatalf("byte %d is not where its type says", i)
		}
	}
	if n := sentTo(all[0], 1); n != 0 {
		t.Errorf("%d types were sent", n)
	}
	// In a dynamic window the target looks at all of it, before it writes anything.
	dynamic, whole := g.dynamic(t, 32), make([]byte, 150000)
	addr, err := dynamic[1].Attach(whole[:100000])
	if err != nil {
		t.Fatal(err)
	}
	locked(t, dynamic[:1], func(ctx context.Context, w *Win) error {
		for _, at := range []int{-1, 20000} {
			if err := w.DoTyped(&Typed{Target: 1, At: int(addr) + at, Type: long, Count: 1, Src: flat(src)}); err != nil {
				return err
			}
			if err := w.flush(ctx, 1, false); !errors.As(err, new(*RangeError)) {
				return fmt.Errorf("at %d: %v", at, err)
			}
		}
		return nil
	})
	if !bytes.Equal(whole, make([]byte, len(whole))) {
		t.Error("an operation that was refused has written")
	}
}

// An operation whose type the target does not have, or can't read, is refused in words,
// and the next one is not.
func TestAnUnknownTypeIsRefusedInWords(t *testing.T) {
	g := newRig(t, 2, packets)
	all := g.windows(t, 16, 64)
	good := numbered(3, 2, 0).Encode(nil)
	type row struct {
		name  string
		id    uint32
		code  []byte // sent before, if there is any
		named uint32 // by the operation
		fine  bool
	}
	for _, c := range []row{
		{"a type that was never sent", 0, nil, 77, false},
		{"number 0", 0, nil, 0, false},
		{"no number", 0, nil, 1<<32 - 1, false},
		{"a type", 64, good, 64, true},
		{"a type in the place of another one", 96, good, 96, true},
		{"the one that was there before", 0, nil, 64, false},
		{"the one that is to come there", 0, nil, 128, false},
		{"a type that is cut off", 33, good[:len(good)-1], 33, false},
		{"a type of another version", 34, append([]byte{99}, good[1:]...), 34, false},
		{"bytes that are no type", 35, []byte("Kontrabassklarinette"), 35, false},
		{"a type again", 35, good, 35, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			peer, refused, h := fabric.Peer(1), false, progress.Handle{}
			locked(t, all[:1], func(ctx context.Context, w *Win) error {
				x := Typed{Target: 1, Type: numbered(3, 2, 0), Count: 1, Src: flat(pattern(24, 1, 1))}
				get := x
				get.Src, get.Old = Elements{}, flat(make([]byte, 24))
				w.e.loop.Exclusive(func() {
					for at := 0; at < len(c.code); at += 5 {
						w.e.loop.Conn(peer).PostBody(wire.RType, 0, wire.MakeRType(w.e.hdr[:], c.id, uint32(at), uint32(len(c.code))), c.code[at:min(at+5, len(c.code))])
					}
					// The operations name what the row says.
					l := &lane{e: w.e, peer: peer}
					w.e.lanes[peer] = l
					code := w.e.encodings.of(x.Type).code
					l.types.known = map[string]*sentType{code: {id: c.named, code: code, sent: len(code)}}
				})
				if err := w.DoTyped(&x); err != nil {
					return err
				}
				err := w.flush(ctx, 1, false)
				refused = errors.As(err, new(*UnknownTypeError))
				if err != nil && (!refused || err.Error() == "") {
					return err
				}
				if h, err = w.BeginTyped(&get); err != nil {
					return err
				}
				if _, err = progress.WaitResult(&h); errors.As(err, new(*UnknownTypeError)) != refused || err != nil && !refused {
					return fmt.Errorf("the Put is refused: %t; the Get: %v", refused, err)
				}
				return nil
			})
			if refused == c.fine {
				t.Errorf("refused: %t", refused)
			}
		})
	}
}
