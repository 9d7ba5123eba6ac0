package verbs

import (
	"bytes"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

const readable = fabric.LocalWrite | fabric.RemoteRead

// alone is one rank on a fake device.
func alone(t testing.TB) (*Domain, *fakeHCA) {
	emulated(t)
	j := fakeJob(newFakeNet())
	j.domains(t, 1)
	return j.ranks[0], j.ranks[0].hca.(*fakeHCA)
}

func register(t testing.TB, d *Domain, b []byte, a fabric.Access) fabric.Region {
	t.Helper()
	r, err := d.Register(b, a)
	if err != nil {
		t.Fatalf("Register: %v", err)
	}
	return r
}

func deregister(t testing.TB, d *Domain, r fabric.Region) {
	t.Helper()
	if err := d.Deregister(r); err != nil {
		t.Fatalf("Deregister: %v", err)
	}
}

// On a device: a Get from a buffer that took the place of a dead one reads
// what is there now.
func TestGetReadsTheBufferThatIsThereNow(t *testing.T) {
	ds, eps := pair(t)
	const size = 1 << 20
	dst := make([]byte, size)
	local := register(t, ds[0], dst, fabric.LocalWrite)
	seen, reused := map[uint64]bool{}, 0
	for round := range 60 {
		b := bytes.Repeat([]byte{byte(round + 1)}, size)
		if at := ibv.Addr(b); seen[at] {
			reused++
		} else {
			seen[at] = true
		}
		r := register(t, ds[1], b, fabric.RemoteRead)
		clear(dst)
		done := ender{}
		if err := eps[0].Get(fabric.Segment{Bytes: dst, Region: local}, r.Remote, 7); err != nil {
			t.Fatal(err)
		}
		for !done.ended {
			ds[0].Poll(&done, 64)
		}
		if done.err != nil || !bytes.Equal(dst, b) {
			t.Fatalf("round %d: error %v, bytes are right: %t", round, done.err, bytes.Equal(dst, b))
		}
		deregister(t, ds[1], r)
		runtime.KeepAlive(b)
		b = nil
		if round%2 == 0 {
			debug.FreeOSMemory()
		} else {
			runtime.GC()
		}
	}
	if reused < 5 {
		t.Errorf("an address was used again in %d rounds only: nothing is proved", reused)
	}
}

// ender waits for the end of an operation.
type ender struct {
	nobody
	ended bool
	err   error
}

func (e *ender) Complete(_ fabric.Op, err error) { e.ended, e.err = true, err }

// oneBlock is an arena of one block, which is never freed.
type oneBlock []byte

func (a oneBlock) Allocation(addr uintptr) (start, size uintptr, serial uint64, ok bool) {
	start, size = uintptr(ibv.Addr(a)), uintptr(len(a))
	return start, size, 1, addr >= start && addr < start+size
}

func (oneBlock) OnFree(func(uintptr)) func() { return func() {} }

// A part of an allocation is read through the registration of the whole.
func TestGetReadsAPartOfAnArena(t *testing.T) {
	emulated(t)
	ds, eps := connected(t, fakeJob(newFakeNet()))
	whole := make(oneBlock, 1<<16)
	ds[1].regions.UseArena(whole, true)
	register(t, ds[1], whole, fabric.RemoteWrite)
	part := whole[4096:12288]
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
}
