package verbs

import (
	"bytes"
	"errors"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

// stall lets nothing arrive any more on rank 0's first rail, and moves a
// segment, of which a stripe is then under way there.
func (v *moving) stall(w *fakeNet, put bool) {
	v.t.Helper()
	r := v.ds[0].peers[1].rails[0]
	w.mu.Lock()
	w.stuck = r.qp.Num
	w.mu.Unlock()
	from, to := v.ends(put)
	copy(from, noise)
	clear(to)
	v.start(put, 0, len(v.its))
	for range 100 {
		v.poll()
	}
	if r.head == r.tail || len(v.m.ends) != 0 {
		v.t.Fatal("nothing is under way on the rail: nothing is proved")
	}
}

// ends are where a transfer's bytes come from and go to.
func (v *moving) ends(put bool) (from, to []byte) {
	if put {
		return v.mine, v.its
	}
	return v.its, v.mine
}

// A path is lost amid a transfer, which goes on over the first one. The peers
// live.
func TestATransferGoesOnWhereItsRailIsLost(t *testing.T) {
	emulated(t)
	for name, lose := range map[string]func(w *fakeNet, here, there *Domain){
		"the port is down": func(w *fakeNet, d, _ *Domain) {
			if len(d.ports) > 0 {
				d.ports[0].hca.(*fakeHCA).report(ibv.Event{Kind: ibv.EventPortDown, Name: "PORT_ERR"})
				return
			}
			d.hca.(*fakeHCA).report(ibv.Event{Kind: ibv.EventQP, QPNum: d.peers[1].rails[0].qp.Num, Name: "QP_REQ_ERR"})
		},
		"a queue pair has failed": func(w *fakeNet, d, _ *Domain) {
			r := d.peers[1].rails[0]
			d.hcaAt(r.port).(*fakeHCA).report(ibv.Event{Kind: ibv.EventQP, QPNum: r.qp.Num, Name: "QP_FATAL"})
		},
		"the peer's queue pair has failed": func(w *fakeNet, _, d *Domain) {
			r := d.peers[0].rails[0]
			d.hcaAt(r.port).(*fakeHCA).report(ibv.Event{Kind: ibv.EventQP, QPNum: r.qp.Num, Name: "QP_FATAL"})
		},
		"no answer": func(w *fakeNet, d, _ *Domain) {
			w.mu.Lock()
			defer w.mu.Unlock()
			q := w.qps[d.peers[1].rails[0].qp.Num]
			q.done(q.waiting[0].SendWR, ibv.RetryExcErr)
			q.waiting = q.waiting[1:]
			q.fail()
		},
	} {
		for _, c := range []struct {
			ports, queues int
			put           bool
		}{{2, 1, false}, {2, 1, true}, {1, 2, false}, {1, 2, true}, {2, 2, false}, {2, 2, true}} {
			w := newFakeNet()
			w.posted = true
			ds, eps := connected(t, railJob(w, c.ports, c.queues))
			v := newMoving(t, ds, eps[0], 1<<16)
			v.stall(w, c.put)
			flush := v.flush()
			lose(w, ds[0], ds[1])
			v.wait()
			from, to := v.ends(c.put)
			if err := v.m.ends[flush]; err != nil || !bytes.Equal(from, to) {
				t.Errorf("%s, %+v: the Flush ended with %v, the bytes are there: %t", name, c, err, bytes.Equal(from, to))
			}
			if v.message(); v.m.ends[0] != nil || !bytes.Equal(from, to) {
				err := v.m.ends[0]
				t.Errorf("%s, %+v: the transfer ended with %v, its bytes are right: %t", name, c, err, bytes.Equal(from, to))
			}
			v.until("the peer's end of the path is destroyed", func() bool { return ds[1].peers[0].rails[0].qp.Handle == 0 })
			v.rested()
			if len(v.m.down) != 0 || ds[0].peers[1].rails[0].qp.Handle != 0 {
				t.Errorf("%s, %+v: PeerDown %v; the queue pair is destroyed: %t", name, c, v.m.down, ds[0].peers[1].rails[0].qp.Handle == 0)
			}
		}
	}
}

// What was to be written over a path that is lost could still land, until the
// peer has destroyed its end: the transfer does not end before.
func TestAWriteOfALostRailWaitsForThePeer(t *testing.T) {
	emulated(t)
	for _, crash := range []bool{false, true} {
		w := newFakeNet()
		ds, eps := connected(t, railJob(w, 1, 2))
		v := newMoving(t, ds, eps[0], 1<<16)
		v.stall(w, true)
		e := ds[0].peers[1]
		ds[0].hca.(*fakeHCA).report(ibv.Event{Kind: ibv.EventQP, QPNum: e.rails[0].qp.Num, Name: "QP_FATAL"})
		for len(e.stranded) == 0 || e.rails[0].qp.Handle != 0 {
			ds[0].Poll(v.m, 64)
		}
		for range 100 {
			if ds[0].Poll(v.m, 64) != 0 && len(ds[0].failovers) > 0 && e.stranded == nil {
				t.Fatal("the stripe goes on before the peer has told that nothing of it can land")
			}
		}
		if len(v.m.ends) != 0 {
			t.Fatal("the transfer has ended before the peer has told that nothing of it can land")
		}
		if ds[0].Poll(v.m, 64) != 0 {
			t.Error("a rank that waits for its peer does not sleep")
		}
		if !crash {
			v.wait()
			if err := v.m.ends[0]; err != nil || !bytes.Equal(v.mine, v.its) {
				t.Errorf("the transfer ended with %v, its bytes are right: %t", err, bytes.Equal(v.mine, v.its))
			}
			v.rested()
			continue
		}
		if err := ds[1].crash(); err != nil {
			t.Fatal(err)
		}
		v.m.untilDown(t, ds[0])
		if err := v.m.ends[0]; !errors.Is(err, fabric.ErrPeerDown) {
			t.Errorf("the transfer ended with %v, want the peer's end", err)
		}
		if d := ds[0]; d.outstanding != 0 || len(d.freeTransfers) != len(d.transfers) {
			t.Errorf("left over: %d work requests, %d transfers", d.outstanding, len(d.transfers)-len(d.freeTransfers))
		}
	}
}

// Many transfers at once lose a path: more stripes go on over the first queue
// pair than it takes at once.
func TestManyTransfersGoOnAtOnce(t *testing.T) {
	emulated(t)
	w := newFakeNet()
	ds, eps := connected(t, railJob(w, 1, 4))
	const each, count = 32768, 60
	v := newMoving(t, ds, eps[0], each*count)
	for i := range v.its {
		v.its[i] = noise[i%len(noise)] + byte(i>>16)
	}
	w.mu.Lock()
	w.silent = true
	w.mu.Unlock()
	for i := range count {
		v.start(false, i*each, each)
	}
	e := ds[0].peers[1]
	for _, r := range e.rails {
		ds[0].hca.(*fakeHCA).report(ibv.Event{Kind: ibv.EventQP, QPNum: r.qp.Num, Name: "QP_FATAL"})
	}
	v.until("more stripes are kept than have room", func() bool { return len(e.stranded) > 0 && !e.room(1) })
	w.mu.Lock()
	w.silent = false
	w.mu.Unlock()
	v.wait()
	for op, err := range v.m.ends {
		if err != nil {
			t.Errorf("transfer %d: %v", op, err)
		}
	}
	if !bytes.Equal(v.mine, v.its) {
		t.Error("the bytes differ")
	}
	v.rested()
}

// A peer that names a path which does not exist is ended.
func TestAPathThatDoesNotExistCantBeLost(t *testing.T) {
	emulated(t)
	ds, _ := connected(t, railJob(newFakeNet(), 1, 2))
	ds[1].tellGone(0, 9)
	m := newMourner()
	m.untilDown(t, ds[0])
}
