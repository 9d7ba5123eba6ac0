package comm

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/group"
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/internal/ulfm"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// alone is rank 0 of a job whose other ranks make no calls: the test sends it their
// messages, and the news of their deaths.
type alone struct {
	*Instance
	t *testing.T
}

func aloneOf(t *testing.T, n int) *alone { return &alone{engines(t, n)[0], t} }

const testID = 4242

// comm makes a communicator with the context testID.
func (a *alone) comm(own, remote *group.Map) (c *Comm) {
	a.Loop.Exclusive(func() {
		if !a.P2P.Reserve(testID) || !a.P2P.Open(testID, own, remote) {
			a.t.Fatal("the context is in use")
		}
		size := a.World.Size
		if own != nil {
			size = own.Len()
		}
		c = a.addOwned(&Comm{P2P: a.P2P, ID: testID, Rank: own.Rank(0), Size: size, Ranks: own, Remote: remote, in: a.Instance})
	})
	return c
}

func set(ranks ...int) (s ulfm.Set) {
	for _, r := range ranks {
		s = s.With(r)
	}
	return s
}

// says has another rank send a message of an agreement.
func (a *alone) says(from int, id, number uint32, m ulfm.Message) {
	var sets wire.AgreeSets
	for _, s := range [...]ulfm.Set{m.Value.Failed, m.Value.Acked} {
		for i := range m.Value.Failed.Words() {
			sets = sets.AppendWord(s.Word(i))
		}
	}
	h := wire.MakeAgree(make([]byte, wire.AgreeSize), number, uint8(m.Says), m.Round, m.Value.Flags)
	a.Loop.Exclusive(func() { failing{aborts{in: a.Instance}}.Deliver(fabric.Peer(from), wire.Agree, uint64(id), h, sets) })
}

// turn has rank 1 do all of its part in an agreement of two.
func (a *alone) turn(id, number uint32, flags uint64) {
	a.says(1, id, number, ulfm.Message{Says: ulfm.Tell, Value: ulfm.Value{Flags: flags}})
	a.says(1, id, number, ulfm.Message{Says: ulfm.Know})
}

// revokes has another rank tell of a revocation.
func (a *alone) revokes(from int, id uint32) {
	a.Loop.Exclusive(func() { failing{aborts{in: a.Instance}}.Deliver(fabric.Peer(from), wire.Revoke, uint64(id), nil, nil) })
}

// dies tells of another rank's death, or of its end for another reason.
func (a *alone) dies(rank int, why error) {
	p := fabric.Peer(rank)
	a.Loop.Exclusive(func() {
		failing{aborts{in: a.Instance}}.PeerDown(p, &fabric.Error{Op: "receive", Peer: p, HasPeer: true, Err: why})
	})
}

// has checks what a request has come to.
func (a *alone) has(what string, h progress.Handle, ended bool, err error) {
	a.t.Helper()
	got, _, e := progress.Peek(h)
	if got != ended || !errors.Is(e, err) {
		a.t.Errorf("%s: ended %t with %v, want %t, %v", what, got, e, ended, err)
	}
}

// knows checks which ranks have failed.
func (a *alone) knows(c *Comm, want ...int) {
	a.t.Helper()
	if ranks, _ := c.Failed(); !slices.Equal(ranks, want) {
		a.t.Errorf("ranks %v have failed, want %v", ranks, want)
	}
}

// ends makes progress until the request has completed.
func (a *alone) ends(h *progress.Handle) (err error) {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(a.t.Context(), patience)
	defer cancel()
	for ended := false; !ended; runtime.Gosched() {
		if ended, _, err = progress.Test(h); ctx.Err() != nil {
			a.t.Fatal("a request does not complete")
		}
	}
	return err
}

// Agreements of a communicator follow one another, however many calls there are.
func TestAgreementsFollowOneAnother(t *testing.T) {
	a := aloneOf(t, 2)
	c := a.comm(nil, nil)
	var out [2]uint64
	first := c.Iagree(t.Context(), 7, func(flags uint64) { out[0] = flags })
	second := c.Iagree(t.Context(), 12, func(flags uint64) { out[1] = flags })
	a.Loop.Exclusive(func() {
		if f := a.failuresOf(c); f.number != 1 || len(f.calls) != 2 {
			t.Errorf("agreement %d has begun, of %d calls", f.number, len(f.calls))
		}
	})
	a.turn(testID, 1, 5)
	a.has("the first call", first, true, nil)
	a.has("the second call", second, false, nil)
	a.turn(testID, 2, 10)
	a.has("the second call", second, true, nil)
	if out != [2]uint64{5, 8} {
		t.Errorf("the calls give %d", out)
	}
	a.knows(c)
}

