package oracle

import (
	"errors"
	"fmt"
)

// Checker follows a run. It is not safe for concurrent use.
type Checker struct {
	// Most, unless 0, is how many messages a rank holds that no receive has
	// taken. Above half of it a sender may hold others back.
	Most int

	ranks []rank
	reqs  map[int]*request
	onWay [][]*message // from*size+to: sent, not arrived
}

// request is a send, a receive, or a claimed message.
type request struct {
	id, rank  int
	recv      bool
	probe     bool // a receive that leaves its message where it is
	peer      int
	context   uint32
	tag       int32
	room      int
	done      bool
	cancelled bool // asked to be
	lost      bool // has to fail, or has ended already: its peer is dead
	msg       *message
	with      *request // that ends at the same time
}

type message struct {
	send     *request
	from, to int
	context  uint32
	tag      int32
	data     []byte
	mode     Mode
	arrived  bool
	whole    bool
	recv     *request // that takes it
	claimed  bool     // by a matched probe
	failed   bool     // its transfer
	late     bool     // a ready send's, and no receive was posted
	back     bool     // given back to its sender
}

type rank struct {
	posted     []*request
	unexpected []*message
	dead       bool
	down       []bool // whose death it knows
	faults     []int  // transfers from each peer that failed and that no request has reported
	coming     []*message
	probes     []*request // that wait
	claimed    int        // messages that no receive has taken
	late       int        // ready sends that came before their receive
	last       int        // the send whose message arrived last
}

// New makes the checker of a run of size ranks.
func New(size int) *Checker {
	c := &Checker{ranks: make([]rank, size), reqs: map[int]*request{}, onWay: make([][]*message, size*size)}
	for i := range c.ranks {
		c.ranks[i] = rank{down: make([]bool, size), faults: make([]int, size), coming: make([]*message, size)}
	}
	return c
}

// Check returns the first rule that a log of size ranks breaks, or nil. The
// run has to have come to its end.
func Check(size int, log []Event) error {
	c := New(size)
	for i, e := range log {
		if err := c.Add(e); err != nil {
			return fmt.Errorf("event %d: %w", i, err)
		}
	}
	if err := c.Rest(); err != nil {
		return err
	}
	return c.End()
}

// Add tells the next event and returns the rule that it breaks, or nil.
func (c *Checker) Add(e Event) error {
	err := c.add(e)
	if err != nil {
		return fmt.Errorf("%v: %w", e, err)
	}
	return nil
}

func (c *Checker) add(e Event) error {
	r := &c.ranks[e.Rank]
	if r.dead {
		return errors.New("the rank is dead")
	}
	switch e.Kind {
	case Send:
		return c.send(e)
	case Post:
		return c.post(r, e)
	case Arrive:
		return c.arrive(r, e)
	case Whole:
		m := r.coming[e.Peer]
		if m == nil {
			return errors.New("no message was on its way in pieces")
		}
		m.whole, r.coming[e.Peer] = true, nil
	case SendDone, RecvDone:
		return c.done(r, e)
	case Cancel:
		q := c.reqs[e.Req]
		if q == nil || q.done {
			return errors.New("no such request is active")
		}
		q.cancelled = true
	case Release:
		q := c.reqs[e.Req]
		if q == nil || q.done || q.rank != e.Rank {
			return errors.New("no such request is active")
		}
		q.done = true
	case GiveBack:
		return c.giveBack(r, e)
	case Probe, Claim:
		return c.probe(r, e)
	case Await:
		return c.await(r, e)
	case ProbeDone:
		return c.probeDone(r, e)
	case Receive:
		return c.receive(r, e)
	case Fault:
		r.faults[e.Peer]++
	case Death:
		r.dead = true
	case Down:
		return c.peerDown(r, e)
	case Left:
		if e.Length != 0 {
			return errors.New("it should be none")
		}
	default:
		return errors.New("unknown event")
	}
	return nil
}

func (c *Checker) begin(e Event, recv bool) (*request, error) {
	if c.reqs[e.Req] != nil {
		return nil, errors.New("a request of this name exists")
	}
	q := &request{id: e.Req, rank: e.Rank, recv: recv, peer: e.Peer, context: e.Context, tag: e.Tag, room: e.Room}
	c.reqs[e.Req] = q
	return q, nil
}

