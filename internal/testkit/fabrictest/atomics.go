package fabrictest

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

// words makes room for n aligned words with a margin on either side.
func words(n int) []byte { return make([]byte, (n+2)*8) }

func atomicValues(t *testing.T, h Harness) {
	r := open(t, h, 2)
	a, b := r.nodes[0], r.nodes[1]
	if !a.d.Caps().Atomics {
		t.Skip("not offered; see the case for what Caps does not offer")
	}
	mem := words(1)
	for i := range mem {
		mem[i] = 0xc5
	}
	binary.NativeEndian.PutUint64(mem[8:], 5)
	remote := part(b.region(mem, fabric.LocalWrite|fabric.RemoteAtomic).Region, 8, 8)
	value := uint64(5)
	for i, c := range []struct {
		a    fabric.Atomic
		next uint64
	}{
		{fabric.Atomic{Kind: fabric.FetchAdd, Operand: 3}, 8},
		{fabric.Atomic{Kind: fabric.FetchAdd, Operand: 0}, 8},
		{fabric.Atomic{Kind: fabric.FetchAdd, Operand: ^uint64(0)}, 7},
		{fabric.Atomic{Kind: fabric.FetchAdd, Operand: 1<<63 + 1<<40}, 7 + 1<<63 + 1<<40},
		{fabric.Atomic{Kind: fabric.CompareSwap, Compare: 7, Operand: 9}, 7 + 1<<63 + 1<<40},
		{fabric.Atomic{Kind: fabric.CompareSwap, Compare: 7 + 1<<63 + 1<<40, Operand: 0x0102030405060708}, 0x0102030405060708},
		{fabric.Atomic{Kind: fabric.CompareSwap, Compare: 0x0102030405060708, Operand: 0x0102030405060708}, 0x0102030405060708},
	} {
		result := ^value
		c.a.Result = &result
		a.start(func(op fabric.Op) error { return a.eps[1].Atomic(c.a, remote, op) })
		a.finish()
		if result != value {
			t.Errorf("step %d: result %#x, want %#x", i, result, value)
		}
		value = c.next
	}
	if got := binary.NativeEndian.Uint64(mem[8:]); got != value {
		t.Errorf("memory holds %#x, want %#x", got, value)
	}
	if mem[7] != 0xc5 || mem[16] != 0xc5 {
		t.Error("an Atomic wrote beside its word")
	}
}

func atomicsConcurrent(t *testing.T, h Harness) {
	r := open(t, h, 3)
	if !r.nodes[0].d.Caps().Atomics {
		t.Skip("not offered; see the case for what Caps does not offer")
	}
	const each = 1000
	mem := words(2)
	region := r.nodes[2].region(mem, fabric.LocalWrite|fabric.RemoteAtomic).Region
	counter, lock := part(region, 8, 8), part(region, 16, 8)
	var tickets [2][]uint64
	r.together(func(n *node) {
		if n.rank == 2 {
			return
		}
		e := n.eps[2]
		do := func(a fabric.Atomic, m fabric.Remote) uint64 {
			var result uint64
			a.Result = &result
			op := n.start(func(op fabric.Op) error { return e.Atomic(a, m, op) })
			n.wait("an Atomic to complete", func() bool { return !n.pending[op] })
			return result
		}
		guess := uint64(0)
		for range each {
			tickets[n.rank] = append(tickets[n.rank], do(fabric.Atomic{Kind: fabric.FetchAdd, Operand: 1}, counter))
			for { // add 1 by compare and swap
				old := do(fabric.Atomic{Kind: fabric.CompareSwap, Compare: guess, Operand: guess + 1}, lock)
				if old == guess {
					break
				}
				guess = old
			}
		}
		n.finish()
	})
	both := slices.Concat(tickets[0], tickets[1])
	slices.Sort(both)
	for i, x := range both {
		if x != uint64(i) {
			t.Fatalf("FetchAdd: ticket %d is %d: a value was given twice or lost", i, x)
		}
	}
	for i, name := range []string{"FetchAdd", "CompareSwap"} {
		if got := binary.NativeEndian.Uint64(mem[8+8*i:]); got != 2*each {
			t.Errorf("%s: counter is %d after %d additions", name, got, 2*each)
		}
	}
}
