package mpi_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// badNeighborhoods are wrong calls on a grid with four slots, the last two of which are the
// rank's own: for each the calls, and what is wrong in right arguments.
var badNeighborhoods = map[string]struct {
	calls string
	class mpi.Class
	words string
	spoil func(a *nearby)
}{
	"InPlace as send":         {"slices", mpi.ErrBuffer, "need two buffers", func(a *nearby) { a.out = mpi.InPlace[byte]() }},
	"InPlace as recv":         {"slices", mpi.ErrBuffer, "need two buffers", func(a *nearby) { a.in = mpi.InPlace[byte]() }},
	"BufInPlace as send":      {"Comm.", mpi.ErrBuffer, "need two buffers", func(a *nearby) { a.send, a.each = mpi.BufInPlace, []mpi.Buf{mpi.BufInPlace} }},
	"BufInPlace as recv":      {"Comm.", mpi.ErrBuffer, "need two buffers", func(a *nearby) { a.recv, a.into = mpi.BufInPlace, []mpi.Buf{mpi.BufInPlace} }},
	"a BufInPlace":            {"w", mpi.ErrBuffer, "recv[1]: ", func(a *nearby) { a.into[1] = mpi.BufInPlace }},
	"few counts of recv":      {"v", mpi.ErrArg, "3 counts of recv for 4 slots", func(a *nearby) { a.m = a.m[:3] }},
	"few counts of send":      {"allv", mpi.ErrArg, "3 counts of send for 4 slots", func(a *nearby) { a.n = a.n[:3] }},
	"many displs":             {"v", mpi.ErrArg, "5 displacements of recv for 4 slots", func(a *nearby) { a.to = make([]int, 5) }},
	"few Bufs of send":        {"w", mpi.ErrArg, "send has 3 Bufs for 4 slots", func(a *nearby) { a.each = a.each[:3] }},
	"no Bufs of recv":         {"w", mpi.ErrArg, "recv has 0 Bufs for 4 slots", func(a *nearby) { a.into = nil }},
	"a negative count":        {"v", mpi.ErrCount, "slot 1's block of recv is -1", func(a *nearby) { a.m[1] = -1 }},
	"a negative sendcount":    {"allv", mpi.ErrCount, "slot 0's block of send is -1", func(a *nearby) { a.n[0] = -1 }},
	"blocks that overlap":     {"v", mpi.ErrBuffer, "slots 0 and 2 overlap in recv", func(a *nearby) { a.to[2] = 1 }},
	"Bufs that overlap":       {"w", mpi.ErrBuffer, "two Bufs of recv overlap", func(a *nearby) { a.into[2] = a.into[0] }},
	"a block outside":         {"v", mpi.ErrBuffer, "is not in recv, which has 8", func(a *nearby) { a.to[3] = 7 }},
	"a block far outside":     {"v", mpi.ErrBuffer, "is not in recv, which has 8", func(a *nearby) { a.to[0] = math.MaxInt }},
	"a block before":          {"allv", mpi.ErrBuffer, "is not in send, which has 8", func(a *nearby) { a.at[2] = -1 }},
	"one buffer":              {"", mpi.ErrBuffer, "give two buffers: there is no InPlace", func(a *nearby) { a.out, a.each[0] = a.in[:len(a.out)], a.into[3]; a.send = mpi.Of(a.out) }},
	"recv that can't be cut":  {"even", mpi.ErrCount, "7 elements of recv can't be cut into 4 blocks", func(a *nearby) { a.in, a.recv = a.in[:7], mpi.Of(a.in[:7]) }},
	"send that can't be cut":  {"Alltoall", mpi.ErrCount, "7 elements of send can't be cut into 4 blocks", func(a *nearby) { a.out, a.send = a.out[:7], mpi.Of(a.out[:7]) }},
	"an own block":            {"even", mpi.ErrCount, "from slot 2 and receives 1 in slot 3", func(a *nearby) { a.in, a.recv = a.in[:4], mpi.Of(a.in[:4]) }},
	"an own block by counts":  {"v", mpi.ErrCount, "from slot 2 and receives 1 in slot 3", func(a *nearby) { a.m[3] = 1 }},
	"an own block by Bufs":    {"w", mpi.ErrCount, "from slot 3 and receives 0 in slot 2", func(a *nearby) { a.into[2] = mpi.Buf{} }},
	"types not committed":     {"Comm.", mpi.ErrType, "not committed", func(a *nearby) { a.send, a.each[1] = raw(a.out), raw(a.out) }},
	"a type freed":            {"Comm.", mpi.ErrType, "recv", func(a *nearby) { a.recv, a.into[1] = freed(a.in), freed(a.in) }},
	"elements outside of mem": {"Comm.", mpi.ErrBuffer, "recv", func(a *nearby) { a.recv = mpi.As(mpi.TypeUint8, a.in, 99); a.into[1] = a.recv }},
}

