package shm

import (
	"bytes"
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

// trio is rank 0, connected to two peers.
type trio struct {
	t   testing.TB
	n   [3]*node
	to  [3]fabric.Endpoint // from rank 0
	src []byte             // of the peers; both in this process
	reg fabric.Region
}

func newTrio(t testing.TB, bytes int) *trio {
	t.Helper()
	x := &trio{t: t, src: make([]byte, bytes)}
	ds := openJob(t, 3)
	for i, d := range ds {
		x.n[i] = newNode(t, d)
	}
	for i := 1; i < 3; i++ {
		var err error
		if x.to[i], err = ds[0].Connect(fabric.Peer(i), ds[i].Addr()); err != nil {
			t.Fatal(err)
		}
		waitFor(t, "a connection", func() bool {
			x.n[0].d.Poll(x.n[0], 64)
			return x.to[i].Send(1, 0, nil, nil) == nil
		})
		waitFor(t, "a message", func() bool { x.n[i].d.Poll(x.n[i], 64); return len(x.n[i].got) > 0 })
	}
	needCMA(t, x.n[0])
	for i := range x.src {
		x.src[i] = byte(i % 251)
	}
	var err error
	if x.reg, err = ds[1].Register(x.src, fabric.RemoteRead|fabric.RemoteWrite); err != nil {
		t.Fatal(err)
	}
	return x
}

// mustEnd polls rank 0, which is to have work until the operation has ended.
func (x *trio) mustEnd(op fabric.Op) {
	x.t.Helper()
	for range 10_000 {
		if err, over := x.n[0].done[op]; over {
			if err != nil {
				x.t.Errorf("operation %d: %v", op, err)
			}
			return
		}
		if x.n[0].d.Poll(x.n[0], 64) == 0 {
			x.t.Fatalf("Poll finds nothing to do, but operation %d has not ended", op)
		}
	}
	x.t.Fatalf("operation %d is held up", op)
}

func (x *trio) get(peer int, op fabric.Op, n int) []byte {
	x.t.Helper()
	dst := make([]byte, n)
	if err := x.to[peer].Get(fabric.Segment{Bytes: dst}, x.reg.Remote, op); err != nil {
		x.t.Fatal(err)
	}
	return dst
}

func TestAHelperThatStopsHoldsUpItsOwnTransfersOnly(t *testing.T) {
	const n = 4 * minBlock
	x := newTrio(t, n)
	tx := &x.to[1].(*endpoint).tx
	for op := range fabric.Op(lead + 1) {
		x.get(1, op+1, n)
	}
	for _, j := range x.n[0].d.jobs {
		j.start()
		atomic.StoreUint64(slotWord(tx.mem, j.coop, coopClaims), uint64(j.blocks)) // and never copied
	}
	dst := x.get(2, 99, n)
	x.mustEnd(99)
	if !bytes.Equal(dst, x.src) {
		t.Error("the bytes differ")
	}
	for op := range fabric.Op(lead + 1) {
		if _, over := x.n[0].done[op+1]; over {
			t.Errorf("transfer %d has ended without its helper", op+1)
		}
	}
}

func TestWhoEndsAPeerEndsItsHelp(t *testing.T) {
	p, j, _ := asked(t)
	helper := p.n[1].d
	p.until("the request", func() bool { return len(helper.helps) > 0 })
	helper.corrupt(helper.peers[0].rx, 0)
	if len(helper.helps) > 0 {
		t.Error("it goes on helping")
	}
	if atomic.LoadUint64(slotWord(j.e.tx.mem, j.coop, coopAnswer))&coopAnswered == 0 {
		t.Error("the peer waits for its helper for ever")
	}
}

func TestASlotIsHelpedOnce(t *testing.T) {
	p, j, _ := asked(t)
	for range 10 {
		e, slot := j.e, j.coop
		e.coop.busy, e.coop.gets = 0, 0
		if e.askHelp(j); j.coop != slot {
			t.Fatalf("the request is for slot %d, want %d", j.coop, slot)
		}
	}
	p.n[1].d.Poll(p.n[1], 64)
	if n := len(p.n[1].d.helps); n != 1 {
		t.Errorf("%d helps for one slot", n)
	}
}

func TestAPeerThatIsEndedWritesNoMore(t *testing.T) {
	p, j, src := asked(t)
	reader := p.n[0]
	reader.d.corrupt(reader.d.peers[1].rx, 0)
	for range 100 {
		p.n[1].d.Poll(p.n[1], 64)
	}
	if !bytes.Equal(j.local, make([]byte, len(src))) {
		t.Error("the helper wrote into a buffer that was given back")
	}
	reader.d.Poll(reader, 64)
	if err, over := reader.done[1]; !over || err == nil {
		t.Errorf("the Get has ended: %t, %v", over, err)
	}
}
