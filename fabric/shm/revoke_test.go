package shm

import (
	"bytes"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// asked is a Get that has asked for help and has moved nothing else.
func asked(t *testing.T) (*pair, *getJob, []byte) {
	t.Helper()
	p := newPair(t)
	needCMA(t, p.n[0])
	src := bytes.Repeat([]byte{7}, 1<<20)
	reg, err := p.n[1].d.Register(src, fabric.RemoteRead)
	if err != nil {
		t.Fatal(err)
	}
	d := p.n[0].d
	if err := p.ep[0].Get(fabric.Segment{Bytes: make([]byte, len(src))}, reg.Remote, 1); err != nil {
		t.Fatal(err)
	}
	j := d.jobs[0]
	if j.start(); j.coop < 0 {
		t.Fatal("nobody is asked for help")
	}
	return p, j, src
}

func TestCloseWaitsForAHelperInTheMiddleOfABlock(t *testing.T) {
	p, j, src := asked(t)
	claims, answer := slotWord(j.e.tx.mem, j.coop, coopClaims), slotWord(j.e.tx.mem, j.coop, coopAnswer)
	atomic.AddUint64(claims, 1) // the helper's
	var answered atomic.Bool
	go func() {
		for atomic.LoadUint64(claims) < 2 { // until the block is wanted back
		}
		answered.Store(true)
		atomic.StoreUint64(answer, 1)
	}()
	before := len(abandoned.buffers)
	j.revoke()
	if !answered.Load() {
		t.Error("the transfer was taken back while the helper wrote")
	}
	if len(abandoned.buffers) != before {
		t.Error("the buffer was given up although the helper had ended")
	}
	for range 100 {
		p.n[1].d.Poll(p.n[1], 64)
	}
	if !bytes.Equal(j.local, make([]byte, len(j.local))) {
		t.Error("the helper wrote after the transfer was taken back")
	}
	runtime.KeepAlive(src)
}

func TestABufferOfAStoppedHelperIsNotUsedAgain(t *testing.T) {
	_, j, src := asked(t)
	atomic.AddUint64(slotWord(j.e.tx.mem, j.coop, coopClaims), 1)
	before := len(abandoned.buffers)
	began := time.Now()
	j.revoke()
	if len(abandoned.buffers) != before+1 {
		t.Errorf("%d buffers kept after %v, want 1", len(abandoned.buffers)-before, time.Since(began))
	}
	runtime.KeepAlive(src)
}
