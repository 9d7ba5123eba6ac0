package shm

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// instead puts another value into a variable until the test ends.
func instead[T any](t testing.TB, v *T, with T) {
	old := *v
	*v = with
	t.Cleanup(func() { *v = old })
}

func refuseCMA(t testing.TB) {
	instead(t, &cmaRead, func(int, []byte, uint64) error { return unix.EPERM })
}

func TestARefusedSystemCallIsATypedErrorWithARemedy(t *testing.T) {
	if err := processArena().why; err != nil { // it is made once, and is not the subject here
		t.Fatal(err)
	}
	calls := 0
	for _, c := range []struct {
		name   string
		refuse func(t *testing.T)
		errno  error
	}{
		{"memfd_create", func(t *testing.T) {
			instead(t, &memfdCreate, func(string, int) (int, error) { return -1, unix.ENOSYS })
		}, unix.ENOSYS},
		{"eventfd", func(t *testing.T) {
			instead(t, &eventfd, func(uint, int) (int, error) { return -1, unix.EPERM })
		}, unix.EPERM},
		{"pidfd_open", func(t *testing.T) {
			instead(t, &pidfdOpen, func(int, int) (int, error) { return -1, unix.EPERM })
		}, unix.EPERM},
		{"memory on a full machine", func(t *testing.T) {
			instead(t, &madvise, func([]byte, int) error { return unix.EFAULT })
			instead(t, &fallocate, func(int, uint32, int64, int64) error { return unix.ENOSPC })
		}, unix.ENOSPC},
		{"memory above the limit", func(t *testing.T) {
			instead(t, &madvise, func([]byte, int) error { return unix.ENOMEM })
			instead(t, &fallocate, func(int, uint32, int64, int64) error { return unix.ENOMEM })
		}, unix.ENOMEM},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, parkedBefore := openFiles(t), parked.domains
			c.refuse(t)
			check := func(what string, err error) {
				t.Helper()
				var e *fabric.Error
				if !errors.As(err, &e) || e.Remedy == "" || !errors.Is(err, c.errno) || !strings.Contains(err.Error(), e.Remedy) {
					t.Errorf("%s: error %v, want a fabric.Error about %v with a remedy", what, err, c.errno)
				}
			}
			check("Available", Provider{}.Available())
			_, err := Provider{}.Open(fabric.Config{Rank: 0, Size: 1, Job: "refused", Log: slog.New(slog.DiscardHandler)})
			check("Open", err)
			if after := openFiles(t); after != before {
				t.Errorf("%d descriptors are open, %d were before", after, before)
			}
			if parked.domains != parkedBefore {
				t.Errorf("%d domains have the sleeping thread, %d had it before", parked.domains, parkedBefore)
			}
			calls++
		})
	}
	if calls != 5 {
		t.Error("not all were tried")
	}
	if err := (Provider{}).Available(); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestAnInterruptedReservationGoesOn(t *testing.T) {
	n := 0
	real := fallocate
	instead(t, &fallocate, func(fd int, mode uint32, off, size int64) error {
		if n++; n <= 3 {
			return unix.EINTR
		}
		return real(fd, mode, off, size)
	})
	fd, mem, err := newSegment("interrupted", shape{4096, 4096, 4096})
	if err != nil || n <= 3 {
		t.Fatalf("after %d tries: %v", n, err)
	}
	unix.Munmap(mem)
	unix.Close(fd)
}

