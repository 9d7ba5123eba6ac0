package verbs

import (
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// keepAlive notices a host that has gone without a word.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: time.Second, Interval: 500 * time.Millisecond, Count: 3}

// portGrace is how long a port may be down before its peers are given up: the
// device repeats what is lost meanwhile.
const portGrace = time.Second

// watch tells of the peer's end: the kernel closes the sockets of a process
// that dies, in whatever way.
func (d *Domain) watch(conn net.Conn, p fabric.Peer) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetKeepAliveConfig(keepAlive)
	}
	conn.SetDeadline(time.Time{})
	if d.ctx.Err() != nil {
		return // Close has set the deadline before us
	}
	d.introduced(conn, p)
	err := d.hear(conn, p)
	if d.ctx.Err() == nil {
		d.lost(p, err)
	}
}

// hear takes what a peer says after the handshake, until it says no more, and
// returns why.
func (d *Domain) hear(conn net.Conn, p fabric.Peer) error {
	for {
		b, err := readN(conn, 1)
		if err == nil && b[0] == byteGone {
			if b, err = readN(conn, 1); err == nil && b[0] > 0 {
				d.post(event{peer: p, rail: int(b[0])})
				continue
			}
		}
		switch {
		case err != nil:
			return fmt.Errorf("its process has ended or its host can't be reached (%w)", err)
		case b[0] == byteAsk:
			d.mu.Lock()
			say(conn, byteHere)
			d.mu.Unlock()
		case b[0] == byteHere:
			d.post(event{peer: p, here: true})
		case b[0] == byteEnded:
			d.post(event{peer: p, ended: true})
			return errors.New("it has ended the connection")
		case b[0] == byteBye:
			return fabric.ErrPeerLeft
		default:
			return fmt.Errorf("it sent %q where nothing is to come", b)
		}
	}
}

// say sends a few bytes and never waits, since it is called under Domain.mu,
// which the owner takes. What a socket carries is rare, so one without room is
// that of a peer which asks without end and reads nothing: it is hung up.
func say(conn net.Conn, b ...byte) {
	tcp, ok := conn.(*net.TCPConn)
	if !ok {
		return
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return // hear knows why
	}
	full := false
	raw.Write(func(fd uintptr) bool {
		n, err := unix.Write(int(fd), b)
		full = err == unix.EAGAIN || err == nil && n < len(b)
		return true
	})
	if full {
		conn.Close()
	}
}

// tellGone tells the peer that our end of a rail is destroyed. A handshake that
// is still under way is not disturbed.
func (d *Domain) tellGone(p fabric.Peer, rail int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := &d.links[p]
	if l.railsGone = append(l.railsGone, byteGone, byte(rail)); l.introduced && l.conn != nil {
		say(l.conn, l.railsGone...)
		l.railsGone = nil
	}
}

// introduced tells the peer what has been lost during the handshake.
func (d *Domain) introduced(conn net.Conn, p fabric.Peer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := &d.links[p]
	if l.introduced = true; l.railsGone != nil {
		say(conn, l.railsGone...)
		l.railsGone = nil
	}
}

// lost reports the end of a peer that was connected.
func (d *Domain) lost(p fabric.Peer, err error) {
	d.post(event{peer: p, err: &fabric.Error{Op: "talk over verbs", Peer: p, HasPeer: true,
		Err: fmt.Errorf("%w: %w", fabric.ErrPeerDown, err)}})
}

// watchDevice waits for what the device has to say outside of its queues.
func (d *Domain) watchDevice(port int, n nic, f *os.File, raw syscall.RawConn) {
	defer f.Close()
	var grace *time.Timer
	defer func() {
		if grace != nil {
			grace.Stop()
		}
	}()
	for {
		var ev asyncEvent
		err := raw.Read(func(uintptr) bool {
			var ok bool
			ev, ok = n.async()
			return ok
		})
		if err != nil {
			return
		}
		switch ev.kind {
		case asyncQP:
			d.post(event{port: port, qpn: ev.qpn, err: fmt.Errorf("the device reports %s", ev.name)})
		case asyncDevice:
			d.post(event{port: port, all: true, err: fmt.Errorf("the device reports %s", ev.name)})
		case asyncPortDown:
			d.cfg.Log.Warn("verbs: the port is down", "device", d.infoAt(port).device, "event", ev.name)
			if grace != nil {
				grace.Stop() // else this one outlives the next event
			}
			grace = time.AfterFunc(portGrace, func() {
				p := d.infoAt(port)
				d.post(event{port: port, all: true, err: fmt.Errorf("port %d of %s is down", p.number, p.device)})
			})
		case asyncPortUp:
			if grace != nil {
				grace.Stop()
			}
		default:
			d.cfg.Log.Debug("verbs: device event", "event", ev.name)
		}
	}
}

// pollable makes a file of a copy of a descriptor that Go's poller waits on.
func pollable(fd int, name string) (*os.File, syscall.RawConn, error) {
	dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	f := os.NewFile(uintptr(dup), name)
	raw, err := f.SyscallConn()
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, raw, nil
}