// A rank may be ahead by an agreement: what it says waits until this rank begins that one,
// also while the one before is under way here. One that is further ahead lies.
func TestAgreementsTakeWhatComesEarly(t *testing.T) {
	a := aloneOf(t, 3)
	c := a.comm(nil, nil)
	tell := func(from int, number uint32, round uint8) {
		a.says(from, testID, number, ulfm.Message{Says: ulfm.Tell, Round: round, Value: ulfm.Value{Flags: 3}})
	}
	know := func(from int, number uint32, round uint8) {
		a.says(from, testID, number, ulfm.Message{Says: ulfm.Know, Round: round})
	}
	tell(2, 1, 0) // before this rank's call
	a.knows(c)
	first := c.Iagree(t.Context(), 1, func(uint64) {})
	second := c.Iagree(t.Context(), 2, func(uint64) {})
	tell(1, 1, 1)
	know(1, 1, 1)
	tell(1, 2, 1) // before what ends the first agreement
	a.has("the first call", first, false, nil)
	know(2, 1, 0)
	a.has("the first call", first, true, nil)
	tell(2, 2, 0)
	know(2, 2, 0)
	know(1, 2, 1)
	a.has("the second call", second, true, nil)
	a.knows(c)
	a.Loop.Exclusive(func() {
		for number, may := range map[uint32]bool{0: true, 1: true, 2: true, 3: true, 4: false, 1 << 30: false} {
			if got := a.failuresOf(c).take(1, early{number: number, m: ulfm.Message{Says: ulfm.Know}}); got != may {
				t.Errorf("behind agreement 2 a message for number %d is taken: %t", number, got)
			}
		}
		if a.failuresOf(c).take(1, early{number: 2, m: ulfm.Message{Value: ulfm.Value{Failed: set(3)}}}) {
			t.Error("a message is taken that tells of a rank which there is not")
		}
	})
}

// The news of a death reaches the agreement that is under way, and those before and behind
// it.
func TestNewsOfADeathReachesAllAgreements(t *testing.T) {
	for _, when := range []string{"in it", "before the call", "before the first message"} {
		t.Run(when, func(t *testing.T) {
			a := aloneOf(t, 2)
			c := a.comm(nil, nil)
			begin := func() progress.Handle { return c.Iagree(t.Context(), 1, func(uint64) {}) }
			var h progress.Handle
			switch when {
			case "in it":
				h = begin()
				a.dies(1, fabric.ErrPeerDown)
			case "before the call":
				a.says(1, testID, 1, ulfm.Message{Says: ulfm.Tell})
				a.knows(c)
				a.dies(1, fabric.ErrPeerDown)
				h = begin()
			default:
				a.dies(1, fabric.ErrPeerDown)
				h = begin()
			}
			a.knows(c, 1)
			var failed *FailedError
			if ended, _, err := progress.Peek(h); !ended || !errors.As(err, &failed) || !slices.Equal(failed.Ranks, []int{1}) {
				t.Errorf("the agreement: %t, %v", ended, err)
			}
		})
	}
}

// An agreement has an error unless all ranks have acknowledged each that has failed.
func TestAgreementsTellWhatIsNotAcknowledged(t *testing.T) {
	for _, mine := range []int{0, 1} {
		for _, theirs := range []ulfm.Set{set(), set(2)} {
			a := aloneOf(t, 3)
			c := a.comm(nil, nil)
			a.dies(2, fabric.ErrPeerDown)
			c.AckFailed(mine)
			h := c.Iagree(t.Context(), 1, func(uint64) {})
			a.says(1, testID, 1, ulfm.Message{Says: ulfm.Ask, Value: ulfm.Value{Failed: set(2), Acked: theirs}})
			a.says(1, testID, 1, ulfm.Message{Says: ulfm.Accept})
			ended, _, err := progress.Peek(h)
			if well := mine == 1 && !theirs.Empty(); !ended || (err == nil) != well {
				t.Errorf("this rank has acknowledged %d, the other %t: %t, %v", mine, !theirs.Empty(), ended, err)
			}
		}
	}
}

