package tcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/internal/greet"
)

// A rank that is declared dead, and is not, learns it, so that the two do not
// disagree for ever. An End frame tells it if there is room for one. A rank whose
// connection ends without a word, by an end of file or a reset, asks: it calls the
// peer once more. If the peer's process has ended, nobody is there; one that has
// given this rank up says so. Until the answer, which takes a round trip and
// askTime at most, the peer is not down.

// toAsk is the use of a connection that asks, and is always refused.
const toAsk use = 0xff

// expelledMark begins the refusal of a rank that was given up.
const expelledMark = "expelled: "

// errExpelled is why a rank that was given up is refused.
var errExpelled = errors.New(expelledMark + "the caller was declared dead")

// verdict is the refusal of a rank that asks.
func (d *Domain) verdict(p fabric.Peer) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.links[p].over {
		return errExpelled
	}
	return errors.New("the connection was not ended here")
}

// asking is how far the question to a peer is.
type asking uint8

const (
	notAsked asking = iota
	underWay
	answered
)

// ask begins to ask why a peer has ended its connections. It returns false if that
// can't be asked.
func (d *Domain) ask(p fabric.Peer) bool {
	d.mu.Lock()
	a := d.links[p].card
	d.mu.Unlock()
	if len(a.Listen) == 0 || d.closed.Load() {
		return false // this rank has never been told where the peer is
	}
	d.wg.Go(func() {
		ctx, cancel := context.WithTimeout(d.ctx, d.set.askTime)
		defer cancel()
		ev := event{peer: p, fd: -1, told: true}
		for _, o := range order(a.doors(), d.doors, d.won(p)) {
			if err := d.askAt(ctx, p, o.addr, a.Token); err != nil && strings.Contains(err.Error(), expelledMark) {
				ev.err = errEnded(p)
				break
			}
		}
		d.post(ev)
	})
	return true
}

// askAt asks at one address. Its error is the answer.
func (d *Domain) askAt(ctx context.Context, p fabric.Peer, addr netip.AddrPort, token greet.Token) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr.String())
	if err != nil {
		return err
	}
	defer conn.Close()
	defer greet.Bound(ctx, conn, d.set.askTime)()
	_, err = d.self.Dial(conn, uint32(p), token, func() ([]byte, error) { return []byte{byte(toAsk), d.ways()}, nil })
	return err
}

// told takes the answer.
func (d *Domain) told(e *endpoint, err error) {
	e.asking = answered
	if err != nil && e.down == nil {
		e.dying = err
	}
	e.arrived()
}

// tellEnd tells a peer that this rank has given it up, if there is room.
func (e *endpoint) tellEnd() {
	c := e.msg
	if c == nil || c.eof != nil {
		return
	}
	(&leaving{c: c}).begin() // what has not begun is of no use to the peer
	if err := c.writeRest(); err == nil && c.clear() {
		var b [headerSize]byte
		header{form: formEnd}.put(b[:])
		c.sendOne(b[:])
	}
}

func errEnded(p fabric.Peer) error {
	return &fabric.Error{Op: "talk over TCP", Peer: p, HasPeer: true,
		Err:    fmt.Errorf("%w: it has declared this rank dead", fabric.ErrPeerDown),
		Remedy: "this process may have been stopped, or cut off the network, for longer than " + envDeadline + " allows"}
}

// arrived notes how much of the peer's messages has arrived and is to be handed over
// before its end.
func (e *endpoint) arrived() {
	if e.rest = 0; e.msg != nil {
		e.rest, _ = unix.IoctlGetInt(e.msg.fd, unix.SIOCINQ)
		if e.msg.seal != nil {
			e.rest += sealMost
		}
	}
}
