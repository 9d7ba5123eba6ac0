package launch

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-mpi/weft/mpi/cause"
)

// client is a rank's side of the local launcher's protocol. One goroutine reads:
// replies go to the waiting call, news to events.
type client struct {
	out     outbox
	size    int
	round   uint64
	answers chan frame    // replies; at most one is outstanding
	events  chan Event    // room for size: each rank is lost once
	ended   chan struct{} // closed when the reader returns
	broken  error         // why it returned; read-only once ended is closed
	end     func(string)  // ends the process when another rank aborts the job; nil unless the peer is rank 0, whose end is a death, and not a launcher
	orphan  func()        // ends the process when the launcher has gone, also after leave; nil unless the peer is one
	left    bool          // rank 0 has left in order; the reader's
	leaving atomic.Bool   // stored by leave, loaded by read
	blamed  sync.Once
}

type frame struct {
	kind    frameKind
	payload []byte
}

// newClient starts the reader of conn, of a launcher or, with end, of rank 0. The
// reader returns when conn is closed or its stream breaks the protocol.
func newClient(conn net.Conn, size int, end func(why string)) *client {
	c := makeClient(conn, size)
	c.end = end
	go c.read()
	return c
}

// makeClient is newClient without the reader.
func makeClient(conn net.Conn, size int) *client {
	return &client{
		out:     outbox{conn: conn},
		size:    size,
		answers: make(chan frame, 1),
		events:  make(chan Event, size),
		ended:   make(chan struct{}),
	}
}

// joinLauncher joins the job of a launcher, with which this process ends from here on.
func joinLauncher(ctx context.Context, conn net.Conn, rank, size int) (*Job, error) {
	c := makeClient(conn, size)
	c.orphan = func() {
		endProcess(fmt.Sprintf("the launcher of rank %d has ended, and so does the rank (process %d), by SIGTERM", rank, os.Getpid()))
	}
	go func() {
		c.read()
		c.watch()
	}()
	return c.join(ctx, rank, LauncherWeft)
}

// watch ends the process once the launcher has gone: the kernel has told nobody but the
// launcher's own child (PR_SET_PDEATHSIG), a shell perhaps that has started the rank.
func (c *client) watch() {
	err := os.ErrDeadlineExceeded // of leave
	for errors.Is(err, os.ErrDeadlineExceeded) {
		c.out.conn.SetReadDeadline(time.Time{})
		_, err = io.Copy(io.Discard, c.out.conn)
	}
	if !errors.Is(err, net.ErrClosed) {
		c.orphan()
	}
}

// join sends hello, exchanges cards with the other ranks and returns the job, which
// owns the connection. On an error it closes that: in order, if the launcher had
// welcomed the rank.
func (c *client) join(ctx context.Context, rank int, launcher string) (*Job, error) {
	w, err := c.hello(ctx, rank)
	if err != nil {
		c.out.conn.Close()
		<-c.ended
		return nil, err
	}
	j := &Job{
		Rank: rank, Size: c.size,
		ID: hex.EncodeToString(w.id[:]), Key: w.key,
		Launcher: launcher,
		boot:     c,
		events:   c.events,
	}
	cards, err := c.meet(ctx)
	if err != nil {
		return nil, errors.Join(err, c.leave(false))
	}
	j.settle(cards)
	return j, nil
}

// meet is round 0: it returns the cards of all ranks. The launcher can't write
// them: what it has started may be a command that moves to another host, in its
// namespaces, before it becomes the rank.
func (c *client) meet(ctx context.Context) ([]card, error) {
	mine, err := newCard()
	if err != nil {
		return nil, err
	}
	all, err := c.exchange(ctx, mine.append(nil))
	if err != nil {
		return nil, err
	}
	cards := make([]card, len(all))
	for i, b := range all {
		if cards[i], err = parseCard(b); err == nil && cards[i].leads {
			err = protocolError("it gives the job an id, which is the launcher's to give")
		}
		if err != nil {
			return nil, fmt.Errorf("card of rank %d: %w", i, err)
		}
	}
	return cards, nil
}

func (c *client) hello(ctx context.Context, rank int) (welcome, error) {
	h := hello{uint32(rank), uint32(c.size)}
	p, err := c.ask(ctx, kindHello, h.append(nil), kindWelcome)
	if err != nil {
		return welcome{}, err
	}
	w, err := parseWelcome(p)
	if err == nil && (w.rank != h.rank || w.size != h.size) {
		err = protocolError("the environment says rank %d of %d, the launcher rank %d of %d", h.rank, h.size, w.rank, w.size)
	}
	return w, err
}

