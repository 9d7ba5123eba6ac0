package shm

import (
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// die ends a peer once everything it had sent is consumed. It may also have
// rejected a connection or died after leaving: that it left is what counts.
func (d *Domain) die(e *endpoint, err error) {
	if left := e.leftError(); left != nil {
		err = &fabric.Error{Op: "talk over shared memory", Peer: e.peer, HasPeer: true, Err: left}
	}
	switch {
	case e.down != nil || e.dying != nil:
	case e.rx == nil:
		d.fail(e, err)
	default:
		d.dying++
		e.dying = err
	}
}

// newPidfd returns a descriptor that becomes readable when a process ends.
func newPidfd(pid int) (int, error) {
	fd, err := pidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return -1, denied(fmt.Sprintf("watch process %d", pid), "pidfd_open", err)
	}
	return fd, nil
}

// pidfdOpen is a variable so that tests can refuse it.
var pidfdOpen = unix.PidfdOpen

// hasExited polls a pidfd: whether its process has ended, with every thread.
func hasExited(fd int) (bool, error) {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	return n > 0, err
}

// ended reports whether the peer's process has ended, without waiting.
func (p *peerInfo) ended() bool {
	if p.pidfd < 0 {
		return false
	}
	over, _ := hasExited(p.pidfd)
	return over
}
