package pt2pt

import (
	"slices"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
)

// Told is what a rank has reported that it waits for.
type Told struct {
	From   int
	Waits  []Wait // empty: none of its goroutines is blocked in an operation
	Untold bool   // an event that is not reported may let it go on

	sending, receiving bool // to, or from, the asking rank
}

// question is a question to other ranks that may still be replied to.
type question struct {
	open map[fabric.Peer]*Told // those without a complete reply
	told []Told
	done func(q *question) // called once all have replied, under ownership
}

// questions are those that this rank has asked, by number.
type questions struct {
	last   uint64
	open   map[uint64]*question
	relays []uint64 // those asked on behalf of others, the oldest first
}

// maxRelays bounds the memory that ranks which keep asking, and ranks which
// never reply, take up here.
const maxRelays = 64

// pose asks ranks what they wait for and returns the number of the question. The
// replies come later; if there is no rank to ask, the question is done at once.
func (e *Engine) pose(ranks []int, sure bool, done func(*question)) uint64 {
	qs := &e.questions
	if qs.open == nil {
		qs.open = map[uint64]*question{}
	}
	qs.last++
	number := qs.last
	q := &question{open: map[fabric.Peer]*Told{}, done: done}
	for _, r := range ranks {
		if r < 0 || r >= len(e.peers) || r == e.rank || q.open[fabric.Peer(r)] != nil {
			continue
		}
		if c := e.loop.Conn(fabric.Peer(r)); c.Down() == nil {
			q.open[c.Peer] = &Told{From: r}
		}
	}
	if len(q.open) == 0 {
		done(q)
		return number
	}
	qs.open[number] = q
	for p := range q.open {
		e.loop.Conn(p).Post(wire.Ask, number, wire.MakeAsk(e.hdr[:], sure))
	}
	return number
}

// ask asks ranks what they wait for and returns the replies that came in time.
// Their progress threads reply; it needs the progress thread here, or a
// goroutine that waits. With sure a rank asks those it waits for before it
// replies: what is Stuck in its reply was so after everything they had sent to
// it had arrived.
func (e *Engine) ask(ranks []int, sure bool, until time.Time) []Told {
	done := make(chan []Told, 1)
	number := uint64(0)
	e.loop.Exclusive(func() {
		number = e.pose(ranks, sure, func(q *question) { done <- q.told })
	})
	t := time.NewTimer(time.Until(until))
	defer t.Stop()
	select {
	case told := <-done:
		return told
	case <-t.C:
	}
	var told []Told
	e.loop.Exclusive(func() {
		if q := e.questions.open[number]; q != nil {
			told = q.told
			delete(e.questions.open, number)
		}
	})
	select {
	case told = <-done: // in the meantime
	default:
	}
	return told
}

// onAsk replies, or first asks the ranks that this one waits for.
func (e *Engine) onAsk(from fabric.Peer, number uint64, sure bool) {
	if !sure {
		e.answer(from, number, e.waits(int(from)))
		return
	}
	qs := &e.questions
	if len(qs.relays) >= maxRelays {
		delete(qs.open, qs.relays[0])
		qs.relays = slices.Delete(qs.relays, 0, 1)
	}
	relay := e.pose(e.waits(int(from)).needs(), false, func(q *question) {
		t := e.waits(int(from))
		t.confirm(q.told)
		e.answer(from, number, t)
	})
	if qs.open[relay] != nil {
		qs.relays = append(qs.relays, relay)
	}
}

// answer replies to a question.
func (e *Engine) answer(to fabric.Peer, number uint64, t Told) {
	var common wire.Flags
	for f, is := range map[wire.Flags]bool{wire.Untold: t.Untold, wire.Sending: t.sending, wire.Receiving: t.receiving} {
		if is {
			common |= f
		}
	}
	if len(t.Waits) == 0 {
		e.loop.Conn(to).Post(wire.Tell, number, wire.MakeTell(e.hdr[:], wire.Waiting{Flags: common}))
	}
	for i, w := range t.Waits {
		h := wire.Waiting{Kind: uint8(w.What), Flags: common, Who: w.Who, Peer: int32(w.Peer), Tag: w.Tag, Context: w.Context,
			Age: uint32(w.Age / time.Second), Bytes: w.Bytes, Op: w.Op}
		if i < len(t.Waits)-1 {
			h.Flags |= wire.More
		}
		if w.Stuck {
			h.Flags |= wire.Stuck
		}
		if w.Either {
			h.Flags |= wire.Either
		}
		e.loop.Conn(to).Post(wire.Tell, number, wire.MakeTell(e.hdr[:], h))
	}
}

// onTell takes a part of a reply. A late one is dropped.
func (e *Engine) onTell(from fabric.Peer, number uint64, w wire.Waiting) {
	qs := &e.questions
	q := qs.open[number]
	if q == nil || q.open[from] == nil || w.Kind >= uint8(whatsAtWires) {
		return
	}
	t := q.open[from]
	t.Untold = w.Flags&wire.Untold != 0
	t.sending, t.receiving = w.Flags&wire.Sending != 0, w.Flags&wire.Receiving != 0
	if w.Kind != 0 {
		t.Waits = append(t.Waits, Wait{What: What(w.Kind), Peer: int(w.Peer), Tag: w.Tag, Context: w.Context, Bytes: w.Bytes,
			Age: time.Duration(w.Age) * time.Second, Op: w.Op, Who: w.Who,
			Stuck: w.Flags&wire.Stuck != 0, Either: w.Flags&wire.Either != 0})
	}
	if w.Flags&wire.More != 0 && len(t.Waits) < wire.MaxTells {
		return
	}
	q.told = append(q.told, *t)
	if delete(q.open, from); len(q.open) > 0 {
		return
	}
	delete(qs.open, number)
	if i := slices.Index(qs.relays, number); i >= 0 {
		qs.relays = slices.Delete(qs.relays, i, i+1)
	}
	q.done(q)
}