// read reads frames until the stream ends or breaks the protocol.
func (c *client) read() {
	defer close(c.ended)
	r := bufio.NewReader(c.out.conn)
	lost := make([]bool, c.size)
	for {
		kind, p, err := readFrame(r, c.size)
		if err == nil {
			err = c.route(frame{kind, p}, lost)
		}
		if err != nil {
			if c.broken = err; c.end != nil && !c.left && !lost[0] && !c.leaving.Load() {
				e := &cause.LostError{Rank: 0, Reason: "its connection has ended"}
				c.events <- Event{0, e}
			}
			return
		}
	}
}

// route passes a frame on to ask or to events, without blocking. lost marks the
// ranks whose loss is in events already.
func (c *client) route(f frame, lost []bool) error {
	if f.kind == kindLost {
		e, err := parseLost(f.payload, c.size)
		if err == nil && !lost[e.Rank] {
			lost[e.Rank] = true
			c.events <- Event{e.Rank, e}
		}
		return err
	}
	switch {
	case c.end != nil && f.kind == kindBye:
		c.left = true
		return nil
	case c.end != nil && f.kind == kindAbort:
		_, why, err := parseAbort(f.payload)
		if err == nil {
			c.end(why)
		}
		return err
	}
	select {
	case c.answers <- f:
		return nil
	default:
		return protocolError("frame of kind %d that nobody has asked for", f.kind)
	}
}

// ask sends one frame and returns the payload of its reply.
func (c *client) ask(ctx context.Context, kind frameKind, payload []byte, answer frameKind) ([]byte, error) {
	werr := within(ctx, c.out.conn.SetWriteDeadline, func() error {
		return c.out.send(appendFrame(nil, kind, payload))
	})
	if ctx.Err() != nil {
		return nil, ended(ctx)
	}
	// The launcher may have sent fail and closed the connection. That frame can
	// still be read and says more than the failed write.
	var f frame
	select {
	case f = <-c.answers:
	case <-ctx.Done():
		return nil, ended(ctx)
	case <-c.ended:
		select {
		case f = <-c.answers:
		default:
			return nil, c.ending(werr)
		}
	}
	switch f.kind {
	case answer:
		return f.payload, nil
	case kindFail:
		err := parseFail(f.payload, c.size)
		if lost, ok := errors.AsType[*cause.LostError](err); ok {
			c.blame(lost.Rank)
		}
		return nil, err
	}
	return nil, protocolError("answer of kind %d to a frame of kind %d", f.kind, kind)
}

// ending returns the error of a stream that has ended and whose last write
// returned werr. Precondition: ended is closed.
func (c *client) ending(werr error) error {
	switch {
	case errors.Is(c.broken, ErrProtocol):
		return c.broken
	case werr != nil:
		return werr
	case errors.Is(c.broken, io.EOF):
		return errors.New("the launcher has closed the connection")
	}
	return c.broken
}

func (c *client) exchange(ctx context.Context, mine []byte) ([][]byte, error) {
	round := c.round
	c.round++
	p, err := c.ask(ctx, kindOffer, appendOffer(nil, round, mine), kindTable)
	if err != nil {
		return nil, err
	}
	got, parts, err := parseTable(p, c.size)
	if err == nil && got != round {
		err = protocolError("table of round %d, want %d", got, round)
	}
	if err != nil {
		return nil, err
	}
	return parts, nil
}

// abort waits for no reply either: see leave.
func (c *client) abort(code byte, why string) error {
	return c.out.urgent(appendFrame(nil, kindAbort, appendAbort(nil, code, why)))
}

// rest waits for no reply either.
func (c *client) rest(on bool) error {
	return c.out.urgent(appendFrame(nil, kindRest, appendRest(nil, on)))
}

// blame waits for no reply either. The first counts, and others wait for it.
func (c *client) blame(rank int) {
	c.blamed.Do(func() {
		c.out.urgent(appendFrame(nil, kindBlame, binary.LittleEndian.AppendUint32(nil, uint32(rank))))
	})
}

// leave waits for no reply: the launcher reads what was written even after this
// process has exited. It sends bye after a failed exchange too: the rank still
// leaves in order.
func (c *client) leave(bool) error {
	c.leaving.Store(true)
	err := c.out.urgent(appendFrame(nil, kindBye, nil))
	c.out.close()
	if c.orphan != nil {
		c.out.conn.SetReadDeadline(time.Unix(1, 0))
	} else {
		c.out.conn.Close()
	}
	<-c.ended
	return err
}
