package verbs

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// handshakeTime bounds a handshake. The peer's goroutines answer by
// themselves, however busy the application is.
const handshakeTime = 20 * time.Second

// maxStrangers is how many connections may be in a handshake at a time.
const maxStrangers = 1024

// linkState is how far the connection with a peer is.
type linkState uint8

const (
	linkIdle linkState = iota
	linkDialing
	linkAccepting
	linkMade // the owner knows the queue pair
)

// link is the set-up's view of a peer, guarded by Domain.mu.
type link struct {
	state  linkState
	wanted bool // Connect has been called
	addr   address
	conn   net.Conn // of the connection made
	gone   bool     // the peer has ended while we close
	over   bool     // the peer is down here: no queue pair is made for it any more

	introduced bool   // the handshake is over
	railsGone  []byte // to tell the peer by then
}

var errCrossed = errors.New("the peer dials, too")

// want starts a connection unless there is one.
func (d *Domain) want(p fabric.Peer, a address) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := &d.links[p]
	l.wanted, l.addr = true, a
	d.redial(p, l)
}

func (d *Domain) redial(p fabric.Peer, l *link) {
	if l.state == linkIdle && l.wanted && !l.over && !d.closed.Load() {
		l.state = linkDialing
		a := l.addr
		d.wg.Go(func() { d.dial(p, a) })
	}
}

// dial makes a connection and watches it until its end.
func (d *Domain) dial(p fabric.Peer, a address) {
	ctx, cancel := context.WithTimeout(d.ctx, handshakeTime)
	defer cancel()
	conn, err := (&net.Dialer{KeepAliveConfig: keepAlive}).DialContext(ctx, "tcp", a.Listen)
	if err != nil {
		d.unreachable(p, fmt.Errorf("reach the peer's socket: %w", err))
		return
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(handshakeTime))
	stop := context.AfterFunc(d.ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	err = d.introduce(conn, p, a)
	if errors.Is(err, errCrossed) {
		// The peer's own connection comes. This one tells of its death until then.
		readN(conn, 1)
		d.mu.Lock()
		waiting := d.links[p].state == linkDialing
		d.mu.Unlock()
		if !waiting {
			return
		}
		err = errors.New("the peer's own connection has not come")
	}
	if err != nil {
		d.unreachable(p, err)
		return
	}
	d.watch(conn, p)
}

func (d *Domain) unreachable(p fabric.Peer, err error) {
	d.mu.Lock()
	late := d.links[p].state != linkDialing
	d.mu.Unlock()
	if late {
		return // the peer has connected meanwhile
	}
	d.post(event{peer: p, err: &fabric.Error{Op: "connect over verbs", Peer: p, HasPeer: true,
		Err: fmt.Errorf("%w: %w", fabric.ErrPeerDown, err)}})
}

// introduce is the dialer's side.
func (d *Domain) introduce(conn net.Conn, p fabric.Peer, a address) error {
	me := d.greeting().encode()
	if _, err := conn.Write(me); err != nil {
		return err
	}
	b, err := readN(conn, greetingSize+proofSize)
	if err != nil {
		return fmt.Errorf("the peer answers no greeting: %w", err)
	}
	you := b[:greetingSize]
	g, err := decodeGreeting(you)
	switch {
	case err != nil:
		return err
	case !hmac.Equal(b[greetingSize:], proof(a.Token, d.cfg.Job, "listener", me, you)):
		return errors.New("who answers is not of this job")
	case g.rank != uint32(p) || g.size != uint32(d.cfg.Size):
		return fmt.Errorf("rank %d of %d answers there", g.rank, g.size)
	}
	end, err := d.makeEnd(p)
	if err != nil {
		return err
	}
	_, err = conn.Write(append(proof(a.Token, d.cfg.Job, "dialer", me, you), d.encodeEnd(end)...))
	var yours card
	var rails []railCard
	if err == nil {
		yours, rails, err = readVerdict(conn)
	}
	if err == nil {
		err = d.join(&end, yours, rails)
	}
	if err != nil {
		d.discardEnd(end)
		return err
	}
	if !d.made(p, conn, linkDialing) {
		d.discardEnd(end)
		return errCrossed
	}
	d.post(event{peer: p, made: true, qp: end.qp, card: yours, rails: end.rails, up: true})
	_, err = conn.Write([]byte{byteReady})
	if err != nil {
		d.lost(p, err)
	}
	return nil
}

func readVerdict(conn net.Conn) (c card, rails []railCard, err error) {
	b, err := readN(conn, 1)
	if err != nil {
		return c, nil, fmt.Errorf("the peer gives no answer: %w", err)
	}
	switch b[0] {
	case verdictWelcome:
		if b, err = readN(conn, cardSize); err != nil {
			return c, nil, err
		}
		if c, err = decodeCard(b); err == nil {
			rails, err = readRailCards(conn, int(c.rails))
		}
		return c, rails, err
	case verdictCrossed:
		return c, nil, errCrossed
	case verdictRefused:
		reason, err := readRefusal(conn)
		if err != nil {
			return c, nil, err
		}
		return c, nil, fmt.Errorf("the peer refuses: %s", reason)
	}
	return c, nil, fmt.Errorf("verdict %d, which does not exist", b[0])
}

// accept serves the handshake's socket until the domain closes.
func (d *Domain) accept() {
	defer d.wg.Done()
	strangers := make(chan struct{}, maxStrangers)
	for {
		conn, err := d.listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			d.cfg.Log.Warn("verbs: accept", "err", err)
			select {
			case <-d.ctx.Done():
				return
			case <-time.After(10 * time.Millisecond): // out of descriptors, say
			}
			continue
		}
		select {
		case strangers <- struct{}{}:
		default:
			conn.Close()
			continue
		}
		d.wg.Go(func() {
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(handshakeTime))
			stop := context.AfterFunc(d.ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
			defer stop()
			p, err := d.welcome(conn)
			<-strangers
			switch {
			case err == nil:
				d.watch(conn, p)
			case errors.Is(err, errCrossed):
				readN(conn, 1) // until the peer has our connection
			case d.ctx.Err() == nil:
				d.cfg.Log.Debug("verbs: a handshake failed", "from", conn.RemoteAddr(), "err", err)
			}
		})
	}
}

