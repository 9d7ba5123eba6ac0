package pt2pt

import (
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/wire"
)

// Told is what another rank has said it waits for.
type Told struct {
	From    int
	What    What // 0: none of its goroutines is blocked in an operation
	Peer    int
	Tag     int32
	Context uint32
	Bytes   uint64
	Age     time.Duration
}

// question is one to other ranks that answers may still come to.
type question struct {
	number uint64
	open   int
	told   []Told
	done   chan struct{} // closed when all have answered
}

// Ask asks ranks what they wait for and returns what those have answered that
// did so within the time. Their progress threads answer; it needs ours, or a
// goroutine that waits.
func (e *Engine) Ask(ranks []int, within time.Duration) []Told {
	done := make(chan struct{})
	e.loop.Exclusive(func() {
		q := &e.question
		if q.done != nil && q.open > 0 {
			close(q.done) // an older question's
		}
		*q = question{number: q.number + 1, done: done}
		for _, r := range ranks {
			if r < 0 || r >= len(e.peers) || r == e.rank {
				continue
			}
			if c := e.loop.Conn(fabric.Peer(r)); c.Down() == nil {
				q.open++
				c.Post(wire.Ask, q.number, nil)
			}
		}
		if q.open == 0 {
			close(done)
		}
	})
	t := time.NewTimer(within)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	}
	var told []Told
	e.loop.Exclusive(func() {
		if e.question.done == done {
			told = e.question.told
		}
	})
	return told
}

func (e *Engine) onAsk(from fabric.Peer, number uint64) {
	e.loop.Conn(from).Post(wire.Tell, number, wire.MakeTell(e.hdr[:], e.waiting(int32(from))))
}

// onTell takes an answer. One that comes too late is nobody's.
func (e *Engine) onTell(from fabric.Peer, number uint64, w wire.Waiting) {
	q := &e.question
	if number != q.number || q.open == 0 || w.Kind >= uint8(whatsAtWires) {
		return
	}
	q.told = append(q.told, Told{From: int(from), What: What(w.Kind), Peer: int(w.Peer), Tag: w.Tag, Context: w.Context,
		Bytes: w.Bytes, Age: time.Duration(w.Age) * time.Second})
	if q.open--; q.open == 0 {
		close(q.done)
	}
}
