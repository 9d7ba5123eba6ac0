package progress

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/coarseclock"
	"github.com/weft-mpi/weft/internal/expiry"
)

// still is a domain on which nothing happens by itself. It notes what is asked
// of its doorbell and when it is polled.
type still struct {
	fabric.Domain
	log    []string
	deny   error      // of Arm
	armed  func()     // called by Arm, once
	brings func() int // what a Poll brings, once
}

func (d *still) note(what string) { d.log = append(d.log, what) }

func (d *still) Arm(w fabric.Wake) error {
	d.note("arm " + bellName(w))
	if f := d.armed; f != nil {
		d.armed = nil
		f()
	}
	return d.deny
}

func (d *still) Poll(fabric.Handler, int) int {
	d.note("poll")
	if f := d.brings; f != nil {
		d.brings = nil
		return f()
	}
	return 0
}

func (d *still) Disarm() { d.note("disarm") }
func (d *still) Wake()   { d.note("wake") }

func bellName(w fabric.Wake) string {
	return map[fabric.Wake]string{bellOff: "off", fabric.WakeUrgent: "urgent", fabric.WakeAll: "all"}[w]
}

// scene is a loop whose states a test moves by hand, with three waiters for one
// request each. The test is the owner and the thread; no goroutine sleeps.
type scene struct {
	l       *Loop
	s       *toy
	d       *still
	a, b, c *Waiter
	word    atomic.Int64 // of the condition that watch waits for
}

