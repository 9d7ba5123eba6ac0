package verbs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

// inOrder checks that numbered messages come in their order.
type inOrder struct {
	nobody
	t    *testing.T
	next uint64
	down []error
}

func (o *inOrder) Deliver(_ fabric.Peer, _ uint8, imm uint64, hdr, body []byte) {
	o.expect(imm, "message")
	if len(hdr) != int(imm%5) || len(body) > 0 && body[len(body)-1] != byte(imm) {
		o.t.Errorf("message %d came with %d bytes of header and the body % x", imm, len(hdr), body)
	}
}

func (o *inOrder) Notify(_ fabric.Peer, note uint32) { o.expect(uint64(note), "note") }

func (o *inOrder) PeerDown(_ fabric.Peer, err error) { o.down = append(o.down, err) }

func (o *inOrder) expect(i uint64, what string) {
	if o.next++; i != o.next {
		o.t.Fatalf("%s %d came as number %d", what, i, o.next)
	}
}

// Mail, other messages and notes arrive in the order in which they were sent,
// whoever looks when, and whoever sleeps.
func TestMailKeepsTheOrder(t *testing.T) {
	t.Run("few leases", func(t *testing.T) { mailKeepsTheOrder(t, fakeJob(newFakeNet()), 2000) })
	t.Run("many leases", func(t *testing.T) { mailKeepsTheOrder(t, fakeJob(newFakeNet()).eager(), 20) })
}

// The receiver arms its bell now and then.
func mailKeepsTheOrder(t *testing.T, j *job, now int) {
	ds, eps := connected(t, j)
	src, dst := make([]byte, 64), make([]byte, 64)
	s := fabric.Segment{Bytes: src, Region: register(t, ds[0], src, fabric.LocalWrite)}
	r := register(t, ds[1], dst, fabric.RemoteWrite)
	rng := rand.New(rand.NewPCG(1, 2))
	e, o := eps[0].(*endpoint), &inOrder{t: t}
	mailed, whispers := 0, 0
	for i := uint64(1); i <= 20000; {
		was, quiet, err := e.mails, e.mayWhisper(), error(nil)
		switch k := rng.IntN(10); {
		case k == 0:
			err = e.Put(s, r.Remote, uint32(i), 1)
		case k == 1:
			if err = e.Put(s, r.Remote, 0, 1); err == nil {
				continue
			}
		default:
			n := []int{0, 1, 8, 31, 36, 37, 300}[rng.IntN(7)]
			body := make([]byte, n)
			for j := range body {
				body[j] = byte(i)
			}
			err = e.Send(1, i, make([]byte, i%5), body)
		}
		if mailed += int(e.mails - was); quiet {
			whispers += int(e.mails - was)
		}
		if err == nil {
			i++
		} else if err != fabric.ErrAgain {
			t.Fatal(err)
		}
		for ; rng.IntN(2) == 0; ds[0].Poll(nobody{}, 64) {
		}
		if rng.IntN(now) == 0 {
			if err := ds[1].Arm(fabric.WakeAll); err != nil {
				t.Fatal(err)
			}
		}
		for *ds[1].Linger() = rng.IntN(2) == 0; rng.IntN(3) > 0 || err != nil; err = nil {
			ds[1].Poll(o, 1+rng.IntN(3))
			ds[0].Poll(nobody{}, 64)
		}
	}
	for ds[0].Poll(nobody{}, 64)+ds[1].Poll(o, 64) > 0 {
	}
	if o.next != 20000 || mailed < 1000 || whispers < 100 || ds[1].ahead != 0 {
		t.Errorf("%d of 20000 came, %d were sent by mail, %d of them quietly; %d wait for their completion", o.next, mailed, whispers, ds[1].ahead)
	}
	t.Logf("%d mails, %d of them quiet", mailed, whispers)
}

// In a ping-pong the library is called once for a round trip, and now and then
// for many completions.
func TestMailNeedsNoCrossing(t *testing.T) {
	ds, eps := connected(t, fakeJob(newFakeNet()))
	n := ds[0].nic.(*fakeNIC)
	const rounds = 1000
	for i := range rounds + 1 {
		if i == 1 {
			n.crossings = 0
		}
		for k := range eps {
			if err := eps[k].Send(1, 0, nil, make([]byte, 8)); err != nil {
				t.Fatal(err)
			}
			for c := (counter{}); c.n == 0; {
				ds[1-k].Poll(&c, 1)
			}
		}
	}
	if n.crossings > rounds+rounds/8 {
		t.Errorf("%d crossings for %d round trips", n.crossings, rounds)
	}
}

