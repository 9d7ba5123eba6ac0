package shm

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/internal/limits"
)

// peerInfo is what a greeting carries about a peer. It belongs to the domain
// once posted, and does not change then, but for cma and arena, which are safe for
// concurrent use: goroutines in Write use it too.
type peerInfo struct {
	pid     int
	thread  int // of pid: what CMA names, see parked.go
	pidfd   int // -1 for a peer in this process
	control []byte
	bell    int // eventfd
	arena   *arenaView
	cma     atomic.Bool // cleared when CMA is refused; it stands alone
}

// meet checks the identity of the other side and collects its descriptors. It
// sets those it takes from fds to -1 there.
func (g *greeter) meet(c *handshake, you *hello, fds []int) (_ *peerInfo, err error) {
	p := &peerInfo{pid: c.pid, thread: c.pid, pidfd: -1, bell: -1}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if p.control, err = mapSegment(fds[fdControl], peerControlShape); err != nil {
		return nil, err
	}
	if err = checkSealed(fds[fdArena]); err != nil {
		return nil, err
	}
	p.arena = &arenaView{fd: fds[fdArena]}
	fds[fdArena] = -1
	p.bell = fds[fdBell]
	fds[fdBell] = -1
	if err = neverBlocks(p.bell); err != nil {
		return nil, fmt.Errorf("keep the peer's doorbell: %w", err)
	}
	if p.pid != os.Getpid() {
		if p.pid == 0 {
			return nil, errors.New("the peer is in a process namespace that can't be seen from here; give the ranks one PID namespace")
		}
		if p.pidfd, err = newPidfd(p.pid); err != nil {
			return nil, err
		}
	}
	p.cma.Store(g.d.tryCMA(p, you))
	return p, nil
}

// neverBlocks makes a descriptor non-blocking.
func neverBlocks(fd int) error {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil || flags&unix.O_NONBLOCK != 0 {
		return err
	}
	return unix.SetNonblock(fd, true)
}

// ownInfo is a rank's info about itself, as of a peer.
func (d *Domain) ownInfo() (_ *peerInfo, err error) {
	p := &peerInfo{pid: os.Getpid(), thread: os.Getpid(), pidfd: -1, bell: -1}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if p.control, err = mapSegment(d.controlFD, peerControlShape); err != nil {
		return nil, err
	}
	if p.bell, err = unix.FcntlInt(uintptr(d.bellFD), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		return nil, fmt.Errorf("keep the doorbell: %w", err)
	}
	arena, err := unix.FcntlInt(uintptr(d.arena.fd()), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("keep the arena: %w", err)
	}
	p.arena = &arenaView{fd: arena}
	me := d.greeting()
	p.cma.Store(d.tryCMA(p, &me))
	return p, nil
}

// tryCMA reports whether the peer's memory can be read, and decides which of its
// threads is named for it.
func (d *Domain) tryCMA(p *peerInfo, you *hello) bool {
	if isThread(p.pid, int(you.parked)) {
		if probeCMA(int(you.parked), you.probeAddr, you.probeValue) == nil {
			p.thread = int(you.parked)
			return true
		}
	}
	err := probeCMA(p.thread, you.probeAddr, you.probeValue)
	if err != nil && !errors.Is(err, unix.ESRCH) { // a process that has ended has no permissions
		d.noCMA(err)
	}
	return err == nil
}

func (p *peerInfo) close() {
	if p.control != nil {
		unix.Munmap(p.control)
	}
	if p.bell >= 0 {
		unix.Close(p.bell)
	}
	if p.pidfd >= 0 {
		unix.Close(p.pidfd)
	}
	if p.arena != nil {
		p.arena.close()
	}
}

// trusted returns the process at the other end, if it belongs to this user or to
// root.
func trusted(fd int) (pid int, err error) {
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, fmt.Errorf("peer credentials: %w", limits.Call("getsockopt", err))
	}
	if euid := os.Geteuid(); int(cred.Uid) != euid && cred.Uid != 0 {
		return 0, fmt.Errorf("process %d belongs to user %d, not to %d", cred.Pid, cred.Uid, euid)
	}
	return int(cred.Pid), nil
}
