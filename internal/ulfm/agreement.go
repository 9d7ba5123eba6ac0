package ulfm

import "math/bits"

// An agreement gives all ranks the same Value, also those that return with it and die
// before others have it.
//
// Without a death each rank tells the rank behind it at the distances 1, 2, 4 and so on
// what it has heard so far; after log p rounds it has the Value of all. A second turn of
// rounds tells it that all others have it too: only then it returns. A rank that hears of
// a death before that leaves the rounds for good, and asks the lowest rank that it thinks
// alive, the leader. A leader without a Value asks those that have not asked it, since its
// question tells them of the deaths, and waits until all living ranks have asked.
// Then nobody has returned, since for that the leader must have had the Value. It proposes
// the Value to all living ranks, and when all have it, it tells them to return. Of the
// Values that were proposed to a rank, the highest leader's counts: one that anybody may
// have returned with is at every later leader.
//
// A rank that has returned keeps the Value for those that ask.

// Value is what a rank brings to an agreement, and what comes out.
type Value struct {
	Flags  uint64 // the bitwise and of those of the ranks
	Failed Set    // ranks that one of them knows to have failed
	Acked  Set    // those of them that all ranks have acknowledged
}

// and is the Value of two together.
func (v Value) and(w Value) Value {
	return Value{v.Flags & w.Flags, v.Failed.Or(w.Failed), v.Acked.And(w.Acked)}
}

// Unacked reports whether a rank has failed that not all have acknowledged.
func (v Value) Unacked() bool { return !v.Failed.Without(v.Acked).Empty() }

// Says is what a Message is for.
type Says uint8

const (
	Tell    Says = iota // the first turn: what the sender has heard so far
	Know                // the second turn: the sender has the Value of all
	Ask                 // the sender has left the rounds, and brings Value
	Propose             // by a leader
	Accept              // the reply: the sender has it
	Return              // the agreement's end
	Sayings
)

// Message is one between the ranks of an agreement.
type Message struct {
	Says  Says
	Round uint8 // of a Tell or Know
	Value Value // but of a Know or Accept
}

// An Agreement is one rank's part in one. It belongs to one goroutine.
type Agreement struct {
	rank    int
	members Set
	ring    []int // the members
	place   int   // of this rank in ring
	rounds  uint8 // of a turn
	send    func(to int, m Message)

	dead    Set // members
	started bool
	over    bool
	mine    Value // since started

	// The rounds, until slow.
	slow        bool
	sum         Value  // what has been heard
	heard       bool   // sum is one
	told, knows uint32 // the rounds of each turn of which a message has come
	sent        [2]uint8

	has      bool // value is one: this rank's as proposed last, or that of the rounds
	value    Value
	leader   int // whom it has asked, or whose proposal it has; -1: nobody
	asked    int // the last that it has asked
	proposed bool
	known    Set // ranks that have accepted this leader's proposal
	warned   Set // ranks that this leader has asked

	asks Set // ranks that have asked this one
	got  Value
}

// NewAgreement returns a rank's part in an agreement of members, which all have the same
// set. send sends a message to another member.
func NewAgreement(rank int, members Set, send func(to int, m Message)) *Agreement {
	a := &Agreement{rank: rank, members: members, send: send, leader: -1, asked: -1}
	for r := range members.Ranks() {
		if r == rank {
			a.place = len(a.ring)
		}
		a.ring = append(a.ring, r)
	}
	a.rounds = uint8(bits.Len(uint(len(a.ring) - 1)))
	return a
}

// Over reports whether the agreement has ended here: Value is that of all.
func (a *Agreement) Over() bool { return a.over }

// Value is the agreement's, once it is over.
func (a *Agreement) Value() Value { return a.value }

// Waits is the set of ranks whose messages this one waits for, as far as it knows; empty if
// the agreement is over.
func (a *Agreement) Waits() (s Set) {
	others := a.members.Without(a.dead.With(a.rank))
	switch {
	case a.over:
		return s
	case a.leads() && !a.proposed:
		return others.Without(a.asks)
	case a.leads():
		return others.Without(a.known)
	case a.slow:
		return s.With(max(a.leader, a.members.Without(a.dead).Lowest()))
	}
	for k := range a.rounds {
		got := a.told
		if a.has {
			got = a.knows
		}
		if got>>k&1 == 0 {
			s = s.With(a.ring[(a.place-1<<k%len(a.ring)+len(a.ring))%len(a.ring)])
		}
	}
	return s
}

