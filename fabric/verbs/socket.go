package verbs

import (
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/internal/greet"
)

// keepAlive notices a host that has gone without a word.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: time.Second, Interval: 500 * time.Millisecond, Count: 3}

// What ranks say over the socket once they have greeted: a byte each.
const (
	byteBye   = 'b'
	byteGone  = 'g' // and the number of a rail
	byteAsk   = 'q' // is the process there?
	byteHere  = 'h' // it is
	byteEnded = 'e' // this peer, not the transport
)

// readByte reads one byte.
func readByte(r io.Reader) (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(r, b[:])
	return b[0], err
}

// listenTo hears a peer until its socket ends, and tells of that end: the kernel
// closes the sockets of a process that dies, in whatever way.
func (d *Domain) listenTo(conn net.Conn, p fabric.Peer) {
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetKeepAliveConfig(keepAlive)
	}
	greet.Unbound(d.ctx, conn)
	d.introduced(conn, p)
	err := d.hear(conn, p)
	if d.ctx.Err() == nil {
		d.lost(p, err)
	}
}

// hear takes what a peer says after the greeting, until it says no more, and
// returns why.
func (d *Domain) hear(conn net.Conn, p fabric.Peer) error {
	for {
		b, err := readByte(conn)
		if err == nil && b == byteGone {
			if b, err = readByte(conn); err == nil && b > 0 {
				d.post(event{peer: p, rail: int(b)})
				continue
			}
		}
		switch {
		case err != nil:
			return fmt.Errorf("its process has ended or its host can't be reached (%w)", err)
		case b == byteAsk:
			d.mu.Lock()
			say(conn, byteHere)
			d.mu.Unlock()
		case b == byteHere:
			d.post(event{peer: p, here: true})
		case b == byteEnded:
			d.post(event{peer: p, ended: true})
			return errors.New("it has ended the connection")
		case b == byteBye:
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
