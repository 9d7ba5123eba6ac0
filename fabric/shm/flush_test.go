package shm

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// A Flush tells of a NoOp before it that has failed, not of one behind it, and
// once.
func TestTheFailureOfANoOpIsToldByItsFlush(t *testing.T) {
	p := newPair(t)
	needCMA(t, p.n[0])
	n, ep := p.n[0], p.ep[0]
	target, err := p.n[1].d.Register(make([]byte, 4<<20), fabric.RemoteWrite)
	if err != nil {
		t.Fatal(err)
	}
	nowhere := fabric.Remote{Addr: 64, Len: 64, Key: keyVirtual} // the kernel maps nothing there
	small := fabric.Segment{Bytes: make([]byte, 64)}
	large := fabric.Segment{Bytes: make([]byte, 4<<20)}
	for what, bad := range map[string]func() error{
		"Put": func() error { return ep.Put(small, nowhere, fabric.NoOp) },
		"Get": func() error { return ep.Get(small, nowhere, fabric.NoOp) },
	} {
		for _, busy := range []bool{false, true} {
			clear(n.done)
			const put, before, behind, later = 1, 2, 3, 4
			if busy {
				if err := ep.Put(large, target.Remote, put); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(ep.Flush(before), bad(), ep.Flush(behind), ep.Flush(later)); err != nil {
				t.Fatal(err)
			}
			p.until("the Flushes", func() bool {
				_, over := n.done[later]
				_, written := n.done[put]
				if _, early := n.done[before]; busy && early && !written {
					t.Errorf("%s: a Flush ends before the Put that it covers", what)
				}
				return over
			})
			if err := n.done[behind]; !errors.Is(err, fabric.ErrUnsupported) {
				t.Errorf("%s, busy %t: the Flush behind a failed NoOp ends with %v", what, busy, err)
			}
			if n.done[before] != nil || n.done[later] != nil {
				t.Errorf("%s, busy %t: the Flush before it ends with %v, the next with %v", what, busy, n.done[before], n.done[later])
			}
		}
	}
}

// A Flush waits for each of the transfers before it, and for none behind.
func TestAFlushWaitsForAllItsTransfers(t *testing.T) {
	p := newPair(t)
	needCMA(t, p.n[0])
	n, ep := p.n[0], p.ep[0]
	target, err := p.n[1].d.Register(make([]byte, 2*soloBlock), fabric.RemoteWrite)
	if err != nil {
		t.Fatal(err)
	}
	src := fabric.Segment{Bytes: make([]byte, 2*soloBlock)}
	for op := range fabric.Op(3) {
		if err := ep.Put(src, target.Remote, op); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(ep.Flush(3), ep.Put(src, target.Remote, 4)); err != nil {
		t.Fatal(err)
	}
	p.until("all to end", func() bool {
		_, flushed := n.done[3]
		for op := range fabric.Op(3) {
			if _, over := n.done[op]; flushed && !over {
				t.Errorf("the Flush has ended before Put %d", op)
			}
		}
		if _, over := n.done[4]; over && !flushed {
			t.Error("the Flush waits for a Put behind it")
		}
		return len(n.done) == 5
	})
}

// A short Get that a handler begins is done when it has returned: a Flush behind
// it waits.
func TestAFlushInAHandlerWaitsForItsGet(t *testing.T) {
	p := newPair(t)
	needCMA(t, p.n[0])
	theirs := []byte("eight by")
	source, err := p.n[1].d.Register(theirs, fabric.RemoteRead)
	if err != nil {
		t.Fatal(err)
	}
	h := &ordering{node: p.n[0], ep: p.ep[0], source: source.Remote, local: make([]byte, 8)}
	if err := p.ep[1].Send(1, 0, nil, nil); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); len(h.order) < 3; h.d.Poll(h, 64) {
		if time.Now().After(end) {
			t.Fatal("the Flush does not end")
		}
	}
	if !slices.Equal(h.order, []fabric.Op{1, 2, 3}) || string(h.local) != string(theirs) {
		t.Errorf("operations end in the order %v, the Get has read %q", h.order, h.local)
	}
}

// ordering begins a Flush with a message, behind it a Get and a further Flush, and
// notes the order of ends.
type ordering struct {
	*node
	ep     fabric.Endpoint
	source fabric.Remote
	local  []byte
	order  []fabric.Op
}

func (h *ordering) Deliver(fabric.Peer, uint8, uint64, []byte, []byte) {
	if err := h.ep.Flush(1); err != nil {
		h.t.Error(err)
	}
}

func (h *ordering) Complete(op fabric.Op, _ error) {
	h.order = append(h.order, op)
	if op != 1 {
		return
	}
	if err := errors.Join(h.ep.Get(fabric.Segment{Bytes: h.local}, h.source, 2), h.ep.Flush(3)); err != nil {
		h.t.Error(err)
	}
}