// Start brings this rank's Value. Failed has ranks that are no members any more; those
// that the rank knows to be dead are added.
func (a *Agreement) Start(v Value) {
	a.started, a.mine = true, v
	if a.over {
		return
	}
	if a.hear(v); !a.dead.Empty() {
		a.leave()
		return
	}
	a.advance()
}

// hear adds to what the rounds have brought.
func (a *Agreement) hear(v Value) {
	if a.heard {
		v = v.and(a.sum)
	}
	a.sum, a.heard = v, true
}

// advance sends what is due in the rounds.
func (a *Agreement) advance() {
	if !a.started || a.slow || a.over {
		return
	}
	if !a.has {
		a.turn(0, a.told, Message{Says: Tell, Value: a.sum})
		if a.told != 1<<a.rounds-1 {
			return
		}
		a.has, a.value = true, a.sum
	}
	a.turn(1, a.knows, Message{Says: Know})
	if a.knows == 1<<a.rounds-1 {
		a.end(a.value)
	}
}

// turn sends the messages of a turn up to the first round that this rank waits for.
func (a *Agreement) turn(of int, got uint32, m Message) {
	for a.sent[of] < a.rounds && got|^uint32(0)<<a.sent[of] == ^uint32(0) {
		m.Round = a.sent[of]
		a.sent[of]++
		a.send(a.ring[(a.place+1<<m.Round)%len(a.ring)], m)
	}
}

// Down says that a rank has died.
func (a *Agreement) Down(rank int) {
	if !a.members.Has(rank) || a.dead.Has(rank) {
		return
	}
	a.dead = a.dead.With(rank)
	if a.started && !a.over {
		a.leave()
	}
}

// leave leaves the rounds, and asks the leader, or leads.
func (a *Agreement) leave() {
	a.slow = true
	lowest := a.members.Without(a.dead).Lowest()
	switch {
	case lowest == a.rank:
		a.lead()
	case lowest != a.asked && lowest != a.leader:
		a.asked = lowest
		a.send(lowest, Message{Says: Ask, Value: a.brings()})
	}
}

// brings is what this rank brings, with what it knows by now.
func (a *Agreement) brings() Value {
	v := a.mine
	v.Failed = v.Failed.Or(a.dead)
	return v
}

// lead goes on as the leader.
func (a *Agreement) lead() {
	others := a.members.Without(a.dead.With(a.rank))
	if !a.proposed {
		if !a.has {
			if missing := others.Without(a.asks); !missing.Empty() {
				for r := range missing.Without(a.warned).Ranks() {
					a.warned = a.warned.With(r)
					a.send(r, Message{Says: Ask, Value: a.brings()})
				}
				return
			}
			a.value = a.brings()
			if !a.asks.Empty() {
				a.value = a.value.and(a.got)
			}
			a.has = true
		}
		a.proposed, a.leader = true, a.rank
		for r := range others.Ranks() {
			a.send(r, Message{Says: Propose, Value: a.value})
		}
	}
	if others.Without(a.known).Empty() {
		a.end(a.value)
	}
}

// leads reports whether this rank is the leader, as far as it knows.
func (a *Agreement) leads() bool {
	return a.slow && a.started && a.members.Without(a.dead).Lowest() == a.rank
}

// end ends the agreement. Those that may wait for this rank hear of it.
func (a *Agreement) end(v Value) {
	to := a.asks
	if a.leads() {
		to = a.members
	}
	a.over, a.has, a.value = true, true, v
	for r := range to.Without(a.dead.With(a.rank)).Ranks() {
		a.send(r, Message{Says: Return, Value: v})
	}
}

// Receive takes a message of a member.
func (a *Agreement) Receive(from int, m Message) {
	if a.dead.Has(from) || !a.members.Has(from) {
		return
	}
	if a.over {
		if m.Says == Ask || m.Says == Propose {
			a.send(from, Message{Says: Return, Value: a.value})
		}
		return
	}
	switch m.Says {
	case Tell:
		if !a.slow && m.Round < a.rounds {
			a.told |= 1 << m.Round
			a.hear(m.Value)
			a.advance()
		}
	case Know:
		if !a.slow && m.Round < a.rounds {
			a.knows |= 1 << m.Round
			a.advance()
		}
	case Ask:
		if a.asks.Empty() {
			a.got = m.Value
		}
		a.got, a.asks = a.got.and(m.Value), a.asks.With(from)
		if a.leads() {
			a.lead()
		}
	case Propose:
		if from >= a.leader {
			a.slow, a.has, a.value, a.leader = true, true, m.Value, from
			a.send(from, Message{Says: Accept})
		}
	case Accept:
		a.known = a.known.With(from)
		if a.leads() && a.proposed {
			a.lead()
		}
	case Return:
		a.end(m.Value)
	}
}
