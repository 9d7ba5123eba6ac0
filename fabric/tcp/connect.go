package tcp

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/internal/greet"
	"github.com/weft-mpi/weft/internal/limits"
)

// linkState is how far the connection with a peer is.
type linkState uint8

const (
	linkIdle linkState = iota
	linkDialing
	linkAccepting
	linkMade
)

// use is what a connection is for. The greeting's offer is a byte of it and one of
// the dialler's ways; the answer is one of the listener's.
type use uint8

const (
	forMessages use = iota
	forBulk
	uses
)

// The ways of a rank, as bits.
const (
	wayMute byte = 1 << iota // it polls in its own calls only
	wayTLS                   // it encrypts connections
)

// link is the greeting's view of a peer, guarded by Domain.mu.
type link struct {
	state  [uses]linkState
	wanted [uses]bool // this rank wants it, and knows card
	card   card
	over   bool  // the peer is down here: no connection is made any more
	dead   error // the news of the peer's death: no connection is begun any more
	// despair says that the rank's own dial has reached no address so far.
	despair [uses]bool
	won     netip.AddrPort // where the peer was reached
}

// event is what greetings tell the owner: a connection, or why there is none.
type event struct {
	peer fabric.Peer
	use  use
	mute bool // the peer polls in its own calls only
	told bool // the peer was asked why it has ended the connections: err, or it has not
	over bool // the time is over that was left to a peer of whose death there is news
	fd   int
	seal *sealed // nil where nothing is encrypted
	err  error
}

// listen begins to accept greetings.
func (d *Domain) listen() error {
	doors, err := d.choose()
	if err != nil {
		return err
	}
	d.self = &greet.Self{Magic: [8]byte([]byte("wefttcp2")), Version: protocolVersion,
		Rank: uint32(d.cfg.Rank), Size: uint32(d.cfg.Size), Job: d.cfg.Job, Key: greet.Key(d.cfg.Key)}
	d.tag, d.gate = d.self.Tag(), d.self.NewGate(d.token)
	d.guard = greet.NewDoors("tcp", d.cfg.Log, d.vet)
	a := card{Version: protocolVersion, Rank: d.self.Rank}
	if d.self.Key == (greet.Key{}) {
		a.Token = d.token
	}
	for _, o := range doors {
		l, err := d.listenAt(o)
		if err != nil {
			return &fabric.Error{Op: fmt.Sprintf("listen at %v", o.addr.Addr()), Err: err}
		}
		d.listeners = append(d.listeners, l)
		o.addr = l.Addr().(*net.TCPAddr).AddrPort()
		a.open(o)
	}
	if err := d.listenToSiblings(); err != nil {
		return err
	}
	// No greeting begins before all that it reads is there.
	d.doors, d.addr = a.doors(), a.encode()
	d.wg.Go(func() {
		var wg sync.WaitGroup
		for _, l := range d.listeners {
			wg.Go(func() { d.guard.Serve(d.ctx, l) })
		}
		wg.Wait()
		if n := d.guard.Refused(); n > 0 {
			d.cfg.Log.Info("tcp: connections that were not a rank's", "refused", n)
		}
	})
	return nil
}

// want begins the connection for messages unless there is one.
func (d *Domain) want(p fabric.Peer, a card) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := &d.links[p]
	l.wanted[forMessages], l.card = true, a
	d.redial(p, l, forMessages)
}

// wantBulk begins the connection for bulk data, once, if the peer's card is known.
func (d *Domain) wantBulk(p fabric.Peer) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := &d.links[p]
	l.wanted[forBulk] = l.wanted[forMessages]
	d.redial(p, l, forBulk)
}

func (d *Domain) redial(p fabric.Peer, l *link, u use) {
	if l.state[u] == linkIdle && l.wanted[u] && !l.over && l.dead == nil && !d.closed.Load() {
		l.state[u] = linkDialing
		a := l.card
		d.wg.Go(func() { d.dial(p, u, a) })
	}
}

// dialing reports whether the rank's own dial is under way, and still wanted.
func (d *Domain) dialing(p fabric.Peer, u use) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := &d.links[p]
	return l.state[u] == linkDialing && !l.over
}

// expect gives the own dial up in favour of one of the peer's. It returns false if
// that one is under way already.
func (d *Domain) expect(p fabric.Peer, u use) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := &d.links[p]
	if l.state[u] != linkDialing {
		return false
	}
	l.state[u] = linkIdle
	return true
}

// ways are the rank's own.
func (d *Domain) ways() (w byte) {
	if d.cfg.Unattended {
		w |= wayMute
	}
	if d.set.tls {
		w |= wayTLS
	}
	return w
}

