package pin

import (
	"fmt"
	"log/slog"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

// patience is when a test calls something hung: many times what it takes.
const patience = 5 * time.Minute

const readable = fabric.LocalWrite | fabric.RemoteRead

// fakeDevice notes down what is registered.
type fakeDevice struct {
	mu     sync.Mutex
	next   uint32
	live   map[uint32]bool
	refuse func() // called where registering is to fail
	grips  int    // so many registrations do not end
}

func (d *fakeDevice) RegMR(uint64, int, uint32) (ibv.MR, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.refuse != nil {
		d.refuse()
		return ibv.MR{}, syscall.ENOMEM
	}
	d.next += 7
	d.live[d.next] = true
	return ibv.MR{Handle: uint64(d.next), LKey: d.next, RKey: d.next}, nil
}

func (d *fakeDevice) DeregMR(m ibv.MR) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.live[m.RKey] {
		return fmt.Errorf("key %d is not registered", m.RKey)
	}
	if d.grips > 0 {
		d.grips--
		return syscall.EBUSY
	}
	delete(d.live, m.RKey)
	return nil
}

func (d *fakeDevice) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.live)
}

// opened is the regions of a rank on a fake device, which are closed when the test
// ends.
func opened(t testing.TB) (*Regions, *fakeDevice) {
	d, r := &fakeDevice{live: map[uint32]bool{}}, &Regions{}
	r.Open(Options{Device: d, Cache: true, Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
	t.Cleanup(func() {
		if err := r.Close(); err != nil || d.count() != 0 {
			t.Errorf("Close: %v; %d registrations are left", err, d.count())
		}
	})
	return r, d
}

func register(t testing.TB, r *Regions, b []byte, a fabric.Access) fabric.Region {
	t.Helper()
	g, err := r.Register(b, a)
	if err != nil {
		t.Fatalf("Register: %v", err)
	}
	return g
}

func deregister(t testing.TB, r *Regions, g fabric.Region) {
	t.Helper()
	if err := r.Deregister(g); err != nil {
		t.Fatalf("Deregister: %v", err)
	}
}
