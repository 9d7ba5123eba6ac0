package comm

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/group"
	"github.com/weft-mpi/weft/progress"
)

// The leaders of a Connect exchange three letters each way:
//
//	hello  the outcome of the group so far, and how many ranks it has
//	group  its ranks, once the hello of the other leader is here: so it has asked for
//	       this letter, which may be long
//	done   it has the other's group: only then may the other group begin to meet
//
// Each begins with an outcome. A leader that fails sends the rest of its three letters
// all the same, and drops the rest of the other's. So the next Connect of the two
// leaders finds its own letters, whatever has become of this one.
type exchange struct {
	j         *connecting
	leads     bool // this rank is the leader and knows the other one
	other     int  // the other leader's rank in the job
	key       letterKey
	sent, got int // letters
	waits     *reception
	aborted   error  // why the own group gives up, during the exchange
	outcome   uint64 // of the exchange
	theirs    *group.Map
	size      int // of theirs
}

// mostLetters is how many letters each leader sends.
const mostLetters = 3

func (e *exchange) begin(j *connecting, other int, key letterKey) {
	e.j, e.leads, e.other, e.key = j, true, other, key
}

// say sends the next letter.
func (e *exchange) say(outcome uint64, rest []byte) {
	b := binary.LittleEndian.AppendUint64(nil, outcome)
	if b = append(b, rest...); e.sent == 0 {
		b = binary.LittleEndian.AppendUint64(b, uint64(e.j.c.Size))
	}
	e.sent++
	e.j.in.letters.send(e.other, e.key, b)
}

// hear receives the next letter, which has so many bytes behind the outcome. then is
// called if its outcome is good, and goes on or ends the exchange.
func (e *exchange) hear(bytes int, then func(rest []byte) error) {
	b := make([]byte, 8+bytes)
	e.got++
	e.waits = e.j.in.letters.receive(e.other, e.key, b, e.j.x.r.Place, func(r *progress.Request, err error) {
		e.waits = nil
		first := binary.LittleEndian.Uint64(b)
		switch {
		case e.aborted != nil:
		case err != nil:
			e.fail(err)
		case r.Result.Bytes >= 8 && first&outcomeFailed != 0:
			e.outcome = first
			e.j.failed = e.j.failure(first)
		case r.Result.Bytes != uint64(len(b)) || first != outcomeWell:
			e.garbage()
		default:
			if err := then(b[8:]); err == nil {
				return
			}
			e.garbage()
		}
		e.end()
	})
}

// end has the call go on behind the exchange.
func (e *exchange) end() { e.j.x.messageEnded(nil, e.aborted) }

// fail ends the exchange with an error of this rank.
func (e *exchange) fail(err error) {
	e.j.failed, e.outcome = err, e.j.in.outcomeOf(err)
}

// garbage ends the other leader, which breaks the rules.
func (e *exchange) garbage() {
	e.j.in.letters.end(fabric.Peer(e.other), "it sent a letter about its group that is none")
	e.fail(&fabric.Error{Op: "receive", Peer: fabric.Peer(e.other), HasPeer: true,
		Err: fmt.Errorf("%w: it sent a letter about its group that is none", fabric.ErrPeerDown)})
}

// hello begins the exchange, which counts as a message under way until it has ended.
func (e *exchange) hello() {
	e.j.x.open++
	e.say(outcomeWell, nil)
	e.hear(8, func(rest []byte) error {
		n := binary.LittleEndian.Uint64(rest)
		if n == 0 || n > uint64(e.j.in.World.Size) {
			return errors.New("no size")
		}
		e.size = int(n)
		e.say(outcomeWell, appendRanks(nil, e.j.mine))
		e.hear(rankSize*e.size, e.heardGroup)
		return nil
	})
}

func (e *exchange) heardGroup(rest []byte) error {
	g, err := ranksIn(rest)
	if err != nil {
		return err
	}
	for i := range g.Len() {
		if g.World(i) >= e.j.in.World.Size {
			return errors.New("no rank")
		}
	}
	if g.Rank(e.other) < 0 {
		return errors.New("the leader is not in it")
	}
	e.theirs = g
	e.say(outcomeWell, nil)
	e.hear(0, func([]byte) error { e.end(); return nil })
	return nil
}

// abort ends an exchange that waits for a letter, since the own group gives up.
func (e *exchange) abort(err error) {
	if e.waits != nil {
		e.aborted = err
		e.waits.abandon(err)
	}
}

// settle sends and drops the letters that are left.
func (e *exchange) settle() {
	if !e.leads {
		return
	}
	outcome := e.outcome
	if outcome == outcomeWell {
		err := e.j.failed
		err = cmp.Or(err, e.j.x.err)
		outcome = e.j.in.outcomeOf(err)
	}
	for e.sent < mostLetters {
		e.say(outcome, nil)
	}
	for ; e.got < mostLetters; e.got++ {
		e.j.in.letters.drop(e.other, e.key)
	}
}
