package verbs

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// amid is a transfer that has come halfway and goes on when its devices are let.
// One of its two ranks is here; what it does there with the transfer is tested.
type amid struct {
	*moving
	w           *fakeNet
	here, there *Domain
	begun       bool          // here, or there
	memory      []byte        // of the transfer, here
	region      fabric.Region // of that
}

// eachAmid runs a test in the middle of a transfer: a READ and a WRITE of either
// side's, over one queue pair, and over several of several ports.
func eachAmid(t *testing.T, test func(*testing.T, *amid)) {
	emulated(t)
	for _, c := range []struct{ ports, queues int }{{1, 1}, {2, 2}} {
		for first, whose := range []string{"ours", "the peer's"} {
			for _, put := range []bool{false, true} {
				t.Run(fmt.Sprintf("%d ports of %d/%s/put %t", c.ports, c.queues, whose, put), func(t *testing.T) {
					t.Parallel() // Close may wait for closeTime
					w := newFakeNet()
					ds, eps := connected(t, railJob(w, c.ports, c.queues))
					v := newMoving(t, []*Domain{ds[first], ds[1-first]}, eps[first], 1<<16)
					a := &amid{moving: v, w: w, here: ds[0], there: ds[1], begun: first == 0}
					if a.memory, a.region = v.its, v.target; a.begun {
						a.memory, a.region = v.mine, v.seg.Region
					}
					a.begin(put)
					test(t, a)
				})
			}
		}
	}
}

// begin brings the transfer halfway.
func (a *amid) begin(put bool) {
	a.t.Helper()
	a.w.set(func(f *faults) { f.halt = true })
	from, to := a.ends(put)
	for i := range from {
		from[i] = byte(i%255) + 1
	}
	clear(to)
	a.start(put, 0, len(from))
	for range 100 {
		a.poll()
	}
	if n := len(to) - bytes.Count(to, []byte{0}); n < len(to)/4 || n > len(to)*3/4 || len(a.m.ends) > 0 {
		a.t.Fatalf("%d of %d bytes have landed, and %v has ended: it is not in its middle", n, len(to), a.m.ends)
	}
}

// hurry lets the time be over that a device has to flush the peer's queue pairs.
func (a *amid) hurry() { a.deviceHas(0) }

// deviceHas sets how long the device has from now on to flush what it has begun.
func (a *amid) deviceHas(d time.Duration) {
	e := a.here.peers[a.there.cfg.Rank]
	e.failBy = time.Now().Add(d)
	for _, r := range e.rails {
		r.lostBy = time.Now().Add(d)
	}
}

// recycle uses the memory for something else and lets the devices go on: nothing
// comes there any more, and what the peer had under way does not go well.
func (a *amid) recycle() {
	a.t.Helper()
	for i := range a.memory {
		a.memory[i] = 0xee
	}
	a.w.set(func(f *faults) { f.halt, f.mute = false, false })
	m := newMourner()
	if !a.begun {
		m = a.m
	}
	m.untilDown(a.t, a.there)
	if err, ok := m.ends[0]; !a.begun && (!ok || err == nil) {
		a.t.Errorf("the peer's transfer has ended: %t, with %v, though the memory has another use", ok, err)
	}
	if n := bytes.Count(a.memory, []byte{0xee}); n != len(a.memory) {
		a.t.Errorf("%d bytes have come to memory that has another use", len(a.memory)-n)
	}
}

// When Close returns every queue pair is destroyed, and then every registration
// has ended, however far a transfer has come.
func TestCloseAmidATransfer(t *testing.T) {
	eachAmid(t, func(t *testing.T, a *amid) {
		for _, n := range a.here.hcas() {
			n.(*fakeHCA).calls = nil
		}
		if err := a.here.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if qps, mrs := a.w.has(a.here); qps+mrs > 0 {
			t.Errorf("%d queue pairs and %d registrations are left", qps, mrs)
		}
		for i, n := range a.here.hcas() {
			calls := n.(*fakeHCA).calls
			last := slices.Index(calls, "deregister")
			if last < 1 || slices.Contains(calls[last:], "destroy") {
				t.Errorf("port %d was told to %s", i+1, calls)
			}
		}
		a.recycle()
	})
}

