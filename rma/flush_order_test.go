package rma

import (
	"bytes"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/op"
	"github.com/weft-mpi/weft/progress"
)

// holder keeps the Gets of its domains back, until release.
type holder struct {
	gets    []func() error
	flushes int
	full    bool // there is no room for messages
}

func (h *holder) wrap(d fabric.Domain) fabric.Domain { return heldDomain{d, h} }

// release begins the Gets. For the owner.
func (h *holder) release(t *testing.T) {
	for _, get := range h.gets {
		if err := get(); err != nil {
			t.Error(err)
		}
	}
	h.gets = nil
}

type heldDomain struct {
	fabric.Domain
	h *holder
}

func (d heldDomain) Connect(p fabric.Peer, addr []byte) (fabric.Endpoint, error) {
	ep, err := d.Domain.Connect(p, addr)
	return heldEndpoint{ep, d.h}, err
}

type heldEndpoint struct {
	fabric.Endpoint
	h *holder
}

func (e heldEndpoint) Get(dst fabric.Segment, src fabric.Remote, name fabric.Op) error {
	e.h.gets = append(e.h.gets, func() error { return e.Endpoint.Get(dst, src, name) })
	return nil
}

func (e heldEndpoint) Send(kind uint8, imm uint64, hdr, body []byte) error {
	if e.h.full {
		return fabric.ErrAgain
	}
	return e.Endpoint.Send(kind, imm, hdr, body)
}

func (e heldEndpoint) Flush(name fabric.Op) error {
	e.h.flushes++
	return e.Endpoint.Flush(name)
}

// A flush waits for Gets, and has the fabric confirm Puts meanwhile: of Gets alone there
// is nothing to confirm.
func TestAFlushWaitsForGetsAndAsksForPuts(t *testing.T) {
	for _, c := range []struct {
		name string
		puts int
	}{{"gets", 0}, {"gets and a put", 1}} {
		t.Run(c.name, func(t *testing.T) {
			held := &holder{}
			all := newRigOn(t, 2, byFabric, held.wrap).windows(t, 16, 16)
			w, to := all[0], &all[0].targets[1]
			copy(all[1].Memory(), "the bytes")
			got := [2][]byte{make([]byte, 4), make([]byte, 5)}
			w.do(&Transfer{Old: got[0], Target: 1})
			for range c.puts {
				w.do(&Transfer{Src: []byte("there"), Target: 1, At: 10})
			}
			w.do(&Transfer{Old: got[1], Target: 1, At: 4})
			h := w.wait(t.Context(), "flush", to.alone(), false)
			for range 64 { // what the fabric has confirmed is taken
				if ended, _, err := progress.Test(&h); ended || err != nil {
					t.Fatalf("the flush has ended before the Gets: %v", err)
				}
			}
			w.e.loop.Exclusive(func() {
				if len(held.gets) != 2 || held.flushes != c.puts {
					t.Errorf("%d Gets are under way, and the fabric was asked %d times, want 2 and %d", len(held.gets), held.flushes, c.puts)
				}
				held.release(t)
			})
			if _, err := progress.WaitResult(&h); err != nil {
				t.Error(err)
			}
			if whole := bytes.Join(got[:], nil); string(whole) != "the bytes" {
				t.Errorf("read %q", whole)
			}
			if c.puts > 0 && string(all[1].Memory()[10:15]) != "there" {
				t.Errorf("the target has %q", all[1].Memory())
			}
			if to.touched.Load() || held.flushes != c.puts {
				t.Errorf("after it: touched %t, the fabric was asked %d times", to.touched.Load(), held.flushes)
			}
		})
	}
}

// A flush asks the target when the packets before it have found room, not sooner.
func TestAFlushAsksBehindPacketsThatWaitForRoom(t *testing.T) {
	held := &holder{}
	all := newRigOn(t, 2, byFabric, held.wrap).windows(t, 16, 8)
	w := all[0]
	waits := func(h *progress.Handle, what string) {
		for range 64 {
			if ended, _, err := progress.Test(h); ended || err != nil {
				t.Fatalf("the flush has ended before %s: %v", what, err)
			}
		}
	}
	var h progress.Handle
	all[1].e.loop.Exclusive(func() { // it serves nothing meanwhile
		w.e.loop.Exclusive(func() { held.full = true })
		w.do(&Transfer{Code: op.CodeSum, Kind: op.Int64, Src: []byte{0: 7, 7: 0}, Target: 1})
		h = w.wait(t.Context(), "flush", w.targets[1].alone(), false)
		waits(&h, "there was room")
		w.e.loop.Exclusive(func() { held.full = false })
		waits(&h, "the target has replied")
	})
	if _, err := progress.WaitResult(&h); err != nil || all[1].Memory()[0] != 7 {
		t.Errorf("%v, and the target has %v", err, all[1].Memory())
	}
}

// Small transfers over a fabric and their flushes use what is there.
func TestTransfersAndFlushesAllocateNothing(t *testing.T) {
	w := newRig(t, 2, byFabric).windows(t, 16, 8)[0]
	buf := make([]byte, 8)
	for name, x := range map[string]*Transfer{"put": {Src: buf, Target: 1}, "get": {Old: buf, Target: 1}} {
		if n := testing.AllocsPerRun(1000, func() {
			w.do(x)
			if err := w.flush(noContext, 1, false); err != nil {
				t.Fatal(err)
			}
		}); n > 0.5 {
			t.Errorf("a %s and its flush allocate %v times", name, n)
		}
	}
}