// welcome is the listener's side.
func (d *Domain) welcome(conn net.Conn) (fabric.Peer, error) {
	you, err := readN(conn, greetingSize)
	if err != nil {
		return 0, err
	}
	g, err := decodeGreeting(you)
	if err != nil {
		return 0, err
	}
	me := d.greeting().encode()
	if _, err := conn.Write(append(me, proof(d.token, d.cfg.Job, "listener", you, me)...)); err != nil {
		return 0, err
	}
	me = me[:greetingSize]
	b, err := readN(conn, proofSize+cardSize)
	if err != nil {
		return 0, err
	}
	if !hmac.Equal(b[:proofSize], proof(d.token, d.cfg.Job, "dialer", you, me)) {
		return 0, errors.New("the caller is not of this job")
	}
	// From here on the caller is one of us.
	p := fabric.Peer(g.rank)
	yours, err := decodeCard(b[proofSize:])
	var rails []railCard
	if err == nil {
		rails, err = readRailCards(conn, int(yours.rails))
	}
	if err == nil && (g.size != uint32(d.cfg.Size) || int(p) >= d.cfg.Size || p == d.cfg.Rank) {
		err = fmt.Errorf("rank %d of %d calls rank %d of %d", p, g.size, d.cfg.Rank, d.cfg.Size)
	}
	if err == nil {
		err = d.yield(p)
	}
	if errors.Is(err, errCrossed) {
		conn.Write([]byte{verdictCrossed})
		return p, err
	}
	if err != nil {
		conn.Write(encodeRefusal(verdictRefused, err.Error()))
		return p, err
	}
	end, err := d.makeEnd(p)
	var cards []byte
	if err == nil {
		cards = d.encodeEnd(end)
		if err = d.join(&end, yours, rails); err != nil {
			d.discardEnd(end)
		}
	}
	if err != nil {
		d.unyield(p)
		conn.Write(encodeRefusal(verdictRefused, err.Error()))
		return p, err
	}
	d.made(p, conn, linkAccepting)
	// The owner knows the queue pair before the peer can send on it.
	d.post(event{peer: p, made: true, qp: end.qp, card: yours, rails: end.rails})
	_, err = conn.Write(append([]byte{verdictWelcome}, cards...))
	if err == nil {
		b, err = readN(conn, 1)
	}
	if err == nil && b[0] != byteReady {
		err = fmt.Errorf("%q where it should be ready", b)
	}
	if err != nil {
		d.lost(p, err)
		return p, nil
	}
	d.post(event{peer: p, up: true})
	return p, nil
}

