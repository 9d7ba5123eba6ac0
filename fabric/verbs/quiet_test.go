package verbs

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

// What a peer has sent as quiet mail comes before its end, also where so many
// completions are due that nobody looks for mail.
func TestQuietMailComesBeforeTheEndOfItsSender(t *testing.T) {
	for _, hold := range []int{0, 64} {
		t.Run(fmt.Sprint(hold), func(t *testing.T) { quietMailComesBeforeTheEnd(t, hold) })
	}
}

func quietMailComesBeforeTheEnd(t *testing.T, hold int) {
	ds, e, to := lending(t)
	ds[1].hold = hold
	o := &inOrder{t: t}
	for i := range uint64(mailSlots / 2) {
		if err := e.Send(1, i+1, make([]byte, (i+1)%5), nil); err != nil {
			t.Fatal(err)
		}
		ds[0].Poll(nobody{}, 64)
	}
	to.die(fabric.ErrPeerDown)
	eventually(t, "the peer is down", func() bool { ds[1].Poll(o, 1); return len(o.down) > 0 })
	if o.next != mailSlots/2 || ds[1].leases != 0 || len(ds[1].hot) != 0 {
		t.Errorf("%d of %d came; %d leases are open, %d peers hot", o.next, mailSlots/2, ds[1].leases, len(ds[1].hot))
	}
}

// lendingBoth is two ranks on fake devices that have a lease of each other's.
func lendingBoth(t *testing.T) (ds []*Domain, e [2]*endpoint) {
	t.Helper()
	ds, eps := connected(t, fakeJob(newFakeNet()).eager())
	e = [2]*endpoint{eps[0].(*endpoint), eps[1].(*endpoint)}
	for k := 0; !e[0].mayWhisper() || !e[1].mayWhisper(); k = 1 - k {
		if err := e[k].Send(1, 0, nil, nil); err != nil {
			t.Fatal(err)
		}
		settled(ds)
	}
	return ds, e
}

// settled polls until nothing is left to do.
func settled(ds []*Domain) {
	for ds[0].Poll(nobody{}, 64)+ds[1].Poll(nobody{}, 64) > 0 {
	}
}

// Two calls cross, with quiet mail between one's call and its answer to the
// other's.
func TestQuietMailBetweenACallAndAnAnswerIsTaken(t *testing.T) {
	ds, e := lendingBoth(t)
	var c counter
	arm := func(k int) {
		if err := ds[k].Arm(fabric.WakeAll); err != nil {
			t.Fatal(err)
		}
	}
	arm(0)
	if err := e[0].Send(1, 7, nil, nil); err != nil {
		t.Fatal(err)
	}
	arm(1)                   // it has not seen the other's call
	ds[0].Poll(nobody{}, 64) // answers
	for range 100 {
		ds[1].Poll(&c, 64)
		ds[0].Poll(nobody{}, 64)
	}
	if c.n != 1 || ds[0].leases+ds[1].leases != 0 {
		t.Errorf("%d of 1 came; %d and %d leases are open", c.n, ds[0].leases, ds[1].leases)
	}
}

