package verbs

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

// inOrder checks that numbered messages come in their order.
type inOrder struct {
	nobody
	t    *testing.T
	next uint64
	down []error
}

func (o *inOrder) Deliver(_ fabric.Peer, _ uint8, imm uint64, hdr, body []byte) {
	if o.next++; imm != o.next {
		o.t.Fatalf("message %d came as number %d", imm, o.next)
	}
	if len(hdr) != int(imm%5) || len(body) > 0 && body[len(body)-1] != byte(imm) {
		o.t.Errorf("message %d came with %d bytes of header and the body % x", imm, len(hdr), body)
	}
}

func (o *inOrder) PeerDown(_ fabric.Peer, err error) { o.down = append(o.down, err) }

// Whatever two ranks do, and in whatever order: all comes once and in order.
func TestOrderUnderAnySchedule(t *testing.T) {
	emulated(t)
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { anySchedule(t, rand.New(rand.NewPCG(seed, 2))) })
	}
}

func anySchedule(t *testing.T, rng *rand.Rand) {
	ds, eps := connected(t, fakeJob(newFakeNet()))
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
			i, err := sent[k], error(nil)
			d.inPoll = rng.IntN(8) == 0 // it goes later
			if rng.IntN(12) == 0 {
				err = e.Put(src[k], dst[1-k], 1)
			} else {
				i++
				body := bytes.Repeat([]byte{byte(i)}, []int{0, 1, 8, 31, 300, maxEager}[rng.IntN(6)])
				err = e.Send(1, i, make([]byte, i%5), body)
			}
			if d.inPoll = false; err == nil {
				sent[k] = i
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
	}
	for range 1000 {
		ds[0].Poll(o[0], 64)
		ds[1].Poll(o[1], 64)
	}
	if o[0].next != sent[1] || o[1].next != sent[0] || len(o[0].down)+len(o[1].down) > 0 {
		t.Errorf("of %d and %d messages %d and %d came; the ends %v and %v", sent[1], sent[0], o[0].next, o[1].next, o[0].down, o[1].down)
	}
}

// No rank writes with immediate data: its sender has broken the protocol.
func TestImmediateDataEndsThePeer(t *testing.T) {
	emulated(t)
	ds, eps := connected(t, fakeJob(newFakeNet()))
	e := eps[0].(*endpoint)
	s := ds[0].next()
	s.Opcode = ibv.RDMAWriteWithImm
	e.submit(s, entry{slot: -1})
	m := newMourner()
	m.untilDown(t, ds[1])
	if err := eps[1].(*endpoint).down; !errors.Is(err, fabric.ErrPeerDown) || m.heard != 0 {
		t.Errorf("%d messages, then %v", m.heard, err)
	}
}