// A place that holds parts of two mails holds none, in whatever order the
// device writes.
func TestTornMailIsNoMail(t *testing.T) {
	ds, eps := connected(t, fakeJob(newFakeNet()))
	from, to := eps[0].(*endpoint), eps[1].(*endpoint)
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range uint64(400) {
		o := &inOrder{t: t, next: i}
		body := make([]byte, rng.IntN(mailMax-4))
		for j := range body {
			body[j] = byte(i + 1)
		}
		ds[0].inPoll = true // so that nothing goes
		from.mail(1, i+1, make([]byte, (i+1)%5), body)
		ds[0].sends--
		s := ds[0].ring.sends[0]
		m := s.own.bytes()
		place := ds[1].creditMem[to.place:][:s.seg[0].length]
		if s.remote != addressOf(place) {
			t.Fatalf("mail %d goes to %#x, and is expected at %#x", i, s.remote, addressOf(place))
		}
		order := rng.Perm(len(place))
		if i%4 < 2 { // upwards, downwards
			for j := range order {
				if order[j] = j; i%4 == 1 {
					order[j] = len(order) - 1 - j
				}
			}
		}
		for j, b := range order {
			if to.open(o) && string(place) != string(m[:len(place)]) {
				t.Fatalf("mail %d was taken with %d of %d bytes", i, j, len(place))
			}
			place[b] = m[b]
		}
		if o.next == i && !to.open(o) {
			t.Fatalf("mail %d was not taken", i)
		}
	}
}

// What follows a Put is seen by its completion, which comes after the Put's
// bytes; a box that is full, or a long message, does without mail too.
func TestNotEverythingGoesByMail(t *testing.T) {
	ds, eps := connected(t, fakeJob(newFakeNet()))
	e, b := eps[0].(*endpoint), make([]byte, 64)
	s := fabric.Segment{Bytes: b, Region: register(t, ds[0], b, fabric.LocalWrite)}
	r := register(t, ds[1], make([]byte, 64), fabric.RemoteWrite)
	send := func(n int) uint64 {
		t.Helper()
		was := e.mails
		if err := e.Send(1, 0, nil, make([]byte, n)); err != nil {
			t.Fatal(err)
		}
		ds[0].Poll(nobody{}, 64)
		return e.mails - was
	}
	ds[0].Poll(nobody{}, 64)
	if send(mailMax) != 1 || send(mailMax+1) != 0 {
		t.Error("the length decides wrongly")
	}
	if err := e.Put(s, r.Remote, 0, 1); err != nil {
		t.Fatal(err)
	}
	if send(8) != 0 || send(8) != 1 {
		t.Error("the first message behind a Put went by mail, or the second did not")
	}
	for range 2 * mailSlots {
		send(8)
	}
	if unread := e.mails - eps[1].(*endpoint).opened; unread != mailSlots {
		t.Errorf("%d mails are in %d places", unread, mailSlots)
	}
}

// A peer that announces mail which is not there has lied.
func TestMailThatCanNotBeEndsThePeer(t *testing.T) {
	for at, v := range map[int]uint64{0: 0, 8: 0xffff_ffff_ffff_ffff} {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			ds, eps := connected(t, fakeJob(newFakeNet()))
			if err := eps[0].Send(1, 1, nil, nil); err != nil {
				t.Fatal(err)
			}
			place := eps[1].(*endpoint).place
			binary.LittleEndian.PutUint64(ds[1].creditMem[place+at:], v)
			o := &inOrder{t: t}
			for range 1000 {
				if ds[1].Poll(o, 64); len(o.down) > 0 {
					break
				}
			}
			if o.next != 0 || len(o.down) != 1 || !errors.Is(o.down[0], fabric.ErrPeerDown) {
				t.Errorf("%d messages came, the peer ended with %v", o.next, o.down)
			}
		})
	}
}
