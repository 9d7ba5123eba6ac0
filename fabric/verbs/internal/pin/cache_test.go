package pin

import (
	"bytes"
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

func TestABufferThatIsUsedAgainIsRegisteredOnce(t *testing.T) {
	r, n := opened(t)
	base := n.count()
	b := make([]byte, 1<<16)
	first := register(t, r, b, fabric.RemoteRead)
	deregister(t, r, first)
	for _, part := range [][]byte{b, b[:100], b} {
		again := register(t, r, part, fabric.LocalWrite)
		if again.Handle != first.Handle || again.Len != uint64(len(part)) {
			t.Errorf("%d bytes: handle %#x, length %d; the first was %#x", len(part), again.Handle, again.Len, first.Handle)
		}
		deregister(t, r, again)
	}
	if n.count() != base+1 {
		t.Errorf("%d registrations, want 1", n.count()-base)
	}
	if allocs := testing.AllocsPerRun(100, func() { deregister(t, r, register(t, r, b, readable)) }); allocs != 0 {
		t.Errorf("a hit allocates %v times", allocs)
	}
	if err := r.Deregister(first); err == nil {
		t.Error("Deregister of what nobody holds went well")
	}
}

func TestALongerBufferAtTheSameAddressIsRegisteredAnew(t *testing.T) {
	r, n := opened(t)
	base := n.count()
	b := make([]byte, 8192)
	held := register(t, r, b[:100], readable)
	whole := register(t, r, b, readable)
	for seg, want := range map[*fabric.Segment]bool{
		{Bytes: b[:100], Region: held}: true, {Bytes: b[:101], Region: held}: false, {Bytes: b, Region: whole}: true,
	} {
		if _, ok := r.Local(*seg); ok != want {
			t.Errorf("%d bytes: reachable %t, want %t", len(seg.Bytes), ok, want)
		}
	}
	deregister(t, r, held)
	if n.count() != base+1 {
		t.Errorf("%d registrations, want the longer one only", n.count()-base)
	}
	deregister(t, r, whole)
	runtime.KeepAlive(b)
}

func TestMemoryThatPeersWriteToIsNeverKept(t *testing.T) {
	r, n := opened(t)
	base := n.count()
	b := make([]byte, 4096)
	for _, a := range []fabric.Access{fabric.RemoteWrite, fabric.RemoteAtomic, readable | fabric.RemoteWrite} {
		deregister(t, r, register(t, r, b, a))
	}
	m, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(m)
	deregister(t, r, register(t, r, m, readable)) // not the collector's
	if n.count() != base {
		t.Errorf("%d registrations are kept", n.count()-base)
	}
}

// The proof of the cache: the collector frees a registered buffer, the pages
// go back to the system, and another buffer comes to lie at the same address.
// Its registration must be its own, whether or not the cleanup of the first
// has run by then.
func TestARegistrationDoesNotOutliveItsBuffer(t *testing.T) {
	r, n := opened(t)
	const size = 1 << 20
	base := n.count()
	seen := map[uint64]uint32{} // the key that an address was registered under
	reused := 0
	for round := range 400 {
		b := make([]byte, size)
		at := ibv.Addr(b)
		g := register(t, r, b, readable)
		_, e := r.at(g.Handle)
		if key, ok := seen[at]; ok {
			reused++
			if key == e.mr.RKey {
				t.Fatalf("round %d: a new buffer at %#x has the registration of the old one", round, at)
			}
		}
		seen[at] = e.mr.RKey
		deregister(t, r, g)
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
	for end := time.Now().Add(patience); n.count() > base+2; runtime.GC() {
		if time.Now().After(end) {
			t.Fatalf("%d registrations of dead buffers do not end", n.count()-base)
		}
	}
}

func TestIdleRegistrationsGoWhenMemoryCannotBePinned(t *testing.T) {
	r, n := opened(t)
	bufs := make([][]byte, 5)
	for i := range bufs {
		bufs[i] = make([]byte, 4096)
		deregister(t, r, register(t, r, bufs[i], readable))
	}
	held := register(t, r, bufs[0], readable)
	base := n.count()
	tries := 0
	n.refuse = func() { tries++ }
	_, err := r.Register(make([]byte, 4096), readable)
	n.refuse = nil
	if err == nil || tries != 2 || !bytes.Contains([]byte(err.Error()), []byte("ulimit -l")) {
		t.Errorf("after %d tries: %v; want the remedy after 2", tries, err)
	}
	if got := n.count(); got != base-4 {
		t.Errorf("%d registrations remain of %d, want all but the 4 that nobody held gone", got, base)
	}
	deregister(t, r, held)
	runtime.KeepAlive(bufs)
}

func TestTheCacheIsCounted(t *testing.T) {
	r, _ := opened(t)
	base := r.Counts()
	b := make([]byte, 1<<16)
	for range 4 {
		deregister(t, r, register(t, r, b, fabric.RemoteRead))
	}
	got := r.Counts()
	if got.Misses-base.Misses != 1 || got.Hits-base.Hits != 3 || got.Evictions != base.Evictions || got.Bytes-base.Bytes != 1<<16 {
		t.Errorf("after one registration and three hits: %+v, before %+v", got, base)
	}
	r.KeepNone()
	if got = r.Counts(); got.Evictions-base.Evictions != 1 || got.Bytes != base.Bytes {
		t.Errorf("after the end of the cache: %+v, before %+v", got, base)
	}
	runtime.KeepAlive(b)
}