func (c *Checker) send(e Event) error {
	q, err := c.begin(e, false)
	if err != nil {
		return err
	}
	m := &message{send: q, from: e.Rank, to: e.Peer, context: e.Context, tag: e.Tag, mode: e.Mode,
		data: append([]byte(nil), e.Data...)}
	q.msg = m
	if e.With != 0 {
		q.with = c.reqs[e.With-1]
		q.with.with = q
	}
	switch to := &c.ranks[e.Peer]; {
	case e.Peer == e.Rank && e.Mode == Buffered:
		// It is on its way once it is known that there was room.
	case e.Peer == e.Rank:
		m.arrived, m.whole = true, true
		c.deliver(to, m)
	case c.ranks[e.Rank].down[e.Peer]:
		q.lost = true
	default:
		c.onWay[e.Rank*len(c.ranks)+e.Peer] = append(c.onWay[e.Rank*len(c.ranks)+e.Peer], m)
	}
	return nil
}

func (c *Checker) arrive(r *rank, e Event) error {
	if r.down[e.Peer] {
		return errors.New("its source is known to be dead")
	}
	way := &c.onWay[e.Peer*len(c.ranks)+e.Rank]
	for i, m := range *way {
		if m.context != e.Context {
			continue
		}
		if m.tag != e.Tag {
			return fmt.Errorf("it has overtaken #%d with tag %d, or nobody sent it", m.send.id, m.tag)
		}
		*way = append((*way)[:i:i], (*way)[i+1:]...)
		m.arrived, m.whole, r.last = true, e.Whole, m.send.id
		if !e.Whole {
			r.coming[e.Peer] = m
		}
		c.deliver(r, m)
		return nil
	}
	return errors.New("nobody sent it")
}

// deliver gives a message to the earliest receive that it matches.
func (c *Checker) deliver(r *rank, m *message) {
	for i, q := range r.posted {
		if q.matches(m) {
			r.posted = append(r.posted[:i:i], r.posted[i+1:]...)
			q.msg, m.recv = m, q
			return
		}
	}
	r.unexpected = append(r.unexpected, m)
	if m.mode == Ready {
		m.late = true
		r.late++
	}
	var probes []*request
	for _, q := range r.probes {
		if q.matches(m) {
			q.msg = m
		} else {
			probes = append(probes, q)
		}
	}
	r.probes = probes
}

// Last returns the name of the send whose message arrived last at a rank.
func (c *Checker) Last(rank int) int { return c.ranks[rank].last }

// Late returns how many ready sends came to a rank before their receive.
func (c *Checker) Late(rank int) int { return c.ranks[rank].late }

// giveBack takes an unexpected message away.
func (c *Checker) giveBack(r *rank, e Event) error {
	q := c.reqs[e.Req]
	if q == nil || q.rank != e.Peer || !q.cancelled {
		return errors.New("nobody wants to cancel it")
	}
	for i, m := range r.unexpected {
		if m.send == q {
			r.take(i)
			m.back = true
			break
		}
	}
	return nil
}

func (q *request) matches(m *message) bool { return fits(q.peer, q.context, q.tag, m) }

func fits(source int, context uint32, tag int32, m *message) bool {
	return context == m.context && (source == AnySource || source == m.from) && (tag == AnyTag || tag == m.tag)
}

// find returns the earliest unexpected message that fits, or -1.
func (r *rank) find(source int, context uint32, tag int32) int {
	for i, m := range r.unexpected {
		if fits(source, context, tag, m) {
			return i
		}
	}
	return -1
}

func (r *rank) take(i int) *message {
	m := r.unexpected[i]
	r.unexpected = append(r.unexpected[:i:i], r.unexpected[i+1:]...)
	return m
}

func (c *Checker) post(r *rank, e Event) error {
	q, err := c.begin(e, true)
	if err != nil {
		return err
	}
	if i := r.find(e.Peer, e.Context, e.Tag); i >= 0 {
		m := r.take(i)
		q.msg, m.recv = m, q
		return nil
	}
	if c.nobody(r, e.Rank, e.Peer) {
		q.lost = true
		return nil
	}
	r.posted = append(r.posted, q)
	return nil
}
