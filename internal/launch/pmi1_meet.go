package launch

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The ranks of a host meet at a Unix socket in the abstract namespace: whoever
// binds it leads, the others connect. Nobody knows beforehand which ranks those
// are. All have met when the process manager's barrier is over: a rank enters
// it with its greeting written, and the leader then finds all of them in its
// queue. A rank that can't meet the others leads itself: that takes more
// requests to the process manager, and nothing else changes. So no decision
// here needs the others' consent.
//
// Every process of the network namespace can connect to such a socket, or bind
// its name first. Both sides therefore ask the kernel for the other's user.
// Processes of one user are not protected from each other anywhere.

// meetTime bounds the attempts to meet, on a leader that has bound its socket
// and does not listen yet, or whose queue is full.
const meetTime = time.Second

// meetingName is the socket's name, without the leading NUL: equal for ranks of
// one host and user that one process manager's daemon has started for one job.
// Names of key-value spaces alone are not: in two clusters of Slurm they are the
// numbers of job and step.
func (c *pmiClient) meetingName(host hostID) string {
	b := fmt.Appendf(nil, "%d %q %d %d %q ", groupVersion, c.kvs, c.size, os.Geteuid(), daemonMark(c.conn))
	sum := sha256.Sum256(append(b, host[:]...))
	return "weft-pmi-" + hex.EncodeToString(sum[:16])
}

// daemonMark tells the process manager's daemon at the other end of conn from
// others: by the process that made the socket pair (unix(7), SO_PEERCRED), or
// by its address.
func daemonMark(conn net.Conn) string {
	if u, ok := conn.(*net.UnixConn); ok {
		if who, err := peer(u); err == nil {
			return "process " + strconv.Itoa(int(who.Pid))
		}
		return ""
	}
	return conn.RemoteAddr().String()
}

