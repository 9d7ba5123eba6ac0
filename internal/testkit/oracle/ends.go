package oracle

import (
	"bytes"
	"errors"
	"fmt"
)

// done takes the end of a request.
func (c *Checker) done(r *rank, e Event) error {
	q := c.reqs[e.Req]
	switch {
	case q == nil || q.probe || q.recv != (e.Kind == RecvDone):
		return errors.New("no such request was started")
	case q.rank != e.Rank:
		return fmt.Errorf("it is rank %d's", q.rank)
	case q.done:
		return errors.New("it has ended before")
	}
	q.done = true
	switch {
	case e.Class == Other:
		return errors.New("there was no reason to fail")
	case e.Class == Untold:
		r.posted = without(r.posted, q)
		return nil
	case e.Class == Cancelled && !q.cancelled:
		return errors.New("nobody asked for it")
	case q.recv:
		return c.recvDone(r, q, e)
	}
	return c.sendDone(r, q, e)
}

func (c *Checker) sendDone(r *rank, q *request, e Event) error {
	m := q.msg
	switch e.Class {
	case Truncated:
		return errors.New("a send is never truncated")
	case Cancelled:
		switch {
		case m.recv != nil:
			return fmt.Errorf("its message went to receive #%d", m.recv.id)
		case m.claimed:
			return errors.New("its message went to a matched probe")
		case m.arrived && !m.back && m.from != m.to && !q.lost:
			return errors.New("its message has arrived and was not given back")
		}
		c.forget(m)
	case PeerDown:
		// The end of a transfer to the dead may come before the news.
		if !r.down[q.peer] && !c.ranks[q.peer].dead {
			return fmt.Errorf("rank %d does not know of a death of %d", q.rank, q.peer)
		}
	case Failed:
		if m.recv == nil {
			return errors.New("nobody has received it")
		}
		return c.fail(m)
	case NotReady:
		if !m.late {
			return errors.New("its receive was posted")
		}
	case NoBuffer:
		if m.mode != Buffered {
			return errors.New("it needs no buffer")
		}
		c.forget(m)
	case OK:
		if m.mode == Buffered && m.from == m.to {
			m.arrived, m.whole = true, true
			c.deliver(r, m)
		}
		if m.back {
			return errors.New("its message was given back")
		}
		if m.mode == Synchronous && m.recv == nil {
			return errors.New("it is synchronous and its receive has not been started")
		}
		if m.failed {
			return errors.New("its transfer has failed")
		}
	}
	return nil
}

// fail takes the end of a message whose transfer has failed: both sides tell.
func (c *Checker) fail(m *message) error {
	if m.failed {
		return nil
	}
	m.failed = true
	r := &c.ranks[m.to]
	if r.faults[m.from]--; r.faults[m.from] < 0 {
		return errors.New("no transfer has failed")
	}
	return nil
}

// forget takes a message that is not matched out of wherever it is.
func (c *Checker) forget(m *message) {
	for _, list := range []*[]*message{&c.onWay[m.from*len(c.ranks)+m.to], &c.ranks[m.to].unexpected} {
		for i := range *list {
			if (*list)[i] == m {
				*list = append((*list)[:i:i], (*list)[i+1:]...)
				return
			}
		}
	}
}

func (c *Checker) recvDone(r *rank, q *request, e Event) error {
	m := q.msg
	switch e.Class {
	case Cancelled:
		if m != nil {
			return fmt.Errorf("message #%d had matched it", m.send.id)
		}
		if e.Peer != AnySource || e.Tag != AnyTag || e.Length != 0 {
			return errors.New("its status tells of a message")
		}
		return r.withdraw(q)
	case PeerDown:
		if m == nil && !q.lost || m != nil && (!c.ranks[m.from].dead || m.whole) {
			return errors.New("what it waits for can still come, or has")
		}
		return nil
	}
	switch {
	case m == nil:
		return errors.New("no message can have matched it")
	case e.Peer != m.from || e.Tag != m.tag:
		return fmt.Errorf("message #%d from %d, tag %d, should have come", m.send.id, m.from, m.tag)
	}
	if e.Class == Failed {
		return c.fail(m)
	}
	if m.failed {
		return errors.New("its transfer has failed")
	}
	n := len(m.data)
	switch {
	case e.Length != n:
		return fmt.Errorf("message #%d has %d bytes", m.send.id, n)
	case (e.Class == Truncated) != (n > q.room):
		return fmt.Errorf("message #%d has %d bytes, the buffer %d", m.send.id, n, q.room)
	case len(e.Data) != q.room:
		return fmt.Errorf("the buffer has %d bytes, the log shows %d", q.room, len(e.Data))
	}
	n = min(n, q.room)
	if !bytes.Equal(e.Data[:n], m.data[:n]) {
		return fmt.Errorf("the bytes are not those of message #%d: %s", m.send.id, difference(e.Data[:n], m.data[:n]))
	}
	for i, b := range e.Data[n:] {
		if b != Fill {
			return fmt.Errorf("byte %d, behind the %d of message #%d, was written", n+i, n, m.send.id)
		}
	}
	return nil
}

func difference(got, want []byte) string {
	for i := range got {
		if got[i] != want[i] {
			return fmt.Sprintf("first at byte %d of %d: %#x, not %#x", i, len(got), got[i], want[i])
		}
	}
	return "none"
}

func (r *rank) withdraw(q *request) error {
	n := len(r.posted)
	if r.posted = without(r.posted, q); len(r.posted) == n {
		return errors.New("it was not posted any more")
	}
	return nil
}

// peerDown takes a death that a rank learns of: what is not here whole by now
// never comes, and what waits for it fails.
func (c *Checker) peerDown(r *rank, e Event) error {
	if r.down[e.Peer] {
		return errors.New("it was told before")
	}
	if !c.ranks[e.Peer].dead {
		return errors.New("the peer is alive")
	}
	r.down[e.Peer], r.coming[e.Peer] = true, nil
	c.onWay[e.Peer*len(c.ranks)+e.Rank] = nil
	c.onWay[e.Rank*len(c.ranks)+e.Peer] = nil
	alone := true
	for p := range c.ranks {
		alone = alone && (p == e.Rank || r.down[p])
	}
	for _, list := range []*[]*request{&r.posted, &r.probes} {
		var kept []*request
		for _, q := range *list {
			if q.peer == e.Peer || alone && q.peer == AnySource {
				q.lost = true
			} else {
				kept = append(kept, q)
			}
		}
		*list = kept
	}
	var unexpected []*message
	for _, m := range r.unexpected {
		if m.from != e.Peer || m.whole {
			unexpected = append(unexpected, m)
		}
	}
	r.unexpected = unexpected
	for _, q := range c.reqs {
		if q.rank == e.Rank && !q.recv && q.peer == e.Peer && !q.done {
			q.lost = true
		}
	}
	return nil
}
