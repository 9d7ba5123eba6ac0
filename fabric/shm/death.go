package shm

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// die ends a peer once what it had sent is taken. One that has left may also
// have refused a connection or ended since: that it left is what counts.
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

// watch reports the end of the peer's process. Peers in our own process end
// with us.
func (d *Domain) watch(p fabric.Peer, info *peerInfo) {
	if info.pidfd == nil {
		return
	}
	pidfd, pid := info.pidfd, info.pid
	d.watchers.Go(func() {
		if !exited(pidfd) {
			return
		}
		d.post(event{peer: p, died: true, err: &fabric.Error{Op: "talk over shared memory", Peer: p, HasPeer: true,
			Err: fmt.Errorf("%w: process %d has ended", fabric.ErrPeerDown, pid)}})
	})
}

// newPidfd is a descriptor that tells of the end of a process.
func newPidfd(pid int) (int, error) {
	fd, err := pidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return -1, &fabric.Error{Op: fmt.Sprintf("watch process %d", pid), Err: err,
			Remedy: "allow pidfd_open (a seccomp profile may refuse it, and Linux before 5.10 has none of this kind) and check the limit on open files"}
	}
	return fd, nil
}

// pidfdOpen is a variable so that tests can refuse it.
var pidfdOpen = unix.PidfdOpen

// exited waits on the Go poller until the process of a pidfd has ended, or
// answers false when the file is closed.
func exited(pidfd *os.File) bool {
	raw, err := pidfd.SyscallConn()
	if err != nil {
		return false
	}
	err = raw.Read(func(fd uintptr) bool {
		over, err := hasExited(fd)
		return over || err != nil && err != unix.EINTR
	})
	return err == nil
}

// hasExited asks a pidfd whether its process has ended, every thread of it.
func hasExited(fd uintptr) (bool, error) {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	return n > 0, err
}

// ended reports whether the peer's process has ended, without waiting.
func (p *peerInfo) ended() (ended bool) {
	if p.pidfd == nil {
		return false
	}
	raw, err := p.pidfd.SyscallConn()
	if err != nil {
		return false
	}
	err = raw.Control(func(fd uintptr) { ended, _ = hasExited(fd) })
	return err == nil && ended
}
