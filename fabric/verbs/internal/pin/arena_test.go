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
	a.serial = 3 // without a word
	third := register(t, r, a.mem[:100], fabric.RemoteWrite)
	if uint32(third.Key) == uint32(second.Key) {
		t.Error("the key of freed memory is given again, unnoticed")
	}
}
