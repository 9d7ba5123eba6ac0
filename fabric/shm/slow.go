package shm

import (
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// handshakeTime is after how long without an answer a connection that is being
// made is spoken of. It is no limit: a process of this machine that lives will
// answer, however long it is stopped or has to do without a processor. It is a
// variable so that tests can make it short, and is read by Open.
var handshakeTime = 20 * time.Second

// exchange is one exchange of greetings. It belongs to the goroutine that makes
// the connection.
type exchange struct {
	d     *Domain
	conn  *net.UnixConn // nil while there is none yet
	peer  fabric.Peer
	known bool // peer is
	begun time.Time
	said  bool
}

func (d *Domain) exchange() *exchange { return &exchange{d: d, begun: time.Now()} }

// limit sets when the next receive gives up, for more to decide.
func (x *exchange) limit() error {
	x.conn.SetReadDeadline(time.Now().Add(x.d.slow))
	if x.d.ctx.Err() != nil { // Close has set its own, which ours must not replace
		return fabric.ErrClosed
	}
	return nil
}

// more is called when the other end has been silent for so long. It answers why
// there is no use in waiting on, or nil with a new limit set. The end of a
// process also ends its connections, which a receive finds at once: to ask for
// the process as well is for a socket that a child of it has inherited.
func (x *exchange) more() error {
	if x.d.ctx.Err() != nil {
		return fabric.ErrClosed
	}
	pid := 0
	if cred, err := peerCred(x.conn); err == nil {
		pid = int(cred.Pid)
	}
	if hasEnded(pid) {
		return fmt.Errorf("process %d has ended", pid)
	}
	x.say("shm: a process that lives does not answer; waiting for it. It may be stopped (a signal, a debugger) or without a processor",
		"pid", pid)
	return x.limit()
}

// say warns, once, of a connection that takes long.
func (x *exchange) say(what string, more ...any) {
	if x.said || time.Since(x.begun) < x.d.slow {
		return
	}
	x.said = true
	if x.known {
		more = append(more, "rank", x.peer)
	}
	x.d.cfg.Log.Warn(what, append(more, "since", x.begun.Format(time.TimeOnly))...)
}

// answered tells the reader of the warning that it is over.
func (x *exchange) answered() {
	if x.said {
		x.d.cfg.Log.Info("shm: the process has answered", "rank", x.peer, "after", time.Since(x.begun).Round(time.Millisecond))
	}
}

// reach connects to a peer's socket. A queue of connections that is full is
// waited for: its owner takes none while it is stopped, and if it ends, the
// socket refuses.
func (x *exchange) reach(addr string) error {
	var dialer net.Dialer
	socket, namespace := socketOf(addr)
	for pause := pauseMin; ; pause = min(2*pause, pauseMax) {
		nc, err := dialer.DialContext(x.d.ctx, "unix", "@"+socket)
		if err == nil {
			x.conn = nc.(*net.UnixConn)
			return nil
		}
		if !errors.Is(err, unix.EAGAIN) {
			return unreached(err, namespace)
		}
		x.say("shm: the queue of connections to a process is full; waiting for it. It may be stopped (a signal, a debugger) or without a processor")
		if err := x.pause(pause); err != nil {
			return err
		}
	}
}

// send sends a greeting. The kernel bounds the descriptors that a user has
// under way in sockets: those of others have to be received first.
func (x *exchange) send(h *hello, fds ...int) error {
	for pause := pauseMin; ; pause = min(2*pause, pauseMax) {
		err := sendHello(x.conn, h, fds...)
		if !errors.Is(err, unix.ETOOMANYREFS) {
			return err
		}
		x.say("shm: too many descriptors are on their way to processes that do not receive them; waiting. Raise the limit on open files, or start fewer ranks")
		if err := x.pause(pause); err != nil {
			return err
		}
	}
}

// How long to wait before the kernel is asked again.
const (
	pauseMin = time.Millisecond
	pauseMax = 100 * time.Millisecond
)

func (x *exchange) pause(d time.Duration) error {
	select {
	case <-x.d.ctx.Done():
		return fabric.ErrClosed
	case <-time.After(d):
		return nil
	}
}

// hasEnded reports whether it is certain that a process has ended.
func hasEnded(pid int) bool {
	if pid <= 0 {
		return false // of another PID namespace
	}
	fd, err := pidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return errors.Is(err, unix.ESRCH)
	}
	defer unix.Close(fd)
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	return err == nil && n > 0
}

// isLate reports whether a receive has met the limit.
func isLate(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