// A rank that hears of a death from another's message only goes on with the news. A rank
// that has left and is then said to have died has failed once.
func TestNewsOfADeathComesOnce(t *testing.T) {
	a := aloneOf(t, 4)
	c := a.comm(nil, nil)
	h := c.Iagree(t.Context(), 1, func(uint64) {})
	a.says(1, testID, 1, ulfm.Message{Says: ulfm.Ask, Value: ulfm.Value{Failed: set(2)}})
	a.knows(c, 2)
	a.dies(3, fabric.ErrPeerLeft)
	a.dies(3, fabric.ErrPeerDown)
	a.knows(c, 2, 3)
	a.says(1, testID, 1, ulfm.Message{Says: ulfm.Accept})
	var failed *FailedError
	if ended, _, err := progress.Peek(h); !ended || !errors.As(err, &failed) || !slices.Equal(failed.Ranks, []int{2, 3}) {
		t.Errorf("the agreement: %t, %v", ended, err)
	}
}

// What comes for a communicator before it is made here is for it, once. What comes for one
// that is not made in the end is forgotten.
func TestACommunicatorTakesWhatCameBefore(t *testing.T) {
	a := aloneOf(t, 2)
	a.turn(testID, 1, 5)
	a.revokes(1, testID)
	a.revokes(1, testID+2)
	c := a.comm(nil, nil)
	if !c.Revoked() {
		t.Error("the communicator is not revoked")
	}
	h := c.Iagree(t.Context(), 7, func(uint64) {})
	a.has("the agreement", h, true, nil)
	a.Loop.Exclusive(func() {
		a.forgetFailing(testID + 2)
		if a.earlyFailing != 0 || len(a.earlyFailures) != 0 {
			t.Errorf("%d messages are kept, counted %d", len(a.earlyFailures), a.earlyFailing)
		}
	})
	a.knows(c)
}

// A revocation ends what is under way and lets nothing begin, at the rank that makes it and
// at one that hears of it. It is over with the communicator.
func TestARevocationEndsOperations(t *testing.T) {
	for _, own := range []bool{true, false} {
		a := aloneOf(t, 2)
		c := a.comm(nil, nil)
		recv := a.P2P.Irecv(t.Context(), 1, testID, 0, nil)
		call := c.Icollective(t.Context(), coll.Allgather, all(0, 2, 1), &Operands{In: words(1, 1), Out: make([]byte, 16), Elem: 8})
		if own {
			c.Revoke()
		} else {
			a.revokes(1, testID)
		}
		if !c.Revoked() || !c.Over() || c.Gone() {
			t.Errorf("Revoked %t, Over %t, Gone %t", c.Revoked(), c.Over(), c.Gone())
		}
		a.has("a receive", recv, true, ErrRevoked)
		a.has("a collective call", call, true, ErrRevoked)
		later := a.P2P.Irecv(t.Context(), 1, testID, 0, nil)
		a.has("a later receive", later, true, ErrRevoked)
		h := c.Iagree(t.Context(), 7, func(uint64) {})
		a.turn(testID, 1, 5)
		a.has("an agreement", h, true, nil)
		if !c.Free() {
			t.Error("it had been freed")
		}
		a.Loop.Exclusive(func() {
			for _, id := range []uint32{c.ID, c.Library()} {
				if err := a.P2P.Forbidden(id); err != nil {
					t.Errorf("context %d of a freed communicator: %v", id, err)
				}
			}
		})
		a.revokes(1, testID)
		a.knows(c)
	}
}

// Receives from any source are in doubt from the death of a rank that might send the
// message, to the acknowledgement of the last one.
func TestReceivesFromAnySourceAreInDoubt(t *testing.T) {
	for name, remote := range map[string]*group.Map{"a group": nil, "two groups": groupOf(1, 2, 3)} {
		t.Run(name, func(t *testing.T) {
			a := aloneOf(t, 4)
			own := groupOf(0, 1, 2, 3)
			if remote != nil {
				own = groupOf(0)
			}
			c := a.comm(own, remote)
			h := a.P2P.Irecv(t.Context(), pt2pt.AnySource, testID, 0, nil)
			a.dies(3, fabric.ErrPeerLeft)
			a.has("after a rank has left", h, false, nil)
			a.dies(1, fabric.ErrPeerDown)
			a.dies(2, fabric.ErrPeerDown)
			for n := range 4 {
				a.has(fmt.Sprintf("with %d acknowledged", c.AckFailed(n)), h, false, []error{fabric.ErrPeerDown, fabric.ErrPeerDown, fabric.ErrPeerDown, nil}[n])
			}
		})
	}
}

