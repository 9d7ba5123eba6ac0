package oracle

import (
	"fmt"
	"slices"
)

// Rest checks a job that has come to rest: nothing is on its way, every rank
// has done what it can, every death is known to all and every request that was
// asked to be cancelled has been tested since.
func (c *Checker) Rest() error {
	for _, q := range c.open() {
		if why := q.due(); why != "" && (q.with == nil || q.with.due() != "") {
			return fmt.Errorf("at rest: %v %s", q, why)
		}
	}
	for from := range c.ranks {
		for to := range c.ranks {
			way := c.onWay[from*len(c.ranks)+to]
			if len(way) > 0 && !c.ranks[from].dead && !c.ranks[to].dead && !c.full(to) {
				return fmt.Errorf("at rest: %v, or a copy of it, has not been sent", way[0].send)
			}
		}
	}
	return nil
}

// due says why a request should have ended, if it should.
func (q *request) due() string {
	switch m := q.msg; {
	case q.lost:
		return "waits for the dead"
	case q.recv && m != nil:
		return fmt.Sprintf("has matched message #%d and does not end", m.send.id)
	case q.recv && q.cancelled:
		return "was cancelled and does not end"
	case q.recv:
	case m.recv != nil:
		return fmt.Sprintf("was received by #%d and does not end", m.recv.id)
	case m.back, q.cancelled && !m.claimed:
		return "was cancelled and does not end"
	case m.whole && q.peer != q.rank && m.mode != Synchronous:
		return "has arrived and does not end"
	}
	return ""
}

// full reports whether others may hold messages back from a rank.
func (c *Checker) full(to int) bool {
	r := &c.ranks[to]
	held := r.claimed
	for _, m := range r.unexpected {
		if m.from != to {
			held++
		}
	}
	return c.Most > 0 && held > c.Most/2
}

// End checks that nothing is left: every request of a living rank has ended.
func (c *Checker) End() error {
	for _, q := range c.open() {
		return fmt.Errorf("at the end: %v has not ended", q)
	}
	for i := range c.ranks {
		if r := &c.ranks[i]; !r.dead && len(r.unexpected) > 0 {
			return fmt.Errorf("at the end: message #%d was not received", r.unexpected[0].send.id)
		}
	}
	return nil
}

// open returns the requests of living ranks that have not ended, by name.
func (c *Checker) open() (open []*request) {
	for _, q := range c.reqs {
		if !q.done && !c.ranks[q.rank].dead {
			open = append(open, q)
		}
	}
	slices.SortFunc(open, func(a, b *request) int { return a.id - b.id })
	return open
}

func (q *request) String() string {
	what, dir := "send", "to"
	if q.recv {
		what, dir = "receive", "from"
	}
	return fmt.Sprintf("%s #%d of rank %d, %s %d, context %d, tag %d", what, q.id, q.rank, dir, q.peer, q.context, q.tag)
}

// Envelope is what a message or a posted receive is matched by.
type Envelope struct {
	Peer    int // source, or AnySource
	Context uint32
	Tag     int32
	Bytes   int // length, or room
	Whole   bool
}

// Unexpected returns the messages at a rank that no receive has taken, oldest
// first.
func (c *Checker) Unexpected(rank int) (list []Envelope) {
	for _, m := range c.ranks[rank].unexpected {
		list = append(list, Envelope{m.from, m.context, m.tag, len(m.data), m.whole})
	}
	return list
}

// Posted returns the receives of a rank that wait for a message, oldest first.
func (c *Checker) Posted(rank int) (list []Envelope) {
	for _, q := range c.ranks[rank].posted {
		list = append(list, Envelope{Peer: q.peer, Context: q.context, Tag: q.tag, Bytes: q.room})
	}
	return list
}

// Lives reports whether a rank is alive.
func (c *Checker) Lives(rank int) bool { return !c.ranks[rank].dead }

// Alone reports whether a rank knows all others to be dead.
func (c *Checker) Alone(rank int) bool {
	for p := range c.ranks {
		if p != rank && !c.ranks[rank].down[p] {
			return false
		}
	}
	return true
}
