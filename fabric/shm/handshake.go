package shm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// The descriptors that travel with a greeting, in this order; the ring only
// from the side that dials.
const (
	fdControl = iota
	fdBell
	fdArena
	fdRing
	maxFDs
)

// dial makes the ring towards a peer and hands it over. It runs on a goroutine
// of its own and reports through d.post.
func (d *Domain) dial(e *endpoint) {
	p, mem, fenced, err := d.offerRing(e)
	if err != nil {
		d.post(event{peer: e.peer, err: &fabric.Error{Op: "connect over shared memory", Peer: e.peer, HasPeer: true,
			Err: fmt.Errorf("%w: %w", fabric.ErrPeerDown, err)}})
		return
	}
	d.post(event{peer: e.peer, known: p, tx: mem, fenced: fenced})
}

func (d *Domain) offerRing(e *endpoint) (p *peerInfo, mem []byte, fenced bool, err error) {
	x := d.exchange()
	x.peer, x.known = e.peer, true
	if err = x.reach(e.addr); err != nil {
		return nil, nil, false, err
	}
	conn := x.conn
	defer conn.Close()
	// Close must have the last word.
	stop := context.AfterFunc(d.ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()

	ringFD, mem, err := newSegment("weft-ring", d.ringSize(), d.ringStart())
	if err != nil {
		return nil, nil, false, err
	}
	defer unix.Close(ringFD)
	defer func() {
		if err != nil {
			unix.Munmap(mem)
		}
	}()
	me := d.greeting()
	if err = x.send(&me, d.controlFD, d.bellFD, d.arena.fd(), ringFD); err != nil {
		return nil, nil, false, err
	}
	you, fds, err := x.receive()
	defer closeAll(fds)
	if err != nil {
		return nil, nil, false, err
	}
	if you.refusal != "" {
		return nil, nil, false, errors.New(you.refusal)
	}
	if err = me.accepts(&you); err == nil && fabric.Peer(you.rank) != e.peer {
		err = fmt.Errorf("rank %d answers there", you.rank)
	}
	if err == nil && len(fds) < fdRing {
		err = errors.New("the peer sent too few descriptors")
	}
	if err != nil {
		return nil, nil, false, err
	}
	x.answered()
	p, err = d.meet(conn, &you, fds)
	return p, mem, !me.membarrier || !you.membarrier, err
}

// accept serves the rendezvous socket until the domain closes.
func (d *Domain) accept() {
	defer d.wg.Done()
	for {
		conn, err := d.listener.AcceptUnix()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			d.cfg.Log.Warn("shm: accept", "err", err)
			select {
			case <-d.ctx.Done():
				return
			case <-time.After(10 * time.Millisecond): // out of descriptors, say
			}
			continue
		}
		d.wg.Go(func() {
			defer conn.Close()
			// Close must have the last word.
			stop := context.AfterFunc(d.ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
			defer stop()
			if err := d.welcome(conn); err != nil && !hasGone(err) && d.ctx.Err() == nil {
				d.cfg.Log.Warn("shm: a connection was refused", "err", err)
			}
		})
	}
}

func (d *Domain) welcome(conn *net.UnixConn) error {
	// A stranger is not listened to at all.
	if _, err := trusted(conn); err != nil {
		return err
	}
	x := d.exchange()
	x.conn = conn
	you, fds, err := x.receive()
	defer closeAll(fds)
	if err != nil {
		return err
	}
	x.peer, x.known = fabric.Peer(you.rank), true
	x.answered()
	me := d.greeting()
	if err = me.accepts(&you); err == nil && len(fds) != maxFDs {
		err = errors.New("the peer sent too few descriptors")
	}
	var p *peerInfo
	if err == nil {
		p, err = d.meet(conn, &you, fds)
	}
	var mem []byte
	if err == nil {
		mem, err = mapSegment(fds[fdRing], d.ringSize(), d.ringStart(), unix.PROT_READ|unix.PROT_WRITE)
	}
	if err != nil {
		if p != nil {
			p.close()
		}
		me.refusal = err.Error()
		if serr := x.send(&me); !hasGone(serr) {
			err = errors.Join(err, serr)
		}
		return err
	}
	// The ring is polled before the peer hears that it may write.
	d.post(event{peer: fabric.Peer(you.rank), known: p, rx: mem})
	return x.send(&me, d.controlFD, d.bellFD, d.arena.fd())
}

// peerInfo is what a greeting told of a peer. It belongs to the domain once
// posted.
type peerInfo struct {
	pid     int
	thread  int      // of pid: what CMA names, see parked.go
	pidfd   *os.File // nil for a peer in this process
	control []byte
	bell    int // eventfd
	arena   *arenaView
	cma     bool
}

// meet checks who is at the other end and collects what it handed over.
func (d *Domain) meet(conn *net.UnixConn, you *hello, fds []int) (*peerInfo, error) {
	cred, err := trusted(conn)
	if err != nil {
		return nil, err
	}
	p := &peerInfo{pid: int(cred.Pid), thread: int(cred.Pid), bell: -1}
	if p.control, err = mapSegment(fds[fdControl], controlSize, offShare, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if err = checkSealed(fds[fdArena]); err != nil {
		return nil, err
	}
	if p.bell, err = unix.FcntlInt(uintptr(fds[fdBell]), unix.F_DUPFD_CLOEXEC, 0); err != nil {
		return nil, fmt.Errorf("keep the peer's doorbell: %w", err)
	}
	if err = unix.SetNonblock(p.bell, true); err != nil {
		return nil, fmt.Errorf("keep the peer's doorbell: %w", err)
	}
	arena, err := unix.FcntlInt(uintptr(fds[fdArena]), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("keep the peer's arena: %w", err)
	}
	p.arena = &arenaView{fd: arena}
	if p.pid != os.Getpid() {
		if p.pid == 0 {
			err = errors.New("the peer is in a process namespace that can't be seen from here; give the ranks one PID namespace")
			return nil, err
		}
		var fd int
		if fd, err = newPidfd(p.pid); err != nil {
			return nil, err
		}
		p.pidfd = os.NewFile(uintptr(fd), "pidfd")
	}
	p.cma = d.tryCMA(p, you)
	return p, nil
}

// tryCMA reports whether the peer's memory can be read, and settles which of
// its threads is named for it.
func (d *Domain) tryCMA(p *peerInfo, you *hello) bool {
	if isThread(p.pid, int(you.parked)) {
		if probeCMA(int(you.parked), you.probeAddr, you.probeValue) == nil {
			p.thread = int(you.parked)
			return true
		}
	}
	err := probeCMA(p.thread, you.probeAddr, you.probeValue)
	if err != nil && !errors.Is(err, unix.ESRCH) { // one that has ended refuses nothing
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
	if p.pidfd != nil {
		p.pidfd.Close()
	}
	if p.arena != nil {
		p.arena.close()
	}
}

// trusted says which process is at the other end, if it is our user's or
// root's.
func trusted(conn *net.UnixConn) (*unix.Ucred, error) {
	cred, err := peerCred(conn)
	if err != nil {
		return nil, err
	}
	if euid := os.Geteuid(); int(cred.Uid) != euid && cred.Uid != 0 {
		return nil, fmt.Errorf("process %d belongs to user %d, not to %d", cred.Pid, cred.Uid, euid)
	}
	return cred, nil
}

func peerCred(conn *net.UnixConn) (cred *unix.Ucred, err error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	cerr := raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err = errors.Join(cerr, err); err != nil {
		return nil, fmt.Errorf("peer credentials: %w", err)
	}
	return cred, nil
}

// sendHello sends a greeting and descriptors in one frame: two bytes of length,
// then the greeting.
func sendHello(conn *net.UnixConn, h *hello, fds ...int) error {
	b := h.encode()
	if len(b) > maxHello {
		return fmt.Errorf("greeting of %d bytes is longer than %d: shorten the job id", len(b), maxHello)
	}
	frame := append([]byte{byte(len(b)), byte(len(b) >> 8)}, b...)
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	if n, _, err := writeMsg(conn, frame, oob, nil); err != nil {
		return fmt.Errorf("send greeting: %w", err)
	} else if n < len(frame) {
		if _, err := conn.Write(frame[n:]); err != nil {
			return fmt.Errorf("send greeting: %w", err)
		}
	}
	return nil
}

// writeMsg is a variable so that tests can refuse it.
var writeMsg = (*net.UnixConn).WriteMsgUnix

// receive receives a greeting and at most maxFDs descriptors, which are the
// caller's to close, also after an error.
func (x *exchange) receive() (h hello, fds []int, err error) {
	if err := x.limit(); err != nil {
		return hello{}, nil, err
	}
	return receiveHello(x.conn, x.more)
}

// receiveHello is receive, where more says whether to wait on after the
// connection's deadline.
func receiveHello(conn *net.UnixConn, more func() error) (h hello, fds []int, err error) {
	var buf [2 + maxHello]byte
	got, want := 0, 2
	for got < want {
		oob := make([]byte, unix.CmsgSpace(4*maxFDs))
		n, oobn, flags, _, err := conn.ReadMsgUnix(buf[got:want], oob)
		if n <= 0 && isLate(err) {
			if err = more(); err == nil {
				continue
			}
		}
		if err == nil && n == 0 {
			err = errHungUp
		}
		if oobn > 0 {
			more, perr := parseFDs(oob[:oobn])
			fds = append(fds, more...)
			err = errors.Join(err, perr)
		}
		if err == nil && flags&unix.MSG_CTRUNC != 0 {
			err = errors.New("descriptors were cut off: raise the limit on open files")
		}
		if err == nil && len(fds) > maxFDs {
			err = errors.New("too many descriptors")
		}
		if err != nil {
			return hello{}, fds, fmt.Errorf("receive greeting: %w", err)
		}
		got += n
		if got == 2 && want == 2 {
			want += int(buf[0]) | int(buf[1])<<8
			if want > len(buf) {
				return hello{}, fds, fmt.Errorf("greeting of %d bytes is too long", want-2)
			}
		}
	}
	h, err = decodeHello(buf[2:want])
	return h, fds, err
}

func parseFDs(oob []byte) (fds []int, err error) {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	for i := range msgs {
		got, err := unix.ParseUnixRights(&msgs[i])
		if err != nil {
			return fds, err
		}
		fds = append(fds, got...)
	}
	return fds, nil
}

func closeAll(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}