// peer returns the process at the other end of a Unix socket: for a connection
// to a listener the one that called listen.
func peer(conn *net.UnixConn) (who *unix.Ucred, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	if cerr := raw.Control(func(fd uintptr) {
		who, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); cerr != nil {
		return nil, cerr
	}
	return who, err
}

// ours reports whether a process of this user is at the other end, and which.
func ours(conn *net.UnixConn) (pid int, ok bool) {
	who, err := peer(conn)
	if err != nil || int(who.Uid) != os.Geteuid() {
		return 0, false
	}
	return int(who.Pid), true
}

// encounter is how a rank stands to the others of its host: one of the two is
// set, or neither for a rank that is alone.
type encounter struct {
	door *door         // the others come here
	up   *net.UnixConn // to the leader, which has been sent the greeting
}

// meet binds the name or greets the rank that has.
func meet(ctx context.Context, name string, greeting []byte) encounter {
	addr := &net.UnixAddr{Name: "@" + name, Net: "unix"}
	ctx, cancel := context.WithTimeout(ctx, meetTime)
	defer cancel()
	for wait := time.Millisecond; ; wait *= 2 {
		ln, err := net.ListenUnix("unix", addr)
		if err == nil {
			return encounter{door: openDoor(ln)}
		}
		if !errors.Is(err, unix.EADDRINUSE) {
			return encounter{}
		}
		conn, err := net.DialUnix("unix", nil, addr)
		if err == nil {
			return encounter{up: greet(conn, greeting)}
		}
		if !errors.Is(err, unix.ECONNREFUSED) && !errors.Is(err, unix.EAGAIN) {
			return encounter{}
		}
		select {
		case <-ctx.Done():
			return encounter{}
		case <-time.After(wait):
		}
	}
}

// greet writes the greeting to a leader of the same user. On a failure it
// returns nil, and the leader finds no whole greeting. The greeting fits the
// socket's buffer, so the leader need not read it yet.
func greet(conn *net.UnixConn, greeting []byte) *net.UnixConn {
	if _, ok := ours(conn); ok {
		conn.SetWriteDeadline(time.Now().Add(meetTime))
		if _, err := conn.Write(greeting); err == nil {
			conn.SetWriteDeadline(time.Time{})
			return conn
		}
	}
	conn.Close()
	return nil
}

// door accepts connections at a leader, on a goroutine of its own: the queue may
// be shorter than the host has ranks.
type door struct {
	ln     *net.UnixListener
	closed chan struct{} // when the goroutine has returned; the rest is then read-only
	conns  []*net.UnixConn
	err    error // why not all were accepted
}

func openDoor(ln *net.UnixListener) *door {
	d := &door{ln: ln, closed: make(chan struct{})}
	go func() {
		defer close(d.closed)
		for {
			conn, err := ln.AcceptUnix()
			if err != nil {
				d.err = err
				return
			}
			d.admit(conn)
		}
	}()
	return d
}

// admit keeps a connection of this user's. Others are closed.
func (d *door) admit(conn *net.UnixConn) {
	if _, ok := ours(conn); ok {
		d.conns = append(d.conns, conn)
	} else {
		conn.Close()
	}
}

// finish accepts those that have connected, and returns them.
func (d *door) finish() ([]*net.UnixConn, error) {
	raw, err := d.ln.SyscallConn()
	if err == nil {
		// From here on connect(2) is refused, so that the queue has an end
		// (net/unix/af_unix.c: unix_stream_connect).
		err = raw.Control(func(fd uintptr) { unix.Shutdown(int(fd), unix.SHUT_RD) })
	}
	d.ln.SetDeadline(time.Unix(1, 0))
	<-d.closed
	if err == nil && !errors.Is(d.err, os.ErrDeadlineExceeded) {
		err = d.err
	}
	for err == nil {
		var conn *net.UnixConn
		if conn, err = acceptNow(raw); err == nil {
			d.admit(conn)
		}
	}
	if !errors.Is(err, unix.EAGAIN) {
		d.drop()
		return nil, fmt.Errorf("meet the ranks of this host: %w", err)
	}
	d.ln.Close()
	return d.conns, nil
}

// acceptNow takes a connection out of a listener's queue, or returns EAGAIN.
func acceptNow(listener syscall.RawConn) (*net.UnixConn, error) {
	fd, err := -1, error(nil)
	cerr := listener.Control(func(l uintptr) {
		for {
			if fd, _, err = unix.Accept4(int(l), unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK); err != unix.EINTR {
				return
			}
		}
	})
	if cerr != nil {
		err = cerr
	}
	if err != nil {
		return nil, err
	}
	return unixConn(fd, "member")
}

// drop closes the door and whoever has come.
func (d *door) drop() {
	d.ln.Close()
	<-d.closed
	for _, conn := range d.conns {
		conn.Close()
	}
}

// maxGreeting is the most bytes of a greeting: a hello, and an offer of a card.
const maxGreeting = 2*frameHeader + helloLen + 8 + cardFixed + maxCPUs/8

func appendGreeting(b []byte, rank, size int, mine card) []byte {
	b = appendFrame(b, kindHello, hello{uint32(rank), uint32(size)}.append(nil))
	return appendFrame(b, kindOffer, appendOffer(nil, 0, mine.append(nil)))
}

// readGreeting reads the greeting on a connection from before the barrier, in
// a job of size ranks, without blocking. ok is false for a connection that is
// not of the job: a rank's greeting is there as a whole.
func readGreeting(conn *net.UnixConn, size int) (rank int, its card, ok bool) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return 0, its, false
	}
	buf, n := make([]byte, maxGreeting+1), 0 // with a byte more it is none
	if rerr := raw.Read(func(fd uintptr) bool {
		for {
			if n, err = unix.Read(int(fd), buf); err != unix.EINTR {
				return true
			}
		}
	}); rerr != nil || err != nil {
		return 0, its, false
	}
	r := bytes.NewReader(buf[:n])
	kind, p, err := readFrame(r, size)
	if err != nil || kind != kindHello {
		return 0, its, false
	}
	h, err := parseHello(p)
	if err != nil || int(h.size) != size || h.rank >= h.size {
		return 0, its, false
	}
	if kind, p, err = readFrame(r, size); err != nil || kind != kindOffer || r.Len() > 0 {
		return 0, its, false
	}
	round, b, err := parseOffer(p)
	if err != nil || round != 0 {
		return 0, its, false
	}
	its, err = parseCard(b)
	return int(h.rank), its, err == nil && !its.leads
}
