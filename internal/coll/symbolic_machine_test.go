package coll

import (
	"fmt"
	"slices"
)

// A machine runs the plans of all ranks in one goroutine, on memory that holds
// terms. A send ends when its receive has been posted, as if no transport had a
// buffer. Ranks of both groups are numbered in a row, the first group's first.
type machine struct {
	ranks  []*runner
	first  int // ranks of the first group
	terms  *terms
	ready  []int
	queues []queue // of each sender, for each receiver
	err    error
}

// A runner is a rank at work.
type runner struct {
	shape   *Shape
	plan    Plan
	mem     [4][]term // by Mem; of no length where it must not be used
	next    int       // step
	started []*message
	pending int // of started
	asleep  bool
	heard   set  // of ranks, in a barrier
	hears   set  // from the next Wait on
	used    int  // of Temp
	signals bool // messages of no bytes are the call's
	gaps    Gaps
	direct  bool // a message is in memory with gaps
}

// A message is one end, or both once they have met.
type message struct {
	ref   Ref
	sends bool
	rank  int
	heard set
}

type queue struct{ sends, recvs []*message }

// A set is of ranks.
type set []uint64

func (s set) add(i int) { s[i/64] |= 1 << (i % 64) }

func (s set) join(o set) {
	for i := range o {
		s[i] |= o[i]
	}
}

func newMachine(shapes []*Shape, first int, t *terms) *machine {
	m := &machine{first: first, terms: t, queues: make([]queue, len(shapes)*len(shapes))}
	for i, s := range shapes {
		words := (len(shapes) + 63) / 64
		r := &runner{shape: s, heard: make(set, words), hears: make(set, words)}
		r.heard.add(i)
		m.ranks = append(m.ranks, r)
		m.ready = append(m.ready, i)
	}
	return m
}

// run carries out all plans, or says what is wrong with one.
func (m *machine) run() error {
	for len(m.ready) > 0 && m.err == nil {
		i := m.ready[0]
		m.ready = m.ready[1:]
		m.work(i)
	}
	if m.err != nil {
		return m.err
	}
	for i, r := range m.ranks {
		switch {
		case r.next < len(r.plan.Steps):
			return fmt.Errorf("deadlock: rank %d waits in step %d of %v", i, r.next, r.plan.Steps)
		case len(r.started) > 0:
			return fmt.Errorf("rank %d does not wait for what it has started: %v", i, r.plan.Steps)
		case r.used != r.plan.Temp:
			return fmt.Errorf("rank %d uses %d of %d temporary elements", i, r.used, r.plan.Temp)
		case r.direct != r.plan.Direct:
			return fmt.Errorf("rank %d: messages in memory with gaps: %t, the plan says %t", i, r.direct, r.plan.Direct)
		}
	}
	return nil
}

// work carries out the steps of a rank until it waits.
func (m *machine) work(i int) {
	r := m.ranks[i]
	r.asleep = false
	for ; r.next < len(r.plan.Steps) && m.err == nil; r.next++ {
		s := r.plan.Steps[r.next]
		if s.Do != Wait {
			m.err = m.step(i, r, s)
		} else if len(r.started) == 0 {
			m.err = fmt.Errorf("a Wait for nothing")
		} else if r.pending > 0 {
			r.asleep = true
			return
		} else {
			r.started = r.started[:0]
			r.heard.join(r.hears)
		}
		if m.err != nil {
			m.err = fmt.Errorf("rank %d, step %d (%v) of %v: %w", i, r.next, s, r.plan.Steps, m.err)
		}
	}
}

func (m *machine) step(i int, r *runner, s Step) error {
	switch inGaps := r.gaps.has(s.A.Mem) || r.gaps.has(s.B.Mem) || r.gaps.has(s.To.Mem); {
	case inGaps && s.Do == Combine:
		return fmt.Errorf("memory with gaps is combined")
	case inGaps && s.Do != Copy:
		r.direct = true
	}
	switch s.Do {
	case Send:
		if _, err := r.read(s.A); err != nil {
			return err
		}
		return m.start(i, s.Peer, &message{ref: s.A, sends: true, rank: i, heard: slices.Clone(r.heard)})
	case Recv:
		if _, err := r.write(s.To); err != nil {
			return err
		}
		return m.start(i, s.Peer, &message{ref: s.To, rank: i})
	case Combine:
		a, err := r.read(s.A)
		if err != nil {
			return err
		}
		b, err := r.read(s.B)
		if err != nil {
			return err
		}
		to, err := r.write(s.To)
		if err != nil {
			return err
		}
		if len(a) != len(to) || len(b) != len(to) || len(to) == 0 {
			return fmt.Errorf("unequal or no lengths")
		}
		if s.To != s.A && overlap(s.To, s.A) || s.To != s.B && overlap(s.To, s.B) {
			return fmt.Errorf("the result overlaps an operand in part")
		}
		for k := range to {
			if to[k], err = m.terms.combine(a[k], b[k]); err != nil {
				return err
			}
		}
		return nil
	case Copy:
		a, err := r.read(s.A)
		if err != nil {
			return err
		}
		to, err := r.write(s.To)
		if err != nil {
			return err
		}
		if len(a) != len(to) || len(to) == 0 || overlap(s.A, s.To) {
			return fmt.Errorf("unequal lengths, none, or overlapping")
		}
		copy(to, a)
		return nil
	}
	return fmt.Errorf("no such step")
}