func raw(mem []byte) mpi.Buf { return mpi.As(get(mpi.TypeContiguous(2, mpi.TypeUint8)), mem, 1) }

func freed(mem []byte) mpi.Buf {
	d := get(mpi.TypeContiguous(2, mpi.TypeUint8))
	ok(d.Commit())
	b := mpi.As(d, mem, 1)
	ok(d.Free())
	return b
}

// fine are right arguments of a call on a grid with so many slots, and blocks of two bytes.
func fine(c *mpi.Comm, name string, slots int) *nearby {
	a := &nearby{c: c, out: make([]byte, 2*slots), in: make([]byte, 2*slots), n: slices.Repeat([]int{2}, slots), m: slices.Repeat([]int{2}, slots)}
	for i := range slots {
		a.at, a.to = append(a.at, 2*i), append(a.to, 2*i)
		a.each, a.into = append(a.each, mpi.Of(a.out[2*i:2*i+2])), append(a.into, mpi.Of(a.in[2*i:2*i+2]))
	}
	if strings.Contains(name, "gather") {
		a.out = a.out[:2]
	}
	a.send, a.recv = mpi.Of(a.out), mpi.Of(a.in)
	return a
}

// hasFault reports whether a call can be wrong in the way that is meant for calls.
func hasFault(name, calls string) bool {
	switch calls {
	case "slices":
		return !strings.HasPrefix(name, "Comm.")
	case "even":
		return !strings.HasSuffix(name, "v") && !strings.HasSuffix(name, "w")
	}
	return strings.HasSuffix(name, calls) || strings.HasPrefix(name, calls)
}

func TestBadArgumentsOfNeighborhoods(t *testing.T) {
	act(t, "mem", 2, func(w *mpi.World, c *mpi.Comm) {
		grid := get(cartOf([]bool{true, true}, 2, 1)(c, false))
		lone, gone := get(graphOf([]int{1, 1}, 1)(c, false)), get(grid.Dup())
		ok(gone.Free())
		between := pair{1, 1}.connect(w, c).x
		for _, name := range neighborCalls {
			for _, f := range notInPlace {
				made := 0
				refused := func(what string, a *nearby, class mpi.Class, words string) {
					made++
					if r, err := a.call(name, f); !r.Null() {
						t.Errorf("%s, %s: it has a request, and the error %v", inForm(name, f), what, err)
					} else {
						wantWords(t, inForm(name, f)+", "+what, err, class, words)
					}
				}
				refused("no topology", fine(c, name, 4), mpi.ErrTopology, "CartCreate, GraphCreate or DistGraphAdjacent")
				refused("two groups", fine(between, name, 4), mpi.ErrTopology, "no topology")
				refused("edges one way", fine(lone, name, 4), mpi.ErrTopology, "more edges from 0 to 1 than back")
				refused("freed", fine(gone, name, 4), mpi.ErrComm, "has been freed")
				refused("nil", fine(nil, name, 4), mpi.ErrComm, "")
				for what, tc := range ordered(badNeighborhoods) {
					if hasFault(name, tc.calls) {
						a := fine(grid, name, 4)
						tc.spoil(a)
						refused(what, a, tc.class, tc.words)
					}
				}
				if made < 8 {
					t.Errorf("%s has been wrong %d times", name, made)
				}
				ok(fine(grid, name, 4).complete(name, f))
			}
		}
	})
}
