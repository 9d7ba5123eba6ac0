package shm

import (
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// actor is somebody who plays a rank by hand: it listens and dials.
type actor struct {
	t    *testing.T
	rank int
	l    *net.UnixListener
	d    *Domain // the rank that it plays with
	n    *node
	seg  []byte
}

// newActor opens a rank of two, and listens as the other.
func newActor(t *testing.T, rank int) *actor {
	t.Helper()
	a := &actor{t: t, rank: rank}
	a.n = newNode(t, openOne(t, fabric.Config{Rank: fabric.Peer(1 - rank), Size: 2, Job: t.Name(), Log: slog.New(slog.DiscardHandler)}))
	a.d = a.n.d
	var err error
	if a.l, err = net.ListenUnix("unixpacket", &net.UnixAddr{Name: "@actor-" + a.d.addr, Net: "unixpacket"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.l.Close() })
	return a
}

func (a *actor) other() fabric.Peer { return fabric.Peer(a.rank) }

func (a *actor) connect() fabric.Endpoint {
	a.t.Helper()
	ep, err := a.d.Connect(a.other(), []byte("actor-"+a.d.addr+" "+netNamespace()))
	if err != nil {
		a.t.Fatal(err)
	}
	return ep
}

// accept takes the rank's dial.
func (a *actor) accept() *net.UnixConn {
	a.t.Helper()
	conn, err := a.l.AcceptUnix()
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { conn.Close() })
	return conn
}

// greeted takes the rank's dial with its greeting.
func (a *actor) greeted() *net.UnixConn {
	a.t.Helper()
	conn := a.accept()
	h, fds, err := read(conn)
	closeAll(fds)
	if err != nil || h.rank != uint32(1-a.rank) || len(fds) != maxFDs {
		a.t.Fatalf("greeting %+v with %d descriptors, %v", h, len(fds), err)
	}
	return conn
}

func (a *actor) hello() hello {
	h := a.d.greeting()
	h.rank = uint32(a.rank)
	return h
}

func (a *actor) files() (control, bell, arena int) {
	a.t.Helper()
	bell, err := newEventFD()
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { unix.Close(bell) })
	return file(a.t, controlSize, unix.F_SEAL_SHRINK), bell, file(a.t, 0, unix.F_SEAL_SHRINK)
}

// answer answers the rank's dial as it should be.
func (a *actor) answer(conn *net.UnixConn) {
	a.t.Helper()
	h := a.hello()
	control, bell, arena := a.files()
	utter(a.t, conn, &h, control, bell, arena)
}

// dial dials the rank and greets it as it should be.
func (a *actor) dial() *net.UnixConn {
	a.t.Helper()
	s := call(a.t, a.d)
	h := a.hello()
	control, bell, arena := a.files()
	fd, seg, err := newSegment("actor", a.d.ringPair())
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(func() { unix.Munmap(seg); unix.Close(fd) })
	a.seg = seg
	utter(a.t, s.conn, &h, control, bell, arena, fd)
	return s.conn
}

func (a *actor) settle(conn *net.UnixConn) {
	atomic.StoreUint32(word(a.seg, offSettled), 1)
	conn.Close()
}

// hear takes an answer, which is a welcome, a refusal or that there is a
// connection.
func (a *actor) hear(conn *net.UnixConn) string {
	a.t.Helper()
	h, fds, err := read(conn)
	closeAll(fds)
	switch {
	case err != nil:
		return err.Error()
	case h.already:
		return "already"
	case h.refusal != "":
		return h.refusal
	case len(fds) == fdRings:
		return "welcome"
	}
	return "nothing"
}

func (a *actor) mustHear(conn *net.UnixConn, want string) {
	a.t.Helper()
	if got := a.hear(conn); !strings.Contains(got, want) {
		a.t.Fatalf("the answer is %q, want %q", got, want)
	}
}

func (a *actor) waitForPeerDown(says string) {
	a.t.Helper()
	waitFor(a.t, "PeerDown", func() bool { a.d.Poll(a.n, 64); return a.n.down[a.other()] != nil })
	if err := a.n.down[a.other()]; !errors.Is(err, fabric.ErrPeerDown) || !strings.Contains(err.Error(), says) {
		a.t.Errorf("PeerDown(%v), want one about %q", err, says)
	}
}

func (a *actor) waitForRoom(ep fabric.Endpoint) {
	a.t.Helper()
	waitFor(a.t, "the connection", func() bool {
		a.d.Poll(a.n, 64)
		err := ep.Send(1, 0, nil, nil)
		if err != nil && err != fabric.ErrAgain {
			a.t.Fatal(err)
		}
		return err == nil
	})
}

// catchUp returns when the rank has dealt with the connections before.
func (a *actor) catchUp() {
	s := call(a.t, a.d)
	defer s.conn.Close()
	s.hello(func(h *hello) { h.job = "another" })
	if h, err := s.answer(); err != nil || h.refusal == "" {
		a.t.Fatalf("a stranger is answered %+v, %v", h, err)
	}
}
