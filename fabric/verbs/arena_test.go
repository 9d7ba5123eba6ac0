package verbs

import (
	"bytes"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

// fakeArena hands out one block.
type fakeArena struct {
	mem    []byte
	serial uint64 // 0: it is free
	free   func(uintptr)
}

func (a *fakeArena) Allocation(addr uintptr) (start, size uintptr, serial uint64, ok bool) {
	start, size = uintptr(addressOf(a.mem)), uintptr(len(a.mem))
	return start, size, a.serial, a.serial != 0 && addr >= start && addr < start+size
}

func (a *fakeArena) OnFree(f func(uintptr)) func() {
	a.free = f
	return func() { a.free = nil }
}

// Memory of an arena is registered once, for whatever it is used, and until it
// is freed.
func TestMemoryOfAnArenaIsRegisteredOnce(t *testing.T) {
	emulated(t)
	w := newFakeNet()
	ds, eps := connected(t, fakeJob(w))
	a := &fakeArena{mem: make([]byte, 1<<16), serial: 1}
	ds[1].regions.useArena(a, true)
	n := ds[1].nic.(*fakeNIC)
	before := n.registered
	hold := register(t, ds[1], a.mem, fabric.RemoteRead)
	for off := 0; off < 1<<15; off += 4096 {
		for _, access := range []fabric.Access{fabric.RemoteRead, fabric.RemoteWrite, fabric.LocalWrite, fabric.RemoteAtomic, fabric.RemoteWrite | fabric.RemoteRead} {
			g, err := ds[1].Register(a.mem[off:off+8192], access)
			if err != nil || g.Addr != addressOf(a.mem[off:]) || g.Len != 8192 {
				t.Fatalf("%+v, %v", g, err)
			}
			if err := ds[1].Deregister(g); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := n.registered - before; got != 1 {
		t.Errorf("%d registrations, want 1", got)
	}
	if g, err := ds[1].Register(make([]byte, 100), fabric.RemoteWrite); err != nil || n.registered-before != 2 || ds[1].Deregister(g) != nil {
		t.Errorf("memory elsewhere: %v, %d registrations", err, n.registered-before)
	}
	// It is read and written through what a part of it was given.
	part := a.mem[4096:12288]
	local := make([]byte, len(part))
	seg := fabric.Segment{Bytes: local, Region: register(t, ds[0], local, fabric.LocalWrite)}
	copy(part, noise)
	e := &ender{}
	if err := eps[0].Get(seg, register(t, ds[1], part, fabric.RemoteRead).Remote, 1); err != nil {
		t.Fatal(err)
	}
	for !e.ended {
		ds[0].Poll(e, 64)
	}
	if e.err != nil || !bytes.Equal(local, part) {
		t.Errorf("Get: %v; the bytes are right: %t", e.err, bytes.Equal(local, part))
	}
	// Freed and handed out again it is other memory: who holds the old
	// registration keeps it, the others get a new one.
	a.free(uintptr(addressOf(a.mem)))
	a.serial = 2
	second := register(t, ds[1], a.mem, fabric.RemoteWrite)
	if uint32(second.Key) == uint32(hold.Key) {
		t.Error("the key of freed memory is given again")
	}
	a.serial = 3 // without a word
	third := register(t, ds[1], a.mem[:100], fabric.RemoteWrite)
	if uint32(third.Key) == uint32(second.Key) {
		t.Error("the key of freed memory is given again, unnoticed")
	}
}
