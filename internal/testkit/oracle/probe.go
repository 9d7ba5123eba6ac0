package oracle

import (
	"errors"
	"fmt"
)

func (c *Checker) probe(r *rank, e Event) error {
	i := r.find(e.Peer, e.Context, e.Tag)
	if e.Found != (i >= 0) {
		return fmt.Errorf("it should answer %t", i >= 0)
	}
	if i < 0 {
		switch nobody := c.nobody(r, e.Rank, e.Peer); {
		case e.Class != OK && !(e.Class == PeerDown && nobody):
			return errors.New("there was no reason to fail")
		case e.Class == OK && nobody:
			return errors.New("nobody is left to send it, and it does not say so")
		}
		return nil
	}
	m := r.unexpected[i]
	if err := m.found(e); err != nil {
		return err
	}
	if e.Kind == Claim {
		q, err := c.begin(e, true)
		if err != nil {
			return err
		}
		r.take(i)
		r.claimed++
		m.claimed, q.msg, q.done = true, m, true
	}
	return nil
}

// nobody reports whether a rank knows that nobody is left to send from source.
func (c *Checker) nobody(r *rank, rank, source int) bool {
	if source == AnySource {
		return len(c.ranks) > 1 && c.Alone(rank)
	}
	return r.down[source]
}

// found checks what a probe has told of a message.
func (m *message) found(e Event) error {
	if e.FoundPeer != m.from || e.FoundTag != m.tag || e.Length != len(m.data) {
		return fmt.Errorf("it should find #%d from %d, tag %d, length %d", m.send.id, m.from, m.tag, len(m.data))
	}
	return nil
}

// await starts a probe that waits for a message.
func (c *Checker) await(r *rank, e Event) error {
	q, err := c.begin(e, true)
	if err != nil {
		return err
	}
	q.probe = true
	if i := r.find(e.Peer, e.Context, e.Tag); i >= 0 {
		q.msg = r.unexpected[i]
	} else if c.nobody(r, e.Rank, e.Peer) {
		q.lost = true
	} else {
		r.probes = append(r.probes, q)
	}
	return nil
}

func (c *Checker) probeDone(r *rank, e Event) error {
	q := c.reqs[e.Req]
	if q == nil || !q.probe || q.done || q.rank != e.Rank {
		return errors.New("no such probe waits")
	}
	q.done = true
	switch {
	case e.Class == OK && q.msg == nil:
		return errors.New("no message can have come")
	case e.Class == OK:
		return q.msg.found(e)
	case e.Class == PeerDown && q.lost, e.Class == Cancelled && q.cancelled && q.msg == nil:
		r.probes = without(r.probes, q)
		return nil
	}
	return errors.New("there was no reason to fail")
}

func without(list []*request, q *request) []*request {
	for i := range list {
		if list[i] == q {
			return append(list[:i:i], list[i+1:]...)
		}
	}
	return list
}

// receive starts the receive of a claimed message.
func (c *Checker) receive(r *rank, e Event) error {
	claim := c.reqs[e.Peer]
	if claim == nil || claim.msg == nil || !claim.msg.claimed {
		return errors.New("no such message was claimed")
	}
	q, err := c.begin(e, true)
	if err != nil {
		return err
	}
	r.claimed--
	m := claim.msg
	m.claimed, q.msg, m.recv = false, m, q
	return nil
}
