package verbs

import (
	"fmt"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// eager makes ranks lend at the first mail that they find by looking.
func (j *job) eager() *job {
	opener := j.open
	j.open = func(cfg fabric.Config) (*Domain, error) {
		d, err := opener(cfg)
		if err == nil {
			d.lendAfter = 1
		}
		return d, err
	}
	return j
}

func TestConformanceWithLeases(t *testing.T) {
	emulated(t)
	runConformance(t, fakeJob(newFakeNet()).eager())
}

// lending is two ranks on fake devices, of which the second has given the first a
// lease.
func lending(t *testing.T) (ds []*Domain, e, to *endpoint) {
	t.Helper()
	ds, eps := connected(t, fakeJob(newFakeNet()).eager())
	e, to = eps[0].(*endpoint), eps[1].(*endpoint)
	for c := (counter{}); !e.mayWhisper(); ds[0].Poll(nobody{}, 64) {
		if err := e.Send(1, 0, nil, nil); err != nil {
			t.Fatal(err)
		}
		for ds[1].Poll(&c, 64) > 0 {
		}
	}
	return ds, e, to
}

// Quiet mail comes without a completion.
func TestQuietMailTakesNoSlot(t *testing.T) {
	ds, e, to := lending(t)
	n := ds[1].nic.(*fakeNIC)
	slots, c := len(n.srq), counter{}
	for i := range 100 {
		if err := e.Send(1, 0, nil, make([]byte, 8)); err != nil {
			t.Fatal(err)
		}
		if ds[1].Poll(&c, 1); c.n != i+1 {
			t.Fatalf("%d of %d came", c.n, i+1)
		}
		if err := to.Send(1, 0, nil, nil); err != nil { // which brings credit
			t.Fatal(err)
		}
		for ds[0].Poll(nobody{}, 64) > 0 {
		}
	}
	if len(n.srq) < slots || len(n.rcq) > 0 {
		t.Errorf("of %d slots %d are left, and %d completions", slots, len(n.srq), len(n.rcq))
	}
}

// A rank that sleeps gets no quiet mail any more, once the peer has answered,
// and its bell rings for what comes.
func TestASleeperCallsItsLeasesBack(t *testing.T) {
	ds, e, to := lending(t)
	if err := ds[1].Arm(fabric.WakeAll); err != nil {
		t.Fatal(err)
	}
	if e.mayWhisper() || ds[1].leases != 1 || to.lease.state == unleased {
		t.Error("the lease is not called back, or not answered for before the peer has")
	}
	for ds[0].Poll(nobody{}, 64) > 0 {
	}
	if err := ds[1].Wait(patience); err != nil { // the answer rings
		t.Fatal(err)
	}
	for ds[1].Poll(nobody{}, 64) > 0 {
	}
	if ds[1].leases != 0 || to.lease.state != unleased || ds[1].ticker.Stop() {
		t.Error("the answer ends no lease")
	}
	if err := ds[1].Arm(fabric.WakeAll); err != nil {
		t.Fatal(err)
	}
	if err := e.Send(1, 0, nil, nil); err != nil {
		t.Fatal(err)
	}
	rung(t, ds[1])
}

// rung sees to it that the domain's bell has rung.
func rung(t *testing.T, d *Domain) {
	t.Helper()
	start := time.Now()
	if err := d.Wait(patience); err != nil || time.Since(start) > patience/2 {
		t.Fatalf("the bell does not ring: %v", err)
	}
}

// Quiet mail that its sender had begun when the lease was called back is found,
// though the sender does nothing more, and its receiver sleeps.
func TestMailThatCrossesTheCallIsFound(t *testing.T) {
	for _, level := range []fabric.Wake{fabric.WakeUrgent, fabric.WakeAll} {
		t.Run(fmt.Sprint(level), func(t *testing.T) {
			ds, e, _ := lending(t)
			ds[1].Wait(time.Millisecond) // what the connection rings
			ds[0].inPoll = true          // so that it does not go yet
			if err := e.Send(1, 0, nil, nil); err != nil {
				t.Fatal(err)
			}
			ds[0].inPoll = false
			var c counter
			if err := ds[1].Arm(level); err != nil {
				t.Fatal(err)
			}
			for ds[1].Poll(&c, 64) > 0 {
			}
			ds[0].flush()
			for c.n == 0 {
				rung(t, ds[1])
				if ds[1].Poll(&c, 64) == 0 {
					if err := ds[1].Arm(level); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}

// A peer without credit for the call, which it gets by taking messages, is
// called later.
func TestACallThatCanNotBeSentIsSentLater(t *testing.T) {
	ds, e, to := lending(t)
	for to.Send(1, 0, nil, make([]byte, 100)) == nil {
		ds[1].Poll(nobody{}, 64)
	}
	if err := ds[1].Arm(fabric.WakeAll); err != nil {
		t.Fatal(err)
	}
	if !e.mayWhisper() {
		t.Fatal("the call was sent without credit")
	}
	for end := time.Now().Add(patience); e.mayWhisper() || ds[1].leases > 0; {
		for ds[0].Poll(nobody{}, 64) > 0 {
		}
		rung(t, ds[1])
		for ds[1].Poll(nobody{}, 64) > 0 {
		}
		if err := ds[1].Arm(fabric.WakeAll); err != nil {
			t.Fatal(err)
		}
		if time.Now().After(end) {
			t.Fatal("the lease is never called back")
		}
	}
}

// indebted is lending where rank 1 has called its lease back and rank 0 has no
// credit to answer.
func indebted(t *testing.T) ([]*Domain, *endpoint, *endpoint) {
	ds, e, to := lending(t)
	for e.Send(1, 0, nil, make([]byte, 100)) == nil {
		ds[0].Poll(nobody{}, 64)
	}
	if err := ds[1].Arm(fabric.WakeAll); err != nil {
		t.Fatal(err)
	}
	for ds[0].Poll(nobody{}, 64) > 0 {
	}
	return ds, e, to
}

// An answer without credit goes once the caller has looked.
func TestAnAnswerThatCanNotBeSentIsSentLater(t *testing.T) {
	ds, e, to := indebted(t)
	if !e.lease.answering {
		t.Fatal("the answer was sent without credit")
	}
	eventually(t, "the lease is answered for", func() bool {
		ds[1].Poll(nobody{}, 64)
		ds[0].Poll(nobody{}, 64)
		return to.lease.state == unleased
	})
}

// The call wakes a peer that sleeps for the urgent only.
func TestACallWakesThePeer(t *testing.T) {
	ds, _, to := lending(t)
	ds[0].Wait(time.Millisecond) // what the connection rings
	if err := ds[0].Arm(fabric.WakeUrgent); err != nil {
		t.Fatal(err)
	}
	for ds[0].Poll(nobody{}, 64) > 0 {
	}
	if err := ds[1].Arm(fabric.WakeUrgent); err != nil {
		t.Fatal(err)
	}
	rung(t, ds[0])
	for ds[0].Poll(nobody{}, 64) > 0 {
	}
	for to.lease.state != unleased {
		rung(t, ds[1])
		for ds[1].Poll(nobody{}, 64) > 0 {
		}
	}
}

// A lease takes many mails without a sleep between them, and room in the queue.
func TestALeaseIsForWhoSendsMuch(t *testing.T) {
	ds, eps := connected(t, fakeJob(newFakeNet()))
	e, to := eps[0].(*endpoint), eps[1].(*endpoint)
	ds[1].lendAfter = 4
	mail := func(n int) {
		for range n {
			if err := e.Send(1, 0, nil, nil); err != nil {
				t.Fatal(err)
			}
			for c := (counter{}); c.n == 0; ds[0].Poll(nobody{}, 64) {
				ds[1].Poll(&c, 1)
			}
		}
	}
	mail(3)
	if err := ds[1].Arm(fabric.WakeAll); err != nil {
		t.Fatal(err)
	}
	if err := to.Send(1, 0, nil, nil); err != nil { // which brings credit
		t.Fatal(err)
	}
	mail(1)
	to.reserved = queueDepth
	mail(2)
	if e.mayWhisper() {
		t.Error("three mails after a sleep make a lease")
	}
	mail(1)
	if to.lease.state != unleased || ds[1].leases > 0 {
		t.Error("a lease without room to tell of it")
	}
	to.reserved = 0
	if mail(1); !e.mayWhisper() || ds[1].leases != 1 {
		t.Error("the lease does not come once there is room")
	}
}

// A word that holds parts of two leases gives none.
func TestATornLeaseIsNone(t *testing.T) {
	ds, e, _ := lending(t)
	word := ds[0].creditMem[e.lease.at:][:8]
	for i, b := range word {
		if b != 0 {
			if word[i] = 0; e.mayWhisper() {
				t.Errorf("quiet mail without byte %d of the lease", i)
			}
			word[i] = b
		}
	}
	if !e.mayWhisper() {
		t.Error("the whole lease gives none")
	}
}

// More peers than a rank looks after at a time all come to their turn.
func TestLeasesGoRound(t *testing.T) {
	const n, rounds = maxHot + 3, 400
	j := fakeJob(newFakeNet()).eager()
	j.domains(t, n)
	ds := j.ranks
	var eps []fabric.Endpoint
	for i := 1; i < n; i++ {
		ep, err := ds[i].Connect(0, ds[0].Addr())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ds[0].Connect(fabric.Peer(i), ds[i].Addr()); err != nil {
			t.Fatal(err)
		}
		eps = append(eps, ep)
	}
	whispers := make([]int, n-1)
	var c counter
	for r := range rounds {
		for i, ep := range eps {
			for range 4 { // so that the hot change now and then only
				if ep.(*endpoint).up && ep.(*endpoint).mayWhisper() {
					whispers[i]++
				}
				want := c.n + 1
				eventually(t, "the message goes", func() bool {
					err := ep.Send(1, 0, nil, nil)
					for ds[0].Poll(&c, 64)+ds[i+1].Poll(nobody{}, 64) > 0 {
					}
					return err == nil
				})
				eventually(t, "it comes", func() bool { ds[0].Poll(&c, 64); return c.n == want })
			}
		}
		if ds[0].leases > maxHot || len(ds[0].hot) > maxHot {
			t.Fatalf("round %d: %d leases, %d hot", r, ds[0].leases, len(ds[0].hot))
		}
	}
	for i, n := range whispers {
		if n < rounds/4 {
			t.Errorf("rank %d had a lease %d times", i+1, n)
		}
	}
}

// The bell's next ring by itself is near again once a call has been answered.
func TestATickIsShortAfterAnAnswer(t *testing.T) {
	ds, e, to := lending(t)
	for range 6 {
		if err := ds[1].Arm(fabric.WakeAll); err != nil {
			t.Fatal(err)
		}
		if settled(ds); to.lease.state != unleased {
			t.Fatal("the call is not answered")
		}
		for !e.mayWhisper() {
			if err := e.Send(1, 0, nil, nil); err != nil {
				t.Fatal(err)
			}
			settled(ds)
		}
	}
	if ds[1].tick != leaseTick {
		t.Errorf("the next look is after %v", ds[1].tick)
	}
}

// A rank that owes an answer, for want of credit, looks now and then though it
// sleeps: credit wakes nobody.
func TestWhoOwesAnAnswerLooksNowAndThen(t *testing.T) {
	ds, e, to := indebted(t)
	ds[0].Wait(time.Millisecond) // what has rung before
	if err := ds[0].Arm(fabric.WakeAll); err != nil {
		t.Fatal(err)
	}
	for ds[1].Poll(nobody{}, 64) > 0 { // takes all, and writes credit
	}
	rung(t, ds[0])
	for ds[0].Poll(nobody{}, 64)+ds[1].Poll(nobody{}, 64) > 0 {
	}
	if e.lease.answering || ds[0].answers != 0 || to.lease.state != unleased {
		t.Error("the answer does not go")
	}
}
