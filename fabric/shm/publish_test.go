package shm

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// forbidden is memory that nobody may read: a copy from it is the last thing that
// its caller does.
func forbidden(t *testing.T, n int) []byte {
	t.Helper()
	mem, err := unix.Mmap(-1, 0, n, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(mem) })
	return mem
}

// faults reports whether f stops because it reads memory that it may not.
func faults(f func()) (stopped bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { stopped = recover() != nil }()
	f()
	return false
}

// A sender that is stopped while it copies has published nothing.
func TestALineIsPublishedBehindWhatItCarries(t *testing.T) {
	secret := forbidden(t, maxEager)
	for _, c := range []struct{ hdr, body []byte }{
		{nil, secret[:1]}, {nil, secret[:maxInline]}, {secret[:8], nil}, {secret[:8], make([]byte, 8)}, {make([]byte, 8), secret[:8]},
		{nil, secret[:maxInline+1]}, {secret[:8], make([]byte, maxEager)}, {make([]byte, 8), secret},
	} {
		t.Run(fmt.Sprintf("%d and %d bytes", len(c.hdr), len(c.body)), func(t *testing.T) {
			p, rx := newRing(leastPayload)
			defer unix.Munmap(p.mem)
			if !faults(func() { p.put(1, 2, c.hdr, c.body) }) {
				t.Fatal("what may not be read was copied: nothing is proved")
			}
			if ctl := rx.line(0).control(); ctl != 0 {
				t.Errorf("the line is published as %#x before its bytes are there", ctl)
			}
		})
	}
}

// giving looks, in each Deliver, at what the sender is told meanwhile.
type giving struct {
	*node
	tx *producer
}

func (g *giving) Deliver(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
	g.node.Deliver(from, kind, imm, hdr, body)
	lines, payload := g.tx.consumed()
	rx := g.d.peers[from].rx
	if lines >= rx.head {
		g.t.Errorf("the sender may overwrite %d lines while line %d is read", lines, rx.head)
	}
	if len(body) > maxInline && payload >= rx.payHead {
		g.t.Errorf("the sender may overwrite %d bytes while those up to %d are read", payload, rx.payHead)
	}
}

// What a handler reads is its own until it returns.
func TestTheSenderIsToldBehindTheHandler(t *testing.T) {
	for name, open := range map[string]func(testing.TB) *pair{"the first ring": patientPair, "the full ring": newPair} {
		t.Run(name, func(t *testing.T) {
			p := open(t)
			g := &giving{p.n[1], p.tx(0)}
			for i := range 2 * ringLines {
				g.got = nil
				if err := p.ep[0].Send(1, 0, nil, make([]byte, []int{8, 100, maxEager}[i%3])); err != nil {
					t.Fatal(err)
				}
				for len(g.got) == 0 {
					g.d.Poll(g, 64)
				}
			}
		})
	}
}

// A peer is shown what is shared, to the last byte, and nothing before or behind it.
func TestOnlyWhatIsSharedIsReached(t *testing.T) {
	p := newPair(t)
	for _, c := range []struct {
		addr, n uint64
		good    bool
	}{
		{offShare, 1, true}, {offShare, controlSize - offShare, true}, {controlSize - 1, 1, true}, {controlSize, 0, true},
		{0, 8, false}, {offShare - 1, 1, false}, {offShare, controlSize - offShare + 1, false}, {controlSize - 8, 9, false},
		{controlSize, 1, false}, {controlSize + 1, 0, false}, {offShare, 1<<64 - 1, false}, {1<<64 - 1, 2, false},
	} {
		b, err := p.ep[0].Reach(fabric.Remote{Addr: c.addr, Len: c.n, Key: keyShare})
		if (err == nil) != c.good || uint64(len(b)) != c.n && c.good || err != nil && !errors.Is(err, fabric.ErrBadRemote) {
			t.Errorf("%d bytes at %d: %d bytes, %v", c.n, c.addr, len(b), err)
		}
	}
}

// A process of another user may see this rank's socket, and is no rank.
func TestAProcessOfAnotherUserIsRefused(t *testing.T) {
	if unix.Geteuid() != 0 {
		t.Skip("only root can be another user for a moment")
	}
	for _, c := range []struct {
		user int
		good bool
	}{{0, true}, {65534, false}} {
		pair := socketpairOf(t, c.user)
		if _, err := trusted(pair[0]); (err == nil) != c.good {
			t.Errorf("a process of user %d meets one of root: %v", c.user, err)
		}
	}
}

// socketpairOf makes a pair of sockets as another user.
func socketpairOf(t *testing.T, user int) (fds [2]int) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	as := func(user int) {
		t.Helper()
		const same = ^uintptr(0)
		// Of this thread alone: unix.Setresuid is about all of them.
		if _, _, errno := unix.RawSyscall(unix.SYS_SETRESUID, same, uintptr(user), same); errno != 0 {
			runtime.LockOSThread() // the thread ends with the test
			t.Fatal(errno)
		}
	}
	as(user)
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	as(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeAll(fds[:]) })
	return fds
}