// What a Shrink makes has the ranks that live, in their order. The communicator of a
// meeting that not all have come from is freed.
func TestAShrinkIsOfTheLiving(t *testing.T) {
	a := aloneOf(t, 5)
	c := a.comm(groupOf(4, 0, 2, 3), nil)
	a.Loop.Exclusive(func() {
		f := a.failuresOf(c)
		for _, of := range []struct {
			m    *group.Map
			want []int
		}{{groupOf(4, 0, 2, 3), []int{0, 2}}, {groupOf(3, 2, 0), []int{2, 0}}} {
			var got []int
			left := f.living(of.m, set(0, 3)) // ranks 4 and 3 of the job
			for i := range left.Len() {
				got = append(got, left.World(i))
			}
			if !slices.Equal(got, of.want) {
				t.Fatalf("%v are living", got)
			}
		}
	})

	a = aloneOf(t, 2)
	c = a.comm(nil, nil)
	var made *Comm
	h := c.Ishrink(t.Context(), func(d *Comm) { made = d })
	a.dies(1, fabric.ErrPeerDown)
	if err := a.ends(&h); err != nil || made == nil || made.Size != 1 || made.Rank != 0 || made.Over() {
		t.Fatalf("the shrink: %+v, %v", made, err)
	}
	x := &agreeing{shrink: new(ulfm.Shrink), made: func(d *Comm) {}, got: made}
	x.shrink.Decided(ulfm.Value{})
	again := make(chan struct{})
	a.Loop.Exclusive(func() {
		x.f = a.failuresOf(c)
		x.f.calls = append(x.f.calls, x)
		x.decided(ulfm.Value{Failed: set(1)}) // a rank has not got the communicator
		a.Loop.Behind(func() { close(again) })
	})
	<-again
	a.Loop.Exclusive(func() {
		if !made.Gone() || !a.P2P.Freed(made.ID) {
			t.Error("the communicator that not all have is not freed")
		}
	})
}

// An intercommunicator without remote ranks is none.
func TestAShrinkWithoutRemoteRanksFails(t *testing.T) {
	a := aloneOf(t, 2)
	c := a.comm(groupOf(0), groupOf(1))
	h := c.Ishrink(t.Context(), func(*Comm) { t.Error("it has made a communicator") })
	a.dies(1, fabric.ErrPeerDown)
	if err := a.ends(&h); !errors.Is(err, ErrNoRemote) {
		t.Errorf("the shrink: %v", err)
	}
}

// A rank that may ask later has its reply from a communicator that has been freed; but not
// for ever.
func TestAFreedCommunicatorPassesARevocationOn(t *testing.T) {
	a := aloneOf(t, 4)
	c := a.comm(nil, nil)
	c.Free()
	a.revokes(3, testID)
	a.Loop.Exclusive(func() {
		if f := a.failed[testID]; f == nil || f.revocation.Revoke() {
			t.Error("it has not been revoked here, so others have not heard of it")
		}
	})
}

func TestAFreedCommunicatorHasItsAgreements(t *testing.T) {
	a := aloneOf(t, 2)
	c := a.comm(nil, nil)
	h := c.Iagree(t.Context(), 7, func(uint64) {})
	a.turn(testID, 1, 5)
	a.has("the agreement", h, true, nil)
	c.Free()
	kept := func() (is bool) {
		a.Loop.Exclusive(func() { is = a.failed[testID] != nil && a.failed[testID].current != nil })
		return is
	}
	if !kept() {
		t.Error("the agreement is forgotten")
	}
	a.revokes(1, testID)
	a.Loop.Exclusive(func() {
		if err := a.P2P.Forbidden(testID); err != nil {
			t.Errorf("its context: %v", err)
		}
		for id := range uint32(restingFailures) {
			d := &Comm{P2P: a.P2P, ID: 2 * (id + testID), Size: 2, in: a.Instance}
			a.failuresOf(d)
			a.restFailures(d)
		}
		if n := len(a.resting); n != restingFailures {
			t.Errorf("failures of %d freed communicators are kept", n)
		}
	})
	if kept() {
		t.Error("the agreement is kept for ever")
	}
}