func TestAFullMachineRefusesAllocAndLaterServesIt(t *testing.T) {
	b, err := Alloc(100)
	if err != nil {
		t.Fatal(err)
	}
	defer Free(b)
	func() {
		old := fallocate
		defer func() { fallocate = old }()
		fallocate = func(int, uint32, int64, int64) error { return unix.ENOSPC }
		if _, err := Alloc(1 << 20); !errors.Is(err, unix.ENOSPC) {
			t.Errorf("Alloc on a full machine: %v", err)
		}
	}()
	c, err := Alloc(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	c[0], c[len(c)-1] = 1, 1
	if err := Free(c); err != nil {
		t.Error(err)
	}
}

// A connection that finds the machine full fails; the peer lives.
func TestAConnectionOnAFullMachineFails(t *testing.T) {
	for name, refuse := range map[string]func(t *testing.T){
		"a full ring": func(t *testing.T) {
			instead(t, &fallocate, func(int, uint32, int64, int64) error { return unix.ENOSPC })
		},
		"a first ring": func(t *testing.T) {
			if qemu != "" {
				t.Skip("qemu-user has no MADV_POPULATE_WRITE")
			}
			instead(t, &madvise, func([]byte, int) error { return unix.EFAULT })
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "a first ring" {
				instead(t, &forHaste, 0)
			}
			ds := openJob(t, 2)
			n := newNode(t, ds[0])
			refuse(t)
			ep, err := ds[0].Connect(1, ds[1].Addr())
			if err != nil {
				t.Fatal(err)
			}
			waitFor(t, "PeerDown", func() bool { ds[0].Poll(n, 64); return n.down[1] != nil })
			if err := n.down[1]; !errors.Is(err, fabric.ErrPeerDown) || !errors.Is(err, unix.ENOSPC) {
				t.Errorf("PeerDown(%v)", err)
			}
			if err := ep.Send(1, 0, nil, nil); !errors.Is(err, fabric.ErrPeerDown) {
				t.Errorf("Send = %v", err)
			}
		})
	}
}

// A peer that has ended meanwhile refuses nothing: the log does not say so.
func TestAPeerThatHasEndedDoesNotRefuseCMA(t *testing.T) {
	instead(t, &cmaRead, func(int, []byte, uint64) error { return unix.ESRCH })
	var log records
	ds := []fabric.Domain{
		openOne(t, fabric.Config{Rank: 0, Size: 2, Job: t.Name(), Log: slog.New(slog.NewTextHandler(&log, nil))}),
		openOne(t, fabric.Config{Rank: 1, Size: 2, Job: t.Name(), Log: slog.New(slog.DiscardHandler)}),
	}
	n := newNode(t, ds[0])
	ep, err := ds[0].Connect(1, ds[1].Addr())
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the connection", func() bool { ds[0].Poll(n, 64); return ep.Send(1, 0, nil, nil) != fabric.ErrAgain })
	if said := log.String(); said != "" {
		t.Errorf("the log says %s", said)
	}
	if ds[0].(*Domain).peers[1].info.cma.Load() {
		t.Error("the peer's memory is taken to be readable")
	}
}

func TestWithoutCMAMessagesAreCopiedAndTheLogSaysSoOnce(t *testing.T) {
	refuseCMA(t)
	var log records
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	cfg := fabric.Config{Size: 3, Job: t.Name(), Log: logger}
	var ds []fabric.Domain
	for r := range 3 {
		cfg.Rank = fabric.Peer(r)
		if r > 0 {
			cfg.Log = slog.New(slog.DiscardHandler)
		}
		ds = append(ds, openOne(t, cfg))
	}
	for peer := 1; peer < 3; peer++ {
		n := newNode(t, ds[0])
		ep, err := ds[0].Connect(fabric.Peer(peer), ds[peer].Addr())
		if err != nil {
			t.Fatal(err)
		}
		waitFor(t, "the connection", func() bool { ds[0].Poll(n, 64); return ep.Send(1, 0, nil, nil) != fabric.ErrAgain })
		b := make([]byte, 1<<20)
		reg, err := ds[peer].Register(b, fabric.RemoteRead)
		if err != nil {
			t.Fatal(err)
		}
		if err := ep.Get(fabric.Segment{Bytes: make([]byte, 1<<20)}, reg.Remote, 1); !errors.Is(err, fabric.ErrUnsupported) {
			t.Errorf("Get from %d = %v, want ErrUnsupported", peer, err)
		}
		// The arena needs no permission.
		a, err := Alloc(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		defer Free(a)
		a[5] = 5
		reg, err = ds[peer].Register(a, fabric.RemoteRead)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, 1<<20)
		if err := ep.Get(fabric.Segment{Bytes: got}, reg.Remote, 2); err != nil {
			t.Fatalf("Get from the arena: %v", err)
		}
		waitFor(t, "the Get", func() bool { ds[0].Poll(n, 64); _, ok := n.done[2]; return ok })
		if n.done[2] != nil || !bytes.Equal(got, a) {
			t.Errorf("Get from the arena: %v", n.done[2])
		}
	}
	if n := strings.Count(log.String(), "cross memory attach is refused"); n != 1 {
		t.Errorf("the log says it %d times:\n%s", n, log.String())
	}
	if !strings.Contains(log.String(), "remedy=") {
		t.Errorf("the log tells no remedy:\n%s", log.String())
	}
}
