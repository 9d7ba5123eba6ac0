package verbs

import (
	"bytes"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

// A peer that takes nothing is sent as many SENDs as it has slots for.
func TestASenderStopsAtItsWindow(t *testing.T) {
	emulated(t)
	ds, eps := connected(t, fakeJob(newFakeNet()))
	e := eps[0].(*endpoint)
	taken, before := e.acked, e.sent
	for range 10 * e.window {
		if err := e.Send(1, 0, nil, make([]byte, maxEager)); err != nil && err != fabric.ErrAgain {
			t.Fatal(err)
		}
		ds[0].Poll(nobody{}, 64)
	}
	if e.sent-taken != e.window || before == e.sent {
		t.Errorf("%d SENDs are under way, the window is %d", e.sent-taken, e.window)
	}
}

func TestALieAboutCreditIsNotBelieved(t *testing.T) {
	emulated(t)
	_, eps := connected(t, fakeJob(newFakeNet()))
	e := eps[0].(*endpoint)
	for range 3 {
		if err := e.Send(1, 0, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if e.credited(uint16(e.sent)); e.failing != nil || e.acked != e.sent {
		t.Errorf("all is taken: acked is %d of %d, %v", e.acked, e.sent, e.failing)
	}
	if e.credited(uint16(e.sent + 1)); e.failing == nil {
		t.Error("a message is taken that was not sent")
	}
}

// The parts of a message lie inside of what has come.
func TestAMessageEndsInItsSlot(t *testing.T) {
	const h, b = 8, 100
	m := make([]byte, headerSize+h+b)
	putHeader(m, 1, 2, 3, make([]byte, h), b)
	for n := range len(m) + 1 {
		kind, imm, credit, hdr, body, whole := parse(m[:n])
		if good := n == len(m); (whole > 0) != good || good && (kind != 1 || imm != 2 || credit != 3 || len(hdr) != h || len(body) != b) {
			t.Errorf("of %d bytes there are %d: %d of header, %d of body, %d in all", len(m), n, len(hdr), len(body), whole)
		}
	}
}

// pieces is a job whose device takes so many bytes at once.
func pieces(w *fakeNet, most int) *job {
	return &job{fake: true, open: func(cfg fabric.Config) (*Domain, error) {
		return open(cfg, portInfo{device: "fake0", number: 1, mtu: 5, ethernet: true, reads: 16, answers: 16, maxMessage: most}, "127.0.0.1", ibv.Attr{}, w.open)
	}}
}

// told keeps what is there when a message comes.
type told struct {
	nobody
	its   []byte
	found [][]byte
}

func (m *told) Deliver(fabric.Peer, uint8, uint64, []byte, []byte) {
	m.found = append(m.found, bytes.Clone(m.its))
}

// A message behind a Put that the device takes in pieces comes behind them all.
func TestAMessageComesBehindTheLastPiece(t *testing.T) {
	emulated(t)
	for _, n := range []int{0, 1, 4096, 4097, 3 * 4096} {
		w := newFakeNet()
		w.posted = true
		ds, eps := connected(t, pieces(w, 4096))
		v := newMoving(t, ds, eps[0], 3*4096)
		copy(v.mine, noise)
		seg := v.seg
		seg.Bytes = seg.Bytes[:n]
		if err := v.ep.Put(seg, v.remote, v.op); err != nil {
			t.Fatal(err)
		}
		v.op++
		v.wait()
		if err := v.ep.Send(1, 0, nil, nil); err != nil {
			t.Fatal(err)
		}
		got := &told{its: v.its}
		for range 100 {
			ds[0].Poll(v.m, 64)
			ds[1].Poll(got, 64)
		}
		if len(got.found) != 1 || !bytes.Equal(got.found[0][:n], v.mine[:n]) {
			t.Errorf("%d bytes: %d messages; the bytes are there with the first: %t", n, len(got.found), len(got.found) > 0 && bytes.Equal(got.found[0][:n], v.mine[:n]))
		}
	}
}

// What came before an operation that fails has ended well.
func TestWhatWentWellBeforeAnError(t *testing.T) {
	emulated(t)
	w := newFakeNet()
	ds, eps := connected(t, fakeJob(w))
	v := newMoving(t, ds, eps[0], 64)
	v.quietly(0, 64)
	if e := eps[0].(*endpoint); e.unsignaled == 0 || e.tail == e.head {
		t.Fatal("the NoOp has ended by itself: nothing is proved")
	}
	w.fault = 4
	v.start(true, 0, 64)
	v.wait()
	if err := v.m.ends[0]; err == nil {
		t.Error("the Put behind it has not failed")
	}
	if err := eps[0].(*endpoint).unsaid; err != nil {
		t.Errorf("the NoOp before it is taken to have failed: %v", err)
	}
}
