package shm

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// watch reports the end of the peer's process. Peers in our own process end
// with us.
func (d *Domain) watch(p fabric.Peer, info *peerInfo) {
	if info.pidfd == nil {
		return
	}
	pidfd, pid := info.pidfd, info.pid
	d.wg.Go(func() {
		if !exited(pidfd) {
			return
		}
		d.post(event{peer: p, err: &fabric.Error{Op: "talk over shared memory", Peer: p, HasPeer: true,
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
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
		return n > 0 || err != nil && err != unix.EINTR
	})
	return err == nil
}