// read returns what a step reads.
func (r *runner) read(ref Ref) ([]term, error) {
	cells, err := r.cells(ref)
	if err != nil {
		return nil, err
	}
	for _, msg := range r.started {
		if !msg.sends && overlap(msg.ref, ref) {
			return nil, fmt.Errorf("%v is read before what is received there has arrived", ref)
		}
	}
	if i := slices.Index(cells, undefined); i >= 0 {
		return nil, fmt.Errorf("%v is undefined from element %d on", ref, i)
	}
	return cells, nil
}

// write returns where a step writes.
func (r *runner) write(ref Ref) ([]term, error) {
	if ref.Mem == In {
		return nil, fmt.Errorf("In is written")
	}
	for _, msg := range r.started {
		if overlap(msg.ref, ref) {
			return nil, fmt.Errorf("%v is written while it is sent or received", ref)
		}
	}
	return r.cells(ref)
}

func (r *runner) cells(ref Ref) ([]term, error) {
	if ref == (Ref{}) && r.signals {
		return nil, nil
	}
	if ref.Mem == None || ref.Mem > Temp || ref.At < 0 || ref.N <= 0 || ref.At+ref.N > len(r.mem[ref.Mem]) {
		return nil, fmt.Errorf("%v is not memory of the call", ref)
	}
	if ref.Mem == Temp {
		r.used = max(r.used, ref.At+ref.N)
	}
	return r.mem[ref.Mem][ref.At : ref.At+ref.N], nil
}

func overlap(a, b Ref) bool {
	return a.Mem == b.Mem && a.At < b.At+b.N && b.At < a.At+a.N
}

// start posts one end of a message, and delivers it if the other end is there.
func (m *machine) start(i, peer int, msg *message) error {
	r := m.ranks[i]
	base, other := 0, m.first
	if i >= m.first {
		base, other = m.first, 0
	}
	to := base + peer
	if peer >= r.shape.Size {
		to = other + peer - r.shape.Size
	}
	if peer < 0 || peer >= r.shape.Size+r.shape.Remote || to == i {
		return fmt.Errorf("there is no peer %d", peer)
	}
	r.started = append(r.started, msg)
	r.pending++
	if msg.sends {
		q := &m.queues[i*len(m.ranks)+to]
		if len(q.recvs) == 0 {
			q.sends = append(q.sends, msg)
			return nil
		}
		recv := q.recvs[0]
		q.recvs = q.recvs[1:]
		return m.deliver(msg, recv)
	}
	q := &m.queues[to*len(m.ranks)+i]
	if len(q.sends) == 0 {
		q.recvs = append(q.recvs, msg)
		return nil
	}
	send := q.sends[0]
	q.sends = q.sends[1:]
	return m.deliver(send, msg)
}

func (m *machine) deliver(send, recv *message) error {
	a, b := m.ranks[send.rank], m.ranks[recv.rank]
	if send.ref.N != recv.ref.N {
		return fmt.Errorf("rank %d sends %d elements, rank %d receives %d", send.rank, send.ref.N, recv.rank, recv.ref.N)
	}
	if send.ref.N > 0 {
		copy(b.mem[recv.ref.Mem][recv.ref.At:][:recv.ref.N], a.mem[send.ref.Mem][send.ref.At:])
	}
	b.hears.join(send.heard)
	for _, i := range [2]int{send.rank, recv.rank} {
		r := m.ranks[i]
		if r.pending--; r.pending == 0 && r.asleep {
			r.asleep = false
			m.ready = append(m.ready, i)
		}
	}
	return nil
}