// A waiter looks for quiet mail however much else has come before.
func TestALingeringPollFindsQuietMail(t *testing.T) {
	ds, e, _ := lending(t)
	var c counter
	*ds[1].Linger() = true
	for range 8 {
		if err := e.Send(1, 0, nil, make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		for ds[1].Poll(&c, 1)+ds[0].Poll(nobody{}, 1) > 0 {
		}
	}
	if c.n = 0; !e.mayWhisper() {
		t.Fatal("the lease is gone")
	}
	if err := e.Send(1, 0, nil, nil); err != nil {
		t.Fatal(err)
	}
	if ds[1].Poll(&c, 1); c.n != 1 {
		t.Errorf("it is not found, in %d looks", ds[1].peeks)
	}
}

// tally counts messages by their sender.
type tally struct {
	nobody
	n [maxHot + 2]int
}

func (f *tally) Deliver(p fabric.Peer, _ uint8, _ uint64, _, _ []byte) { f.n[p]++ }

// Peers whose mail never ends keep neither one another's nor a message of a
// further peer from being taken.
func TestQuietMailStarvesNobody(t *testing.T) {
	const n, rounds = maxHot + 2, 4000
	j := fakeJob(newFakeNet()).eager()
	j.domains(t, n)
	ds := j.ranks
	var there, back [n]*endpoint
	for i := 1; i < n; i++ {
		for k, way := range []*[n]*endpoint{&there, &back} {
			from, to := ds[i*(1-k)], ds[i*k]
			e, err := from.Connect(to.cfg.Rank, to.Addr())
			if err != nil {
				t.Fatal(err)
			}
			way[i] = e.(*endpoint)
		}
		pair := []*Domain{ds[0], ds[i]}
		eventually(t, "they are connected", func() bool { settled(pair); return there[i].up && back[i].up })
		for i <= maxHot && !there[i].mayWhisper() {
			if err := there[i].Send(1, 0, nil, nil); err != nil {
				t.Fatal(err)
			}
			settled(pair)
		}
	}
	for i := 1; i < n; i++ {
		if err := there[i].Send(1, 0, nil, make([]byte, 100*(i/(n-1)))); err != nil {
			t.Fatal(err)
		}
	}
	f, seen := &tally{}, [n]int{}
	for range rounds {
		ds[0].Poll(f, 1)
		for i := 1; i <= maxHot; i++ {
			if f.n[i] == seen[i] {
				continue
			}
			seen[i] = f.n[i]
			for _, e := range []*endpoint{back[i], there[i]} {
				if err := e.Send(1, 0, nil, nil); err != nil {
					t.Fatal(err)
				}
				ds[i].Poll(nobody{}, 64)
			}
		}
	}
	if slices.Min(f.n[1:n-1]) < rounds/n || f.n[n-1] != 1 {
		t.Errorf("so many messages were taken: %v", f.n[1:])
	}
}

// Whatever two ranks do, and in whatever order: all comes once and in order, and
// what is counted is right.
func TestLeasesUnderAnySchedule(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { anySchedule(t, rand.New(rand.NewPCG(seed, 2))) })
	}
}

func anySchedule(t *testing.T, rng *rand.Rand) {
	ds, eps := connected(t, fakeJob(newFakeNet()).eager())
	var (
		o    [2]*inOrder
		sent [2]uint64
		src  [2]fabric.Segment
		dst  [2]fabric.Remote
	)
	for k := range o {
		b, into := make([]byte, 64), make([]byte, 64)
		o[k], src[k] = &inOrder{t: t}, fabric.Segment{Bytes: b, Region: register(t, ds[k], b, fabric.LocalWrite)}
		dst[k] = register(t, ds[k], into, fabric.RemoteWrite).Remote
	}
	for range 5000 {
		k := rng.IntN(2)
		e, d := eps[k].(*endpoint), ds[k]
		switch r := rng.IntN(20); {
		case r < 8:
			i, err := sent[k]+1, error(nil)
			d.inPoll = rng.IntN(8) == 0 // it goes later
			if rng.IntN(12) == 0 {
				err = e.Put(src[k], dst[1-k], uint32(i), 1)
			} else {
				body := bytes.Repeat([]byte{byte(i)}, []int{0, 1, 8, 31, 36, 300}[rng.IntN(6)])
				err = e.Send(1, i, make([]byte, i%5), body)
			}
			if d.inPoll = false; err == nil {
				sent[k]++
			} else if err != fabric.ErrAgain {
				t.Fatal(err)
			}
		case r < 10:
			if err := d.Arm(fabric.Wake(1 + rng.IntN(2))); err != nil {
				t.Fatal(err)
			}
		case r < 12:
			*d.Linger() = rng.IntN(4) == 0
		default:
			d.Poll(o[k], 1+rng.IntN(3))
		}
		for k, d := range ds {
			e := eps[k].(*endpoint)
			if open := e.lease.state != unleased; open != (d.leases == 1) || !open && d.leases != 0 || e.ahead != d.ahead || e.ahead < 0 || len(o[k].down) > 0 {
				t.Fatalf("rank %d: lease %d, %d leases; %d and %d mails ahead; %v", k, e.lease.state, d.leases, e.ahead, d.ahead, o[k].down)
			}
		}
	}
	for range 1000 {
		ds[0].Poll(o[0], 64)
		ds[1].Poll(o[1], 64)
	}
	if o[0].next != sent[1] || o[1].next != sent[0] || ds[0].ahead+ds[1].ahead+ds[0].answers+ds[1].answers != 0 {
		t.Errorf("of %d and %d messages %d and %d came; %d and %d mails are ahead", sent[1], sent[0], o[0].next, o[1].next, ds[0].ahead, ds[1].ahead)
	}
}
