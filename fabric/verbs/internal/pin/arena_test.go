package pin

import (
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

// fakeArena hands out one block.
type fakeArena struct {
	mem    []byte
	serial uint64 // 0: it is free
	free   func(uintptr)
}

func (a *fakeArena) Allocation(addr uintptr) (start, size uintptr, serial uint64, ok bool) {
	start, size = uintptr(ibv.Addr(a.mem)), uintptr(len(a.mem))
	return start, size, a.serial, a.serial != 0 && addr >= start && addr < start+size
}

func (a *fakeArena) OnFree(f func(uintptr)) func() {
	a.free = f
	return func() { a.free = nil }
}

// Memory of an arena is registered once, for whatever it is used, and until it
// is freed.
func TestMemoryOfAnArenaIsRegisteredOnce(t *testing.T) {
	r, n := opened(t)
	a := &fakeArena{mem: make([]byte, 1<<16), serial: 1}
	r.UseArena(a, true)
	before := n.count()
	hold := register(t, r, a.mem, fabric.RemoteRead)
	for off := 0; off < 1<<15; off += 4096 {
		for _, access := range []fabric.Access{fabric.RemoteRead, fabric.RemoteWrite, fabric.LocalWrite, fabric.RemoteAtomic, fabric.RemoteWrite | fabric.RemoteRead} {
			g, err := r.Register(a.mem[off:off+8192], access)
			if err != nil || g.Addr != ibv.Addr(a.mem[off:]) || g.Len != 8192 {
				t.Fatalf("%+v, %v", g, err)
			}
			if err := r.Deregister(g); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := n.count() - before; got != 1 {
		t.Errorf("%d registrations, want 1", got)
	}
	if g, err := r.Register(make([]byte, 100), fabric.RemoteWrite); err != nil || n.count()-before != 2 || r.Deregister(g) != nil {
		t.Errorf("memory elsewhere: %v, %d registrations", err, n.count()-before)
	}
	// Freed and handed out again it is other memory: who holds the old
	// registration keeps it, the others get a new one.
	a.free(uintptr(ibv.Addr(a.mem)))
	a.serial = 2
	second := register(t, r, a.mem, fabric.RemoteWrite)
	if uint32(second.Key) == uint32(hold.Key) {
		t.Error("the key of freed memory is given again")
	}
	// Where nobody holds it the registration ends before the memory is given back.
	deregister(t, r, second)
	if live := n.count(); live != before+2 { // the one that is held, and this
		t.Errorf("%d registrations, want 2", live-before)
	}
	a.free(uintptr(ibv.Addr(a.mem)))
	if live := n.count(); live != before+1 {
		t.Errorf("freed memory that nobody holds is registered still: %d registrations", live-before)
	}
	second = register(t, r, a.mem, fabric.RemoteWrite)
	a.serial = 3 // without a word
	third := register(t, r, a.mem[:100], fabric.RemoteWrite)
	if uint32(third.Key) == uint32(second.Key) {
		t.Error("the key of freed memory is given again, unnoticed")
	}
}

// What is longer than its allocation is no part of it.
func TestMemoryAcrossTheEndOfAnAllocationIsOtherMemory(t *testing.T) {
	r, _ := opened(t)
	mem := make([]byte, 1<<16)
	r.UseArena(&fakeArena{mem: mem[:1<<15], serial: 1}, true)
	for _, end := range []int{1 << 15, 1<<15 + 1, 1 << 16} {
		b := mem[1<<14 : end]
		if g := register(t, r, b, fabric.RemoteWrite); !reaches(r, b, g) {
			t.Errorf("%d bytes of which %d are the arena's are not registered", len(b), 1<<14)
		}
	}
}

func reaches(r *Regions, b []byte, g fabric.Region) bool {
	_, ok := r.Local(fabric.Segment{Bytes: b, Region: g})
	return ok
}

// A handle names one registration, and nothing that takes its place.
func TestAHandleIsOfOneRegistration(t *testing.T) {
	r, _ := opened(t)
	b := make([]byte, 4096)
	old := register(t, r, b, fabric.RemoteWrite)
	if !reaches(r, b, old) {
		t.Fatal("what is registered is not found")
	}
	deregister(t, r, old)
	if reaches(r, b, old) {
		t.Error("what has ended is found")
	}
	next := register(t, r, b, fabric.RemoteWrite)
	if uint32(next.Handle) != uint32(old.Handle) {
		t.Fatal("the place is not used again: nothing is proved")
	}
	if reaches(r, b, old) {
		t.Error("the handle of what has ended finds the next registration")
	}
	if r.Deregister(old) == nil || !reaches(r, b, next) {
		t.Error("the handle of what has ended ends the next registration")
	}
}