func newScene(t *testing.T) *scene {
	d, err := mem.NewNetwork(1).Provider().Open(fabric.Config{Size: 1, Job: "test", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	z := &scene{d: &still{Domain: d}, s: &toy{waiting: map[*Request]bool{}}}
	z.l = New(Config{Domain: z.d, Addrs: [][]byte{d.Addr()}, Log: slog.New(slog.DiscardHandler)})
	z.s.l = z.l
	z.l.Handle(z.s, question, answer)
	t.Cleanup(func() { d.Close(); coarseclock.Drop() })
	if !z.l.Enter() {
		t.Fatal("a new loop has an owner")
	}
	for _, w := range []**Waiter{&z.a, &z.b, &z.c} {
		*w = newWaiter()
		(*w).single, (*w).need = z.s.beginForever(), 1
		(*w).single.waiter = *w
	}
	z.l.oneProc = true
	return z
}

// end ends the request of a waiter.
func (z *scene) end(w *Waiter) {
	r := w.single
	delete(z.s.waiting, r)
	z.s.finish(r)
}

// say notes what a call has answered.
func (z *scene) say(answers ...bool) {
	for _, yes := range answers {
		z.d.note(fmt.Sprint(yes))
	}
}

// took takes the token of a waiter, if there is one.
func (z *scene) took(w *Waiter) {
	select {
	case <-w.ready:
	default:
		z.d.note("no token")
	}
}

// watch waits for a condition, for which nobody is called.
func (z *scene) watch() {
	z.l.Orphan(&z.l.watching, z.l.watcher(z.l.New(), 0, expiry.Expiry{}, atLeast{word: &z.word, want: 1}), nil)
}

// step begins a part of a longer operation.
func (z *scene) step() *Request {
	r := z.l.New()
	r.Kind = forever
	z.l.Step(z.s, r, func(*Request, error) {})
	return r
}

// sleepThread has the thread go to sleep, as it does where nothing happens.
func (z *scene) sleepThread() {
	if next := z.l.tend(); next != untilBell {
		panic("the thread does not go to sleep")
	}
	z.d.log = nil
}

// stick leaves something in a backlog for good.
func (z *scene) stick() {
	z.l.conns[0].ep = noRoom{}
	z.l.conns[0].Enqueue(z.c.single)
	z.d.log = nil
}

// noRoom is an endpoint that accepts nothing.
type noRoom struct{ fabric.Endpoint }

func (noRoom) Send(uint8, uint64, []byte, []byte) error { return fabric.ErrAgain }

// String is all of the states: each waiter's with its token, who polls, who is
// parked, the bell and the thread, and what was asked of the domain.
func (z *scene) String() string {
	var out []string
	name := func(w *Waiter) string { return map[*Waiter]string{z.a: "a", z.b: "b", z.c: "c"}[w] }
	for _, w := range []*Waiter{z.a, z.b, z.c} {
		if w.state != running {
			out = append(out, name(w)+" "+w.state.String())
		}
	}
	for _, w := range []*Waiter{z.a, z.b, z.c} {
		select {
		case t := <-w.ready:
			out = append(out, name(w)+" "+[]string{"returns", "polls"}[t])
		default:
		}
	}
	if z.l.poller != nil {
		out = append(out, "poller "+name(z.l.poller))
	}
	list := ""
	for w := z.l.parked.root.next; w != &z.l.parked.root; w = w.next {
		list += name(w)
	}
	if list != "" {
		out = append(out, "list "+list)
	}
	if z.l.woke {
		out = append(out, "woke")
	}
	out = append(out, "bell "+bellName(z.l.bell), z.thread())
	return strings.Join(append(out, z.d.log...), ", ")
}

// thread is the state of the thread.
func (z *scene) thread() string {
	switch t := z.l.timeout; {
	case z.l.looking && t == again:
		return "roused"
	case z.l.looking:
		return "looking"
	case t == untilBell:
		return "asleep"
	case t > z.l.tick:
		return "pausing"
	}
	return "ticking"
}

// Every row of the table in states.go: what an event makes of a state.
func TestEachEventMovesTheStates(t *testing.T) {
	never := errors.New("there is no bell")
	for _, c := range []struct {
		name   string
		before func(*scene)
		event  func(*scene)
		want   string
	}{
		// Waiters.
		{"a waiter polls where nobody does", nil,
			func(z *scene) { z.l.beginPoll(z.a) }, "a polling, poller a, bell off, ticking"},
		{"a new waiter polls instead of another", func(z *scene) { z.l.beginPoll(z.a) },
			func(z *scene) { z.l.beginPoll(z.b) }, "b polling, poller b, bell off, ticking"},
		{"a new waiter polls instead of one that was handed polling", func(z *scene) { z.l.park(z.a); z.l.handOver() },
			func(z *scene) { z.l.beginPoll(z.b) }, "b polling, a polls, poller b, bell off, ticking"},
		{"a waiter that was handed polling polls", func(z *scene) { z.l.park(z.a); z.l.handOver(); z.took(z.a) },
			func(z *scene) { z.l.beginPoll(z.a) }, "a polling, poller a, bell off, ticking"},
		{"a waiter stops polling", func(z *scene) { z.l.beginPoll(z.a) },
			func(z *scene) { z.l.endPoll(z.a) }, "bell off, ticking"},
		{"waiters park in order", nil,
			func(z *scene) { z.l.park(z.b); z.l.park(z.a) }, "a parked, b parked, list ba, bell off, ticking"},
		{"a wait that begins polls instead of another, where one processor runs all goroutines", func(z *scene) { z.l.beginPoll(z.a) },
			func(z *scene) { z.say(z.l.pollsNext(z.b, true), z.l.pollsNext(z.b, false)) }, "a polling, poller a, bell off, ticking, true, false"},
		{"no other waiter polls where several processors do", func(z *scene) { z.l.oneProc = false; z.l.beginPoll(z.a) },
			func(z *scene) { z.say(z.l.pollsNext(z.b, true), z.l.pollsNext(z.a, true)) }, "a polling, poller a, bell off, ticking, false, true"},
		{"the oldest is handed polling", func(z *scene) { z.l.park(z.b); z.l.park(z.a) },
			func(z *scene) { z.l.handOver() }, "a parked, b polling, b polls, poller b, list a, bell off, ticking"},

		{"an owner that leaves hands polling over", func(z *scene) { z.l.park(z.a); z.l.park(z.b) },
			func(z *scene) { z.l.Leave() }, "a polling, b parked, a polls, poller a, list b, bell off, ticking"},
		{"nobody is to poll where the bell announces all", func(z *scene) { z.l.lastLook(fabric.WakeAll); z.d.log = nil; z.l.park(z.a) },
			func(z *scene) { z.l.Leave() }, "a parked, list a, bell all, ticking"},
		{"a bell for urgent packets is not enough for a waiter", func(z *scene) { z.sleepThread(); z.l.park(z.a) },
			func(z *scene) { z.l.Leave() }, "a polling, a polls, poller a, bell urgent, asleep"},
		{"nobody is handed polling while another polls", func(z *scene) { z.l.beginPoll(z.b); z.l.park(z.a) },
			func(z *scene) { z.l.Leave() }, "a parked, b polling, poller b, list a, bell off, ticking"},
		{"what was queued late is served and handed over", nil, func(z *scene) {
			z.a.node.sink = z.s
			z.l.queue.push(&z.a.node)
			z.l.letGo()
		}, "a polling, a polls, poller a, bell off, ticking"},

		{"a parked waiter's request ends", func(z *scene) { z.l.beginPoll(z.b); z.l.park(z.a) },
			func(z *scene) { z.end(z.a) }, "b polling, a returns, poller b, woke, bell off, ticking"},
		{"the request ends of a waiter that another polls instead of", func(z *scene) { z.l.beginPoll(z.a); z.l.beginPoll(z.b) },
			func(z *scene) { z.end(z.a) }, "b polling, poller b, woke, bell off, ticking"},
		{"a waiter's request ends in its last look", nil,
			func(z *scene) { z.end(z.a) }, "bell off, ticking"},
		{"the poller's request ends", func(z *scene) { z.l.beginPoll(z.a) },
			func(z *scene) { z.end(z.a) }, "a polling, poller a, bell off, ticking"},
		{"the request ends of a waiter that is handed polling", func(z *scene) { z.l.park(z.a); z.l.handOver() },
			func(z *scene) { z.end(z.a) }, "a polling, a polls, poller a, bell off, ticking"},
		{"one of a waiter's two requests ends", func(z *scene) { z.a.need++; z.l.park(z.a) },
			func(z *scene) { z.end(z.a) }, "a parked, list a, bell off, ticking"},

		{"a waiter that another polls instead of returns if its requests have ended",
			func(z *scene) {
				z.l.park(z.a)
				z.l.handOver()
				z.took(z.a)
				z.l.beginPoll(z.b)
				z.end(z.a)
			},
			func(z *scene) { z.say(z.l.await(z.a)) }, "b polling, poller b, woke, bell off, ticking, true"},

		// The doorbell.
		{"the bell is armed before the last pass", nil,
			func(z *scene) { z.say(z.l.lastLook(fabric.WakeAll)) },
			"bell all, ticking, arm all, poll, true, true"},
		{"the last pass brings something", func(z *scene) { z.d.brings = func() int { return 1 } },
			func(z *scene) { z.say(z.l.lastLook(fabric.WakeUrgent)) },
			"bell urgent, ticking, arm urgent, poll, true, false"},
		{"the bell can't be armed", func(z *scene) { z.d.deny = never },
			func(z *scene) { z.say(z.l.lastLook(fabric.WakeAll)) },
			"bell off, ticking, arm all, false, false"},
		{"a condition that is stored to as the bell is armed ends in the last pass",
			func(z *scene) { z.watch(); z.d.armed = func() { z.word.Store(1) } },
			func(z *scene) { z.say(z.l.lastLook(fabric.WakeAll)) },
			"bell all, ticking, arm all, poll, true, false"},
		{"a node that is queued as the bell is armed is served in the last pass",
			func(z *scene) {
				z.d.armed = func() { z.a.fn = func() { z.d.note("served") }; z.l.queue.push(&z.a.node) }
			},
			func(z *scene) { z.l.lastLook(fabric.WakeAll) },
			"bell all, ticking, arm all, served, poll"},
		{"a wait that spins ends a bell", func(z *scene) { z.sleepThread() },
			func(z *scene) { z.say(z.l.brisk()) }, "bell off, ticking, disarm, wake, true"},
		{"no wait spins while a waiter polls", func(z *scene) { z.l.beginPoll(z.a) },
			func(z *scene) { z.say(z.l.brisk()) }, "a polling, poller a, bell off, ticking, false"},
		{"a test ends a bell for urgent packets", func(z *scene) { z.sleepThread() },
			func(z *scene) { z.l.PollOnce() }, "bell off, ticking, disarm, wake, poll"},
		{"a test leaves a bell for all", func(z *scene) { z.l.park(z.a); z.sleepThread() },
			func(z *scene) { z.l.PollOnce() }, "a parked, list a, bell all, asleep, poll"},
		{"a waiter that polls ends a bell", func(z *scene) { z.sleepThread(); z.a.need = 0 },
			func(z *scene) { z.l.poll(z.a) }, "bell off, ticking, disarm, wake"},

		// The thread.
		{"a thread that nothing keeps sleeps until something urgent", nil,
			func(z *scene) { z.l.tend() }, "bell urgent, asleep, poll, arm urgent, poll"},
		{"a thread that was rung looks first whether the application comes", func(z *scene) { z.sleepThread() },
			func(z *scene) { z.l.tend() }, "bell off, ticking, poll"},
		{"a thread sleeps until anything where a waiter is parked", func(z *scene) { z.l.park(z.a) },
			func(z *scene) { z.l.tend() }, "a parked, list a, bell all, asleep, poll, arm all, poll"},
		{"the same where a condition is waited for", func(z *scene) { z.watch() },
			func(z *scene) { z.l.tend() }, "bell all, asleep, poll, arm all, poll"},
		{"the same where a callback waits", func(z *scene) { z.a.single.waiter = nil; z.l.detach(z.a.single, func(Status, error) {}) },
			func(z *scene) { z.l.tend() }, "bell all, asleep, poll, arm all, poll"},
		{"the same where a step waits", func(z *scene) { z.step() },
			func(z *scene) { z.l.tend() }, "bell all, asleep, poll, arm all, poll"},
		{"a step that has ended keeps no bell", func(z *scene) { z.s.finish(z.step()) },
			func(z *scene) { z.l.tend() }, "bell urgent, asleep, poll, arm urgent, poll"},
		{"a thread ticks where a waiter polls", func(z *scene) { z.l.beginPoll(z.a); z.l.passes++ },
			func(z *scene) { z.l.tend() }, "a polling, poller a, bell off, ticking"},
		{"a thread ticks once more where the application was there", func(z *scene) { z.l.passes++ },
			func(z *scene) { z.l.tend() }, "bell off, ticking"},
		{"a thread does not sleep whose last pass brings something",
			func(z *scene) { z.d.armed = func() { z.d.brings = func() int { return 1 } } },
			func(z *scene) { z.say(z.l.tend() == again) }, "bell urgent, ticking, poll, arm urgent, poll, true"},
		{"a thread does not sleep that was roused in its last pass",
			func(z *scene) { z.d.armed = func() { z.d.brings = func() int { z.l.Rouse(); return 0 } } },
			func(z *scene) { z.say(z.l.tend() == again) }, "bell urgent, ticking, poll, arm urgent, poll, true"},
		{"a thread does not sleep without a bell", func(z *scene) { z.d.deny = never },
			func(z *scene) { z.say(z.l.tend() == z.l.tick) }, "bell off, ticking, poll, arm urgent, true"},
		{"a thread that is not wanted sleeps at once", func(z *scene) { z.l.threaded = false },
			func(z *scene) { z.l.tend() }, "bell off, asleep"},
		{"a waiter polls that was queued while a thread that is not wanted took the ring", func(z *scene) {
			z.l.threaded = false
			z.l.lastLook(fabric.WakeAll)
			z.l.seen, z.d.log = z.l.passes, nil
			z.a.node.sink = z.s
		}, func(z *scene) { z.l.tend(); z.l.queue.push(&z.a.node); z.l.letGo() }, "a polling, a polls, poller a, bell off, asleep"},
		{"a thread pauses where a backlog finds no room, and no waiter polls for it", func(z *scene) { z.stick(); z.l.park(z.a) },
			func(z *scene) { z.l.tend(); z.l.relay() }, "a parked, list a, bell all, pausing, poll, arm all, poll"},
		{"the same without a waiter", func(z *scene) { z.stick() },
			func(z *scene) { z.say(z.l.tend() == roomPause(0, tick)) }, "bell urgent, pausing, poll, arm urgent, poll, true"},
		{"a thread that pauses is roused", func(z *scene) { z.stick(); z.l.tend(); z.d.log = nil },
			func(z *scene) { z.l.Rouse() }, "bell urgent, ticking, wake"},
		{"a thread does not pause that was roused in its last pass",
			func(z *scene) {
				z.stick()
				z.d.armed = func() { z.d.brings = func() int { z.l.Rouse(); return 0 } }
			},
			func(z *scene) { z.say(z.l.tend() == z.l.tick) }, "bell urgent, ticking, poll, arm urgent, poll, true"},
		{"a thread that pauses looks again", func(z *scene) { z.stick(); z.l.park(z.a); z.l.tend(); z.d.log = nil },
			func(z *scene) { z.l.tend() }, "a parked, list a, bell all, pausing, poll, arm all, poll"},
		{"a waiter polls again once there is room", func(z *scene) {
			z.stick()
			z.l.park(z.a)
			z.l.tend()
			z.d.log = nil
			z.d.brings = func() int { return 1 }
		},
			func(z *scene) { z.l.tend(); z.l.relay() }, "a polling, a polls, poller a, bell off, ticking, poll, poll"},
		{"a thread that was rung lets a waiter poll for what comes next",
			func(z *scene) { z.l.park(z.a); z.sleepThread(); z.d.brings = func() int { return 1 } },
			func(z *scene) { z.l.tend(); z.l.relay() }, "a polling, a polls, poller a, bell off, ticking, poll, poll"},
		{"the same where ranks share cores",
			func(z *scene) {
				z.l.oversubscribed = true
				z.l.park(z.a)
				z.sleepThread()
				z.d.brings = func() int { return 1 }
			},
			func(z *scene) { z.l.tend(); z.l.relay() }, "a parked, list a, bell all, asleep, poll, poll, arm all, poll"},
		{"a thread that sleeps is roused", func(z *scene) { z.sleepThread() },
			func(z *scene) { z.l.Rouse() }, "bell urgent, ticking, wake"},
		{"a thread that ticks needs no rousing", nil,
			func(z *scene) { z.l.Rouse() }, "bell off, ticking"},
		{"a thread that looks is roused", func(z *scene) { z.l.looking, z.l.timeout = true, untilBell },
			func(z *scene) { z.l.Rouse() }, "bell off, roused"},
		{"a condition rouses a thread that sleeps", func(z *scene) { z.sleepThread() },
			func(z *scene) { z.watch() }, "bell urgent, ticking, wake"},
		{"a callback rouses a thread that sleeps", func(z *scene) { z.sleepThread(); z.a.single.waiter = nil },
			func(z *scene) { z.l.detach(z.a.single, func(Status, error) {}) }, "bell urgent, ticking, wake"},
		{"a step rouses a thread that sleeps", func(z *scene) { z.sleepThread() },
			func(z *scene) { z.step() }, "bell urgent, ticking, wake"},
		{"a backlog rouses a thread that sleeps", func(z *scene) { z.sleepThread() },
			func(z *scene) { z.l.conns[0].Enqueue(z.a.single) }, "bell urgent, ticking, wake"},
		{"the end of the loop takes the bell away", func(z *scene) { z.l.lastLook(fabric.WakeAll); z.d.log = nil },
			func(z *scene) { z.l.seal() }, "bell off, ticking"},
	} {
		t.Run(c.name, func(t *testing.T) {
			z := newScene(t)
			if c.before != nil {
				c.before(z)
			}
			c.event(z)
			if got := z.String(); got != c.want {
				t.Errorf("the states are\n%s, want\n%s", got, c.want)
			}
		})
	}
}
