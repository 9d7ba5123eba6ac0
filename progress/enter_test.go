package progress

import (
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/internal/expiry"
)

// queued puts a request on the queue as a goroutine does that sees an owner, and
// that has not tried to own the loop yet.
func (z *scene) queued(token uint64) {
	r := z.l.NewShared()
	r.Kind, r.Imm, r.Until = atOnce, token, expiry.Expiry{}
	r.node.sink, r.node.w = z.s, nil
	z.l.queue.push(&r.node)
}

// What was queued while somebody owned the loop is started when it is left,
// however it is left.
func TestNothingQueuedIsStranded(t *testing.T) {
	for name, leave := range map[string]func(*Loop){
		"Leave": (*Loop).Leave,
		"letGo": (*Loop).letGo,
		"yield": func(l *Loop) { l.yield(); l.owned.give(freeWord) },
		"pass":  func(l *Loop) { l.pass(1); l.owned.give(freeWord) },
	} {
		z := newScene(t)
		z.s.started = []uint64{}
		z.queued(1)
		z.queued(2)
		leave(z.l)
		if got := fmt.Sprint(z.s.started); got != "[1 2]" {
			t.Errorf("%s: started are %s", name, got)
		}
		if !z.l.owned.take(freeWord) {
			t.Errorf("%s: the loop has an owner", name)
		}
	}
}

// scripted is a sink that does something of its own as a request starts.
type scripted struct {
	*toy
	at func(token uint64)
}

func (s scripted) Start(r *Request) {
	s.at(r.Imm)
	s.toy.Start(r)
}

// What is decided Behind the queue is decided at once where that is empty, else
// once all of it is started, also while it is being drained.
func TestBehindComesAfterAllThatIsQueued(t *testing.T) {
	z := newScene(t)
	var log []string
	behind := func() { log = append(log, "behind") }
	z.l.Behind(behind)
	s := scripted{z.s, func(token uint64) {
		if log = append(log, fmt.Sprint(token)); token == 1 {
			z.l.Behind(behind)
		}
	}}
	queued := func(token uint64) {
		r := z.l.NewShared()
		r.Kind, r.Imm, r.Until = atOnce, token, expiry.Expiry{}
		r.node.sink, r.node.w = s, nil
		z.l.queue.push(&r.node)
	}
	queued(1)
	queued(2)
	z.l.Behind(behind)
	queued(3)
	z.l.Leave()
	if got, want := fmt.Sprint(log), "[behind 1 2 behind 3 behind]"; got != want {
		t.Errorf("the order is %s, want %s", got, want)
	}
}

// A poller gives way to the waiter that has begun to poll instead.
func TestAPollerThatWasDisplacedStopsPolling(t *testing.T) {
	z := newScene(t)
	z.l.beginPoll(z.a)
	z.l.woke = true // so that it yields
	z.d.brings = func() int {
		z.l.beginPoll(z.b)
		z.d.brings = func() int { z.end(z.a); return 1 }
		return 1
	}
	if ended := z.l.poll(z.a); ended || z.l.poller != z.b {
		t.Errorf("it polled on until its request had ended: %t", ended)
	}
}
