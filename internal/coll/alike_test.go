package coll

import (
	"math"
	"testing"
)

// What ranks of one call give alike is the same at all of them, and differs where the
// root or the length does.
func TestAlikeTellsRootsAndLengths(t *testing.T) {
	for call := Barrier; call <= LastCall; call++ {
		rooted := call == Bcast || call == Gather || call == Gatherv || call == Scatter || call == Scatterv || call == Reduce
		long := call != Barrier && call != Gatherv && call != Scatterv && call != Allgatherv && call != Alltoallv && call != Alltoallw && !call.Near()
		shape := func(rank, root, count int) *Shape {
			counts, displs := []int{count, count, count}, []int{0, count, 2 * count}
			return &Shape{Rank: rank, Size: 3, Root: root, Count: count, Bytes: 8, Commutes: true,
				Counts: counts, Displs: displs, RecvCounts: counts, RecvDispls: displs}
		}
		for _, root := range []int{0, 2} {
			for _, count := range []int{0, 1, 100} {
				is := Make(call, shape(0, root, count)).Alike
				if n, ok := is.Bytes(); ok != long || ok && n != 8*count {
					t.Errorf("%v of %d words: %d bytes, %t", call, count, n, ok)
				}
				if r, ok := is.Root(); call != ReduceScatter && (ok != rooted || ok && r != root) {
					t.Errorf("%v of root %d: %d, %t", call, root, r, ok)
				}
				if other := Make(call, shape(1, root, count)).Alike; other != is {
					t.Errorf("%v: %#x at rank 0 and %#x at rank 1", call, is, other)
				}
			}
		}
	}
}

// Counts that differ where their sum does not are told from one another.
func TestAlikeTellsCounts(t *testing.T) {
	a := alike(ReduceScatter, &Shape{Size: 2, Counts: []int{1, 2}, Count: 3, Bytes: 8})
	b := alike(ReduceScatter, &Shape{Size: 2, Counts: []int{2, 1}, Count: 3, Bytes: 8})
	if n, ok := a.Bytes(); a == b || n != 24 || !ok {
		t.Errorf("%#x and %#x", a, b)
	}
}

// Values that do not fit saturate, and leave the others alone.
func TestAlikeSaturates(t *testing.T) {
	a := alike(Bcast, &Shape{Root: math.MaxInt32, Count: 1 << 50, Bytes: 8})
	if a>>56 != 0 {
		t.Errorf("%#x takes more than 56 bits", a)
	}
	if n, ok := a.Bytes(); n != 1<<36-2 || !ok {
		t.Errorf("%d bytes", n)
	}
	if r, ok := a.Root(); r != 1<<20-2 || !ok {
		t.Errorf("root %d", r)
	}
}

// Ranks of two groups give values of their own.
func TestNothingIsAlikeBetweenGroups(t *testing.T) {
	if a := Make(Bcast, &Shape{Size: 2, Remote: 3, Root: RootHere, Count: 5, Bytes: 8}).Alike; a != 0 {
		t.Errorf("%#x", a)
	}
}

func TestCallsHaveNames(t *testing.T) {
	for call, want := range map[Call]string{Barrier: "Barrier", Exscan: "Exscan", Dup: "Dup", Split: "Split", Create: "Create", Finalize: "Finalize",
		Alltoallw: "Alltoallw", ReduceScatter: "ReduceScatter",
		NeighborAlltoallw: "NeighborAlltoallw", 0: "call 0", 23: "call 23", Merge: "Merge", IntercommCreate: "IntercommCreate", 25: "call 25", 255: "call 255"} {
		if got := call.String(); got != want {
			t.Errorf("%d is %q, want %q", uint8(call), got, want)
		}
	}
}
