package verbs

import (
	"bytes"
	"runtime"
	"runtime/debug"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

const readable = fabric.LocalWrite | fabric.RemoteRead

// alone is one rank on a fake device.
func alone(t testing.TB) (*Domain, *fakeNIC) {
	emulated(t)
	j := fakeJob(newFakeNet())
	j.domains(t, 1)
	return j.ranks[0], j.ranks[0].nic.(*fakeNIC)
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

func TestABufferThatIsUsedAgainIsRegisteredOnce(t *testing.T) {
	d, n := alone(t)
	base := n.registered
	b := make([]byte, 1<<16)
	first := register(t, d, b, fabric.RemoteRead)
	deregister(t, d, first)
	for _, part := range [][]byte{b, b[:100], b} {
		again := register(t, d, part, fabric.LocalWrite)
		if again.Handle != first.Handle || again.Len != uint64(len(part)) {
			t.Errorf("%d bytes: handle %#x, length %d; the first was %#x", len(part), again.Handle, again.Len, first.Handle)
		}
		deregister(t, d, again)
	}
	if n.registered != base+1 {
		t.Errorf("%d registrations, want 1", n.registered-base)
	}
	if allocs := testing.AllocsPerRun(100, func() { deregister(t, d, register(t, d, b, readable)) }); allocs != 0 {
		t.Errorf("a hit allocates %v times", allocs)
	}
	if err := d.Deregister(first); err == nil {
		t.Error("Deregister of what nobody holds went well")
	}
}

func TestALongerBufferAtTheSameAddressIsRegisteredAnew(t *testing.T) {
	d, n := alone(t)
	base := n.registered
	b := make([]byte, 8192)
	held := register(t, d, b[:100], readable)
	whole := register(t, d, b, readable)
	for seg, want := range map[*fabric.Segment]bool{
		{Bytes: b[:100], Region: held}: true, {Bytes: b[:101], Region: held}: false, {Bytes: b, Region: whole}: true,
	} {
		if _, ok := d.local(*seg); ok != want {
			t.Errorf("%d bytes: reachable %t, want %t", len(seg.Bytes), ok, want)
		}
	}
	deregister(t, d, held)
	if n.registered != base+1 {
		t.Errorf("%d registrations, want the longer one only", n.registered-base)
	}
	deregister(t, d, whole)
	runtime.KeepAlive(b)
}

func TestMemoryThatPeersWriteToIsNeverKept(t *testing.T) {
	d, n := alone(t)
	base := n.registered
	b := make([]byte, 4096)
	for _, a := range []fabric.Access{fabric.RemoteWrite, fabric.RemoteAtomic, readable | fabric.RemoteWrite} {
		deregister(t, d, register(t, d, b, a))
	}
	m, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(m)
	deregister(t, d, register(t, d, m, readable)) // not the collector's
	if n.registered != base {
		t.Errorf("%d registrations are kept", n.registered-base)
	}
}

// The proof of the cache: the collector frees a registered buffer, the pages
// go back to the system, and another buffer comes to lie at the same address.
// Its registration must be its own, whether or not the cleanup of the first
// has run by then.
func TestARegistrationDoesNotOutliveItsBuffer(t *testing.T) {
	d, n := alone(t)
	const size = 1 << 20
	base := n.registered
	seen := map[uint64]uint32{} // the key that an address was registered under
	reused := 0
	for round := range 400 {
		b := make([]byte, size)
		at := addressOf(b)
		r := register(t, d, b, readable)
		_, e := d.regions.at(r.Handle)
		if key, ok := seen[at]; ok {
			reused++
			if key == e.mr.rkey {
				t.Fatalf("round %d: a new buffer at %#x has the registration of the old one", round, at)
			}
		}
		seen[at] = e.mr.rkey
		deregister(t, d, r)
		runtime.KeepAlive(b)
		switch round % 4 {
		case 0:
			debug.FreeOSMemory() // also lets cleanups run
		case 1, 2:
			runtime.GC() // the address may be given away before its cleanup
		}
	}
	if reused < 10 {
		t.Errorf("an address was used again in %d rounds only: nothing is proved", reused)
	}
	eventually(t, "registrations of dead buffers end", func() bool {
		runtime.GC()
		return n.count() <= base+2
	})
}

func (n *fakeNIC) count() int {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	return n.registered
}

func TestIdleRegistrationsGoWhenMemoryCannotBePinned(t *testing.T) {
	d, n := alone(t)
	bufs := make([][]byte, 5)
	for i := range bufs {
		bufs[i] = make([]byte, 4096)
		deregister(t, d, register(t, d, bufs[i], readable))
	}
	held := register(t, d, bufs[0], readable)
	base := n.count()
	tries := 0
	n.w.refuse = func() { tries++ }
	_, err := d.Register(make([]byte, 4096), readable)
	n.w.refuse = nil
	if err == nil || tries != 2 || !bytes.Contains([]byte(err.Error()), []byte("ulimit -l")) {
		t.Errorf("after %d tries: %v; want the remedy after 2", tries, err)
	}
	if got := n.count(); got != base-4 {
		t.Errorf("%d registrations remain of %d, want all but the 4 that nobody held gone", got, base)
	}
	deregister(t, d, held)
	runtime.KeepAlive(bufs)
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
		if at := addressOf(b); seen[at] {
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
