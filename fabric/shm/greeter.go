package shm

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/limits"
	"github.com/weft-mpi/weft/internal/strangers"
)

// greeter makes a domain's connections, each by one greeting: a socket that
// lives for as long as the greeting, one message each way. It also watches for
// the end of the peers' processes.
//
// One goroutine does everything. It waits for its sockets with an epoll of its
// own; that is one descriptor for the Go poller, whatever the number of
// greetings. None of its calls waits for a peer.
type greeter struct {
	d        *Domain
	listener int
	epoll    int
	log      *strangers.Log // what others can cause
	file     *os.File       // of epoll
	conn     syscall.RawConn
	events   [64]unix.EpollEvent

	mu       sync.Mutex // guards these
	asked    []dial     // by Connect, not yet taken
	woken    bool
	stopping bool
	limit    time.Time // the read deadline of file; zero: none

	// The goroutine's.
	calls  map[int32]*handshake
	last   int32           // number of a call
	met    []*acquaintance // by rank; nil before there is something to know
	queue  []fabric.Peer   // to be dialled
	active int             // dials under way
	next   time.Time       // no call is due before; zero: none is due
	deaf   time.Time       // until when the listener is not polled; zero: it is
	name   sockName
	buf    [maxHello + 1]byte
	oob    []byte
}

// dial is what Connect asks for.
type dial struct {
	peer fabric.Peer
	addr string
}

// acquaintance is the greeter's state of a peer.
type acquaintance struct {
	wanted bool // Connect was called
	over   bool // a connection has been made, or can't be made
	failed error
	addr   string
	out    *handshake // our dial, under way
	in     *handshake // the peer's dial, which we have welcomed
	held   *handshake // the peer's dial, while ours is under way
	pid    int        // of its process, which is watched
}

// What an epoll event is about: the kind in its Fd, the number in its Pad.
const (
	aboutListener = iota
	aboutCall
	aboutProcess
)

func (g *greeter) known(p fabric.Peer) *acquaintance {
	if g.met[p] == nil {
		g.met[p] = new(acquaintance)
	}
	return g.met[p]
}

func newGreeter(d *Domain) (*greeter, error) {
	g := &greeter{d: d, log: strangers.NewLog(d.cfg.Log), listener: -1, epoll: -1, calls: map[int32]*handshake{}, oob: make([]byte, oobSize), met: make([]*acquaintance, d.cfg.Size)}
	err := g.open()
	if err == nil {
		if err = g.try(); !limits.Refused(err) {
			err = nil // what passes may have passed when there is a peer
		}
	}
	if err != nil {
		g.close()
		return nil, fmt.Errorf("listen for local ranks: %w", err)
	}
	return g, nil
}

func (g *greeter) open() (err error) {
	if g.listener, err = listen(g.d.addr); err != nil {
		return err
	}
	if g.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	if err = unix.SetNonblock(g.epoll, true); err != nil { // the Go poller requires it
		return err
	}
	if err = g.look(g.listener, unix.EPOLLIN, aboutListener, 0); err != nil {
		return err
	}
	g.file = os.NewFile(uintptr(g.epoll), "greetings")
	g.conn, err = g.file.SyscallConn()
	return err
}

func (g *greeter) close() {
	if g.listener >= 0 {
		unix.Close(g.listener)
	}
	if g.file != nil {
		g.file.Close()
	} else if g.epoll >= 0 {
		unix.Close(g.epoll)
	}
}

func (g *greeter) look(fd int, events uint32, kind, number int32) error {
	return unix.EpollCtl(g.epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: events, Fd: kind, Pad: number})
}

// dial asks for a connection, at the latest when the peer's own dial has failed.
// Safe for concurrent use.
func (g *greeter) dial(p fabric.Peer, addr string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.asked = append(g.asked, dial{p, addr})
	g.wake()
}

// stop ends the goroutine, and every greeting with it. Safe for concurrent use.
func (g *greeter) stop() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stopping = true
	g.wake()
}

// wake ends the goroutine's wait. The caller holds mu.
func (g *greeter) wake() {
	if !g.woken {
		g.woken = true
		g.limit = time.Unix(1, 0)
		g.file.SetReadDeadline(g.limit)
	}
}

// run is the goroutine.
func (g *greeter) run() {
	defer g.close()
	for g.take() {
		n := g.ready()
		g.runTimers()
		// Peers that have dialled this rank need not be dialled: accept them
		// first.
		if n == 0 && !g.dialSome() {
			n = g.wait()
		}
		for i := range g.events[:n] {
			g.handle(&g.events[i])
		}
	}
	for _, c := range g.calls {
		g.drop(c, fabric.ErrClosed)
	}
}

// take takes the requests of other goroutines. It returns false when the domain
// closes.
func (g *greeter) take() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, a := range g.asked {
		m := g.known(a.peer)
		m.wanted, m.addr = true, a.addr
		g.want(a.peer)
	}
	g.asked = g.asked[:0]
	g.woken = false
	return !g.stopping
}

// ready returns events without waiting.
func (g *greeter) ready() int {
	n, err := epollReady(g.epoll, g.events[:])
	if err != nil {
		return 0 // interrupted: it is asked again before the wait
	}
	return n
}

