package shm

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// secret is n bytes that nobody can read, until some are opened.
func secret(t *testing.T, n int) []byte {
	t.Helper()
	b, err := unix.Mmap(-1, 0, n, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(b) })
	return b
}

// A transfer that the kernel refuses ends as one to be done by messages,
// whichever way it goes, and the peer lives.
func TestMemoryThatTheKernelDoesNotReachIsUnsupported(t *testing.T) {
	for _, n := range []int{100, wholeGet, 4 * maxBlock} {
		for _, hole := range []int{0, n / 2, n - 1} { // where the memory begins to be out of reach
			t.Run(fmt.Sprintf("%d bytes from %d", n, hole), func(t *testing.T) {
				p := newPair(t)
				needCMA(t, p.n[0])
				page := os.Getpagesize()
				all := secret(t, (n+2*page)&^(page-1)+page)
				start := (page - hole%page) % page
				if open := start + hole; open > 0 {
					if err := unix.Mprotect(all[:open], unix.PROT_READ|unix.PROT_WRITE); err != nil {
						t.Fatal(err)
					}
				}
				reg, err := p.n[1].d.Register(all[start:start+n], fabric.RemoteRead|fabric.RemoteWrite)
				if err != nil {
					t.Fatal(err)
				}
				local := fabric.Segment{Bytes: make([]byte, n)}
				for op, call := range []func(fabric.Op) error{
					func(op fabric.Op) error { return p.ep[0].Get(local, reg.Remote, op) },
					func(op fabric.Op) error { return p.ep[0].Put(local, reg.Remote, op) },
				} {
					if err := call(fabric.Op(op)); err != nil {
						t.Fatal(err)
					}
					p.until("the end", func() bool { _, over := p.n[0].done[fabric.Op(op)]; return over })
					if err := p.n[0].done[fabric.Op(op)]; !errors.Is(err, fabric.ErrUnsupported) || errors.Is(err, fabric.ErrPeerDown) {
						t.Errorf("operation %d: %v, want ErrUnsupported", op, err)
					}
				}
				p.exchange("alive")
			})
		}
	}
}

// A process that forbids to be read after the connection stands is believed.
func TestAReadThatIsForbiddenMeanwhileIsUnsupported(t *testing.T) {
	p := newPair(t)
	needCMA(t, p.n[0])
	e := p.ep[0].(*endpoint)
	if err := e.checked(unix.EPERM); !errors.Is(err, fabric.ErrUnsupported) || !errors.Is(err, unix.EPERM) {
		t.Errorf("%v, want ErrUnsupported", err)
	}
	src := bytes.Repeat([]byte{7}, 100)
	reg, err := p.n[1].d.Register(src, fabric.RemoteRead)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Get(fabric.Segment{Bytes: make([]byte, 100)}, reg.Remote, 1); !errors.Is(err, fabric.ErrUnsupported) {
		t.Errorf("the next Get answers %v, want ErrUnsupported", err)
	}
}