// yield lets the peer's connection be the one. Where both dial, it is the one
// of the lower rank.
func (d *Domain) yield(p fabric.Peer) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch l := &d.links[p]; {
	case l.over:
		return fmt.Errorf("rank %d has given rank %d up", d.cfg.Rank, p)
	case l.state == linkIdle, l.state == linkDialing && p < d.cfg.Rank:
		l.state = linkAccepting
		return nil
	case l.state == linkDialing:
		return errCrossed
	}
	return fmt.Errorf("rank %d is connected already", p)
}

// unyield ends an attempt of the peer that has failed.
func (d *Domain) unyield(p fabric.Peer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := &d.links[p]
	l.state = linkIdle
	d.redial(p, l)
}

// made notes the connection, unless the peer's own was faster.
func (d *Domain) made(p fabric.Peer, conn net.Conn, from linkState) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := &d.links[p]
	if l.state != from {
		return false
	}
	l.state, l.conn = linkMade, conn
	return true
}

func (d *Domain) greeting() greeting {
	g := greeting{rank: uint32(d.cfg.Rank), size: uint32(d.cfg.Size)}
	rand.Read(g.nonce[:])
	return g
}

// card is our end towards p.
func (d *Domain) card(p fabric.Peer, q qp) card {
	return card{
		qpn: q.number, psn: newPSN(), slot: slotSize,
		lid: d.port.lid, mtu: d.port.mtu, ethernet: d.port.ethernet, answers: d.port.answers, gid: d.port.gid,
		window: uint32(d.window), creditKey: d.creditMR.rkey, credit: addressOf(d.creditMem) + 8*uint64(p),
		keysKey: d.keysMR.rkey, keys: addressOf(d.keysMem),
	}
}

// ends are what we bring to a connection.
type ends struct {
	qp    qp
	card  card
	rails []*rail
}

// makeEnd makes the queue pairs of a connection.
func (d *Domain) makeEnd(p fabric.Peer) (e ends, err error) {
	if e.qp, _, err = d.nic.createQP(); err != nil {
		return e, err
	}
	e.card = d.card(p, e.qp)
	if e.rails, err = d.makeRails(); err != nil {
		d.destroyQP(0, e.qp)
	}
	return e, err
}

func (d *Domain) encodeEnd(e ends) []byte { return encodeCards(e.card, d.railCards(e.rails)) }

func (d *Domain) discardEnd(e ends) {
	d.destroyQP(0, e.qp)
	d.discard(e.rails)
}

// join makes the queue pairs ready for the peer's.
func (d *Domain) join(e *ends, yours card, rails []railCard) (err error) {
	if err = d.joinFirst(e.qp, e.card, yours); err == nil {
		e.rails, err = d.joinRails(e.rails, rails)
	}
	return err
}

func (d *Domain) joinFirst(q qp, mine, yours card) error {
	if mine.ethernet != yours.ethernet {
		return errors.New("an InfiniBand port meets a RoCE port: choose devices of one kind with " + envDevice)
	}
	err := d.nic.connectQP(q, path{
		qpn: yours.qpn, psn: yours.psn, myPSN: mine.psn, gid: yours.gid, lid: yours.lid,
		mtu: min(mine.mtu, yours.mtu), reads: min(d.port.reads, yours.answers), answers: mine.answers,
	})
	if err != nil {
		return fmt.Errorf("%w (our GID index %d; see weft info, and %s)", err, d.port.gidIndex, envGID)
	}
	return nil
}
