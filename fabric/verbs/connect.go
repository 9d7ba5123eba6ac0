package verbs

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/internal/greet"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

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

// dial makes a connection and listens to it until its end.
func (d *Domain) dial(p fabric.Peer, a address) {
	ctx, cancel := context.WithTimeout(d.ctx, greet.Limit)
	defer cancel()
	conn, err := (&net.Dialer{KeepAliveConfig: keepAlive}).DialContext(ctx, "tcp", a.Listen)
	if err != nil {
		d.unreachable(p, fmt.Errorf("reach the peer's socket: %w", err))
		return
	}
	defer conn.Close()
	defer greet.Bound(d.ctx, conn, greet.Limit)()
	err = d.offer(conn, p, a)
	if errors.Is(err, greet.ErrCrossed) {
		// The peer's own connection comes. This one tells of its death until then.
		readByte(conn)
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
	d.listenTo(conn, p)
}

func (d *Domain) unreachable(p fabric.Peer, err error) {
	d.mu.Lock()
	late := d.links[p].state != linkDialing
	d.mu.Unlock()
	if late {
		return // the peer has connected meanwhile
	}
	d.post(event{peer: p, err: &fabric.Error{Op: "connect over verbs", Peer: p, HasPeer: true,
		Err: fmt.Errorf("%w: %w", fabric.ErrUnreachable, err)}})
}

// offer is the dialer's side: it offers queue pairs, and joins them with those of
// the answer.
func (d *Domain) offer(conn net.Conn, p fabric.Peer, a address) error {
	var end ends
	answer, err := d.self().Dial(conn, uint32(p), a.Token, func() (b []byte, err error) {
		if end, err = d.makeEnd(p); err != nil {
			return nil, err
		}
		return d.encodeEnd(end), nil
	})
	var yours card
	var rails []railCard
	if err == nil {
		yours, rails, err = decodeCards(answer)
	}
	if err == nil {
		err = d.join(&end, yours, rails)
	}
	if err == nil && !d.made(p, nil, linkDialing) {
		err = greet.ErrCrossed
	}
	if err != nil {
		d.discardEnd(end)
		return err
	}
	// The owner uses the connection from then on, and may end: its goodbye must not
	// come before ready, so Close knows the socket from here on.
	d.postWith(event{peer: p, made: true, qp: end.qp, card: yours, rails: end.rails, up: true}, func() {
		d.links[p].conn = conn
		err = greet.Ready(conn) // a byte, for which a new socket has room
	})
	if err != nil {
		d.lost(p, err)
	}
	return nil
}

// answer is the listener's side, for greet.Server.
func (d *Domain) answer(conn net.Conn) (then func(), err error) {
	var p fabric.Peer
	joined := false
	err = d.self().Answer(conn, d.token, func(rank uint32, offer []byte) ([]byte, error) {
		p = fabric.Peer(rank)
		answer, err := d.consider(conn, p, offer)
		joined = err == nil
		return answer, err
	})
	switch {
	case joined && err != nil:
		d.lost(p, err)
	case joined:
		d.post(event{peer: p, up: true})
	case errors.Is(err, greet.ErrCrossed):
		return func() { readByte(conn) }, nil // until the peer has our connection
	default:
		return nil, err
	}
	return func() { d.listenTo(conn, p) }, nil
}

// consider makes queue pairs that are joined with those of an offer.
func (d *Domain) consider(conn net.Conn, p fabric.Peer, offer []byte) (answer []byte, err error) {
	yours, rails, err := decodeCards(offer)
	if err != nil {
		return nil, err
	}
	if err = d.yield(p); err != nil {
		return nil, err
	}
	end, err := d.makeEnd(p)
	if err == nil {
		answer = d.encodeEnd(end)
		err = d.join(&end, yours, rails)
	}
	if err != nil {
		d.discardEnd(end)
		d.unyield(p)
		return nil, err
	}
	d.made(p, conn, linkAccepting)
	// The owner knows the queue pair before the peer can send on it.
	d.post(event{peer: p, made: true, qp: end.qp, card: yours, rails: end.rails})
	return answer, nil
}

// yield lets the peer's connection be the one. Where both dial, it is the one
// of the lower rank.
func (d *Domain) yield(p fabric.Peer) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch l := &d.links[p]; {
	case l.over:
		return errors.New("the caller was given up")
	case l.state == linkIdle, l.state == linkDialing && p < d.cfg.Rank:
		l.state = linkAccepting
		return nil
	case l.state == linkDialing:
		return greet.ErrCrossed
	}
	return errors.New("the caller is connected already")
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

// self is what this rank says of itself.
func (d *Domain) self() *greet.Self {
	return &greet.Self{Magic: [8]byte([]byte("weftvrb1")), Version: protocolVersion,
		Rank: uint32(d.cfg.Rank), Size: uint32(d.cfg.Size), Job: d.cfg.Job}
}

// card is our end towards p.
func (d *Domain) card(p fabric.Peer, q ibv.QP) card {
	return card{
		qpn: q.Num, psn: newPSN(), slot: slotSize,
		lid: d.port.lid, mtu: d.port.mtu, ethernet: d.port.ethernet, answers: d.port.answers, gid: d.port.gid,
		window: uint32(d.window), creditKey: d.creditMR.RKey, credit: ibv.Addr(d.creditMem) + 8*uint64(p),
		keysKey: d.keysMR.RKey, keys: ibv.Addr(d.keysMem),
	}
}

// ends are what we bring to a connection.
type ends struct {
	qp    ibv.QP
	card  card
	rails []*rail
}

// makeEnd makes the queue pairs of a connection.
func (d *Domain) makeEnd(p fabric.Peer) (e ends, err error) {
	if e.qp, _, err = d.hca.CreateQP(); err != nil {
		return e, err
	}
	e.card = d.card(p, e.qp)
	if e.rails, err = d.makeRails(); err != nil {
		d.destroyQP(0, e.qp)
		return ends{}, err
	}
	return e, nil
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

func (d *Domain) joinFirst(q ibv.QP, mine, yours card) error {
	if mine.ethernet != yours.ethernet {
		return errors.New("an InfiniBand port meets a RoCE port: choose devices of one kind with " + envDevice)
	}
	err := d.hca.ConnectQP(q, ibv.Path{
		QPNum: yours.qpn, PSN: yours.psn, MyPSN: mine.psn, GID: yours.gid, LID: yours.lid,
		MTU: min(mine.mtu, yours.mtu), Reads: min(d.port.reads, yours.answers), Answers: mine.answers,
	})
	if err != nil {
		return fmt.Errorf("%w (our GID index %d; see weft info, and %s)", err, d.port.gidIndex, envGID)
	}
	return nil
}