// wait returns with the number of events as soon as there are some, a handshake is
// due or wake was called.
func (g *greeter) wait() (n int) {
	g.mu.Lock()
	if g.woken {
		g.mu.Unlock()
		return 0
	}
	if !g.limit.Equal(g.next) {
		g.limit = g.next
		g.file.SetReadDeadline(g.limit)
	}
	g.mu.Unlock()
	g.conn.Read(func(uintptr) bool {
		n = g.ready()
		return n > 0
	})
	return n
}

func (g *greeter) handle(ev *unix.EpollEvent) {
	switch ev.Fd {
	case aboutListener:
		g.accept()
	case aboutCall:
		if c := g.calls[ev.Pad]; c != nil {
			g.heard(c)
		}
	case aboutProcess:
		p := fabric.Peer(ev.Pad)
		g.d.post(event{peer: p, died: true, err: &fabric.Error{Op: "talk over shared memory", Peer: p, HasPeer: true,
			Err: fmt.Errorf("%w: process %d has ended", fabric.ErrPeerDown, g.known(p).pid)}})
	}
}

// due has runTimers called at t.
func (g *greeter) due(t time.Time) {
	if g.next.IsZero() || t.Before(g.next) {
		g.next = t
	}
}

// runTimers continues the calls that have waited for long enough.
func (g *greeter) runTimers() {
	if g.next.IsZero() {
		return
	}
	now := time.Now()
	if now.Before(g.next) {
		return
	}
	g.next = time.Time{}
	if !g.deaf.IsZero() {
		if now.Before(g.deaf) {
			g.due(g.deaf)
		} else {
			g.hearAgain()
		}
	}
	for _, c := range g.calls {
		if !now.Before(c.due) {
			g.again(c)
		}
	}
	for _, c := range g.calls {
		g.due(c.due)
	}
}

// want dials the peer if there is neither a connection nor a greeting that may
// make one.
func (g *greeter) want(p fabric.Peer) {
	m := g.known(p)
	if m.wanted && !m.over && m.in == nil && m.out == nil {
		g.queue = append(g.queue, p)
	}
}

// dialSome begins dials, and reports whether there is more to do at once.
func (g *greeter) dialSome() bool {
	for n := 0; len(g.queue) > 0 && g.active < dialsAtOnce; n++ {
		if n == dialsInTurn {
			return true
		}
		p := g.queue[0]
		g.queue = g.queue[1:]
		m := g.known(p)
		switch {
		case m.over || m.in != nil || m.out != nil: // it has dialled us meanwhile
		case p == g.d.cfg.Rank:
			g.loop(m)
		default:
			g.call(p, m)
		}
	}
	return false
}

// loop makes the ring of a rank to itself.
func (g *greeter) loop(m *acquaintance) {
	m.over = true
	p, err := g.d.ownInfo()
	if err != nil {
		g.unmet(g.d.cfg.Rank, err)
		return
	}
	fd, seg, err := newSegment("weft-ring", g.d.ringShape(1))
	if err != nil {
		p.close()
		g.unmet(g.d.cfg.Rank, err)
		return
	}
	unix.Close(fd)
	g.d.post(event{peer: g.d.cfg.Rank, known: p, seg: seg, tx: seg, rx: seg, fenced: !g.d.membarrier})
}

// accept takes the connections that have come.
func (g *greeter) accept() {
	for {
		fd, err := accept(g.listener)
		switch {
		case err == nil:
			g.heard(g.begin(fd, hearing))
		case errors.Is(err, unix.EAGAIN):
			return
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.ECONNABORTED):
		default: // out of descriptors, say
			g.log.Tell(slog.LevelWarn, "shm: connections can't be accepted; trying again until they can", "err", limits.Named(err))
			unix.EpollCtl(g.epoll, unix.EPOLL_CTL_DEL, g.listener, nil)
			g.deaf = time.Now().Add(acceptPause)
			g.due(g.deaf)
			return
		}
	}
}

// hearAgain polls the listener again.
func (g *greeter) hearAgain() {
	g.deaf = time.Time{}
	if err := g.look(g.listener, unix.EPOLLIN, aboutListener, 0); err != nil {
		g.deaf = time.Now().Add(acceptPause)
		g.due(g.deaf)
	}
}

// watch has epoll report the end of the peer's process. Peers in this process
// end with it. The watch ends with the descriptor.
func (g *greeter) watch(c *handshake) error {
	g.known(c.peer).pid = c.pid
	if c.info.pidfd < 0 {
		return nil
	}
	if err := g.look(c.info.pidfd, unix.EPOLLIN|unix.EPOLLONESHOT, aboutProcess, int32(c.peer)); err != nil {
		return fmt.Errorf("watch process %d: %w", c.pid, err)
	}
	return nil
}

// handOver hands a connection to the domain, early or as one that stands, and
// reports whether it was taken.
func (g *greeter) handOver(c *handshake, early bool) bool {
	ev := event{peer: c.peer, known: c.info, seg: c.seg, fenced: c.fenced, early: early}
	ev.tx, ev.rx = c.rings()
	c.info, c.seg = nil, nil
	return g.d.post(ev)
}

// unmet ends a peer that there is no connection to.
func (g *greeter) unmet(p fabric.Peer, err error) {
	m := g.known(p)
	m.over, m.failed = true, err
	what := fabric.ErrUnreachable
	if hasGone(err) {
		what = fabric.ErrPeerLeft // or it has died, of which the launcher has news
	}
	g.d.post(event{peer: p, err: &fabric.Error{Op: "connect over shared memory", Peer: p, HasPeer: true,
		Err: fmt.Errorf("%w: %w", what, err)}})
}
