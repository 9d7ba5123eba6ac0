package verbs

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// errRefused is how a work request ends that the peer's device has refused. The
// key may be wrong, or the peer is being killed: the kernel takes the memory of
// a process away before its queue pairs. So the operation waits while the peer
// is asked, over the socket, whether it is there. A process that is about to
// die has no goroutine that could answer.
var errRefused = errors.New("refused")

// refusedOp is an operation that has been refused, or would be if its end said so.
type refusedOp struct {
	op     fabric.Op
	number uint64 // of a transfer in stripes, or a Flush
	flush  bool   // that covers a NoOp which has been refused
}

// complete ends an operation. It returns how many events that makes.
func (e *endpoint) complete(h fabric.Handler, o refusedOp, err error) int {
	switch {
	case err == errRefused:
	case o.op == fabric.NoOp:
		e.keep(o.number, err)
		return 0
	default:
		h.Complete(o.op, err)
		return 1
	}
	if e.answers == len(e.refused) {
		e.answerBy = time.Now().Add(answerTime)
	}
	e.refused = append(e.refused, o)
	e.ask()
	e.needFailover()
	return 0
}

// ask asks the peer whether it is there: once for each operation, since it may
// be killed behind an answer.
func (e *endpoint) ask() {
	d := e.d
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.links[e.peer].conn; c != nil {
		say(c, byteAsk)
	}
}

// answered takes an answer, which is about the operation that waits for the
// longest, or the word that the peer has ended the connection: for whatever its
// device refused before then it was there.
func (e *endpoint) answered(ended bool) {
	e.ended = e.ended || ended
	if !ended && e.answers < len(e.refused) {
		e.answers++
		e.answerBy = time.Now().Add(answerTime)
	}
}

// processEnded takes the end of a peer's process that has failed already: it is why
// operations were refused.
func (e *endpoint) processEnded(err error) {
	if e.gone = e.gone || err != nil; err != nil && !e.ended && e.answers < len(e.refused) {
		e.failing = err
	}
}

// settle ends refused operations, so many at most, of which it is known
// why they were.
func (e *endpoint) settle(h fabric.Handler, most int) (n int) {
	for len(e.refused) > 0 && n < most {
		err := e.failing
		switch {
		case e.answers > 0 || e.ended:
			err = &fabric.Error{Op: "access the peer's memory", Peer: e.peer, HasPeer: true,
				Err: fmt.Errorf("its device refuses: %w", fabric.ErrBadRemote)}
		case !e.gone && time.Now().Before(e.answerBy):
			return n
		case err == nil:
			e.drain(e.downError("talk over verbs", fmt.Errorf("its device has refused access, and it has not answered for %v", answerTime)))
			return n
		}
		o := e.refused[0]
		e.refused = e.refused[1:]
		if e.answers > 0 {
			e.answers--
		}
		if o.op != fabric.NoOp {
			h.Complete(o.op, err)
			n++
		} else if !slices.ContainsFunc(e.refused, func(o refusedOp) bool { return o.flush }) {
			e.keep(o.number, err)
		}
	}
	return n
}