// guard looks at what a domain's devices have at each end that is reported.
type guard struct {
	*mourner
	t *testing.T
	a *amid
}

func (g *guard) check(what string) {
	if qps, _ := g.a.w.has(g.a.here); qps > 0 {
		g.t.Errorf("%d queue pairs are there at the end of the %s", qps, what)
	}
}

func (g *guard) Complete(op fabric.Op, err error) {
	g.check("operation")
	g.mourner.Complete(op, err)
}

func (g *guard) PeerDown(p fabric.Peer, err error) {
	g.check("peer")
	g.mourner.PeerDown(p, err)
}

// A peer is ended amid a transfer, and the device flushes nothing: neither the
// operation ends nor the peer before all queue pairs to it are destroyed. It is
// these that matter, since the cache keeps registrations.
func TestAnEndAmidATransfer(t *testing.T) {
	eachAmid(t, func(t *testing.T, a *amid) {
		a.w.set(func(f *faults) { f.mute = true })
		if !a.here.End(1, errors.New("it sends nonsense")) {
			t.Fatal("there is nothing to end")
		}
		a.deviceHas(time.Hour)
		g := &guard{newMourner(), t, a}
		for range 10 {
			a.here.Poll(g, 64)
		}
		if len(g.ends) > 0 || a.begun && len(g.down) > 0 {
			t.Error("it ends before the device has had its time")
		}
		a.hurry()
		g.untilEnded(a)
		if err := g.ends[0]; a.begun != errors.Is(err, fabric.ErrPeerDown) {
			t.Errorf("the transfer has ended with %v", err)
		}
		a.recycle()
	})
}

// untilEnded polls until the peer's end is reported.
func (g *guard) untilEnded(a *amid) {
	g.t.Helper()
	eventually(g.t, "the peer's end is reported", func() bool {
		a.here.Poll(g, 64)
		return len(g.down) > 0
	})
}

// Where the device neither stops a queue pair nor destroys it, registrations take
// its place: the cache keeps none any more, so that each ends with its last
// holder, and Close destroys the queue pair.
func TestAQueuePairThatIsNotDestroyed(t *testing.T) {
	eachAmid(t, func(t *testing.T, a *amid) {
		e := a.here.peers[1]
		all := 1 + len(e.rails)
		a.w.cling(e.qp)
		for _, r := range e.rails {
			a.w.cling(r.qp)
		}
		idle := make([]byte, 4096)
		deregister(t, a.here, register(t, a.here, idle, readable))
		_, before := a.w.has(a.here)
		a.w.set(func(f *faults) { f.mute = true })
		a.here.End(1, errors.New("it sends nonsense"))
		a.hurry()
		m := newMourner()
		m.untilDown(t, a.here)
		qps, mrs := a.w.has(a.here)
		if qps != all || mrs != before-len(a.here.hcas()) {
			t.Errorf("%d of %d queue pairs are left, and %d registrations of %d", qps, all, mrs, before)
		}
		for _, g := range []fabric.Region{a.region, register(t, a.here, idle, readable)} {
			_, with := a.w.has(a.here)
			deregister(t, a.here, g)
			if _, without := a.w.has(a.here); without != with-len(a.here.hcas()) {
				t.Errorf("of a registration of %d bytes that has ended %d of %d are left", g.Len, len(a.here.hcas())-(with-without), len(a.here.hcas()))
			}
		}
		if !a.begun {
			a.recycle() // the device still serves the queue pair
		}
		if err := a.here.Close(); err != nil {
			t.Errorf("Close, which destroys what is left: %v", err)
		}
		if qps, mrs := a.w.has(a.here); qps+mrs > 0 {
			t.Errorf("%d queue pairs and %d registrations are left", qps, mrs)
		}
	})
}