// answer is the listener's side.
func (d *Domain) answer(g *greet.Guest, o *greet.Opening) error {
	var p fabric.Peer
	var u use
	var told []byte
	joined, mute, fd := false, false, -1
	defer func() {
		if fd >= 0 {
			unix.Close(fd)
		}
	}()
	w := &welcomed{Guest: g, ctx: d.ctx}
	err := d.self.AnswerTo(o, w, d.token, func(rank uint32, offer []byte) ([]byte, error) {
		if len(offer) == 2 && use(offer[0]) == toAsk {
			return nil, d.verdict(fabric.Peer(rank))
		}
		if len(offer) != 2 || use(offer[0]) >= uses {
			return nil, fmt.Errorf("an offer of %d bytes that names no use of the connection", len(offer))
		}
		p, u, mute = fabric.Peer(rank), use(offer[0]), offer[1]&wayMute != 0
		if err := d.sameTLS(p, offer[1]); err != nil {
			return nil, err
		}
		var err error
		if fd, err = d.duplicate(g.Conn); err != nil {
			return nil, limits.Named(err)
		}
		told = append(offer, d.ways())
		// From here on the peer decides whether the connection stays: it may have
		// it in use already when this rank hears that it is ready.
		if !g.Keep(d.ctx) {
			return nil, greet.ErrCrossed
		}
		err = d.yield(p, u)
		if joined = err == nil; joined && d.set.deadline > 0 {
			w.each = d.set.dial / beats
		}
		return []byte{d.ways()}, err
	})
	if !joined {
		return err
	}
	var seal *sealed
	if err == nil && d.tls != nil {
		seal, err = d.sealAnswered(w, p, told)
	}
	if err != nil {
		if d.closed.Load() && d.tls == nil && u == forMessages {
			g.Conn.SetDeadline(time.Time{})
			g.Conn.Write(bye()) // to a peer that has it in use already
		}
		d.unyield(p, u)
		return err
	}
	if !d.made(p, u, linkAccepting) {
		return errors.New("the connection is not wanted any more")
	}
	d.post(event{peer: p, use: u, mute: mute, fd: fd, seal: seal})
	fd = -1
	return nil
}

// yield lets the peer's connection be the one. Where both dial, it is the one of
// the lower rank.
func (d *Domain) yield(p fabric.Peer, u use) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch l := &d.links[p]; {
	case l.over, l.dead != nil:
		return errExpelled
	case l.state[u] == linkIdle, l.state[u] == linkDialing && (p < d.cfg.Rank || l.despair[u]):
		l.state[u] = linkAccepting
		return nil
	case l.state[u] == linkDialing, l.state[u] == linkAccepting:
		return greet.ErrCrossed // until it stands, or has failed
	}
	return errors.New("the caller is connected already")
}

// unyield ends an attempt of the peer that has failed.
func (d *Domain) unyield(p fabric.Peer, u use) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := &d.links[p]
	if l.state[u] != linkAccepting {
		return // the own dial is the one
	}
	l.state[u] = linkIdle
	d.redial(p, l, u)
	d.bemoan(p, l)
}

// made notes that the connection stands, if it is the one. Of two ranks that have
// yielded to each other the lower one takes its yielding back: the other's dial
// finds that it has yielded, and hangs up.
func (d *Domain) made(p fabric.Peer, u use, from linkState) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	l := &d.links[p]
	crossed := from == linkDialing && l.state[u] == linkAccepting && d.cfg.Rank < p
	if l.state[u] != from && !crossed || l.over {
		return false
	}
	l.state[u] = linkMade
	return true
}

// unmade takes back what made has noted.
func (d *Domain) unmade(p fabric.Peer, u use) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if l := &d.links[p]; l.state[u] == linkMade {
		l.state[u] = linkDialing
		d.bemoan(p, l)
	}
}

// despair lets the peer's own dial be the one.
func (d *Domain) despair(p fabric.Peer, u use) {
	d.mu.Lock()
	d.links[p].despair[u] = true
	d.mu.Unlock()
}

// win notes where the peer was reached; won is that address, the zero one if there
// is none.
func (d *Domain) win(p fabric.Peer, addr netip.AddrPort) {
	d.mu.Lock()
	d.links[p].won = addr
	d.mu.Unlock()
}

func (d *Domain) won(p fabric.Peer) netip.AddrPort {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.links[p].won
}

// fullMark begins the refusal of a rank that has no descriptor left. It may have one later.
const fullMark = "no room for a connection: "

// duplicate returns a socket that Go's poller does not know. Either side has it before the
// connection stands: behind that it is too late to tell the peer that there is no room.
func (d *Domain) duplicate(conn net.Conn) (fd int, err error) {
	if c, ok := conn.(passedOn); ok {
		conn = c.TCPConn
	}
	tcp := conn.(*net.TCPConn)
	tcp.SetNoDelay(true)
	d.keep(tcp)
	raw, err := tcp.SyscallConn()
	if err != nil {
		return -1, err
	}
	cerr := raw.Control(func(old uintptr) {
		fd, err = unix.FcntlInt(old, unix.F_DUPFD_CLOEXEC, 3)
	})
	if err = errors.Join(cerr, err); err != nil {
		return -1, fmt.Errorf("%s%w", fullMark, err)
	}
	return fd, nil
}

// post hands an event to the owner and wakes it.
func (d *Domain) post(ev event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.postLocked(ev)
}

func (d *Domain) postLocked(ev event) {
	d.events = append(d.events, ev)
	d.pending.Store(true)
	d.Wake()
}

// takeEvents takes over connections.
func (d *Domain) takeEvents(h fabric.Handler) (n int) {
	d.mu.Lock()
	events := d.events
	d.events = nil
	d.pending.Store(false)
	d.mu.Unlock()
	for _, ev := range events {
		n++
		e := d.endpoint(ev.peer)
		switch {
		case ev.told:
			d.told(e, ev.err)
		case ev.over:
			d.overdue(e)
		case e.down != nil:
			if ev.fd >= 0 {
				unix.Close(ev.fd)
			}
		case ev.err != nil:
			d.lose(e, ev.err)
		default:
			c := newConn(e, ev.fd, ev.use == forBulk)
			if c.bulk {
				e.bulk = c
			} else {
				e.msg, e.mute = c, ev.mute
			}
			if c.seal = ev.seal; c.seal != nil {
				c.seal.open(&d.buffers)
				d.heat(c) // the first bytes may have come with the greeting
			}
			if err := d.add(c); err != nil {
				d.lose(e, e.lost(err))
			}
			d.sweep = true
		}
	}
	return n
}
