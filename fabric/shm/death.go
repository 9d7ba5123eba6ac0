package shm

import (
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// offLeft is the word of a control segment that counts the peers that have
// closed. Which they are is in the rings.
const offLeft = 64

// leave tells a peer that we close. Behind it we neither write to nor read from
// the rings that we share, of which either may be missing.
func leave(p *peerInfo, tx, rx []byte) {
	if tx != nil {
		atomic.StoreUint32(word(tx, offEnds), 1)
	}
	if rx != nil {
		atomic.StoreUint32(word(rx, offEnds+4), 1)
	}
	atomic.AddUint32(word(p.control, offLeft), 1)
	ringBell(uintptr(p.bell))
}

// findLeft ends the peers that have closed. One that has sent to us has given
// us its ring before that, so the ring is ours by the time that we have seen it
// close and taken the news after that.
func (d *Domain) findLeft() {
	d.leftSeen = atomic.LoadUint32(d.left)
	for _, e := range d.peers {
		if e != nil {
			e.left = e.hasLeft()
		}
	}
	d.takeEvents()
	for _, e := range d.peers {
		if e != nil && e.left {
			d.die(e, errLeft)
		}
	}
}

var errLeft = fabric.ErrPeerLeft

// hasLeft reports whether the peer has begun to close. What was read from its
// memory before a call that answers false was read in time.
func (e *endpoint) hasLeft() bool {
	if e.rx != nil {
		return atomic.LoadUint32(word(e.rx.mem, offEnds)) != 0
	}
	return e.tx.mem != nil && atomic.LoadUint32(word(e.tx.mem, offEnds+4)) != 0
}

// die ends a peer once what it had sent is taken. One that has left may also
// have refused a connection or ended since: that it left is what counts.
func (d *Domain) die(e *endpoint, err error) {
	if e.left || e.hasLeft() {
		err = &fabric.Error{Op: "talk over shared memory", Peer: e.peer, HasPeer: true, Err: errLeft}
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
