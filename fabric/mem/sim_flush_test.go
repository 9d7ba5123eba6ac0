package mem_test

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
)

// A Flush of a Sim is carried out behind the operations before it, and tells of
// a NoOp that has failed; a rank that ends a peer is down to it.
func TestASimFlushesAndEnds(t *testing.T) {
	s := mem.NewSim(rand.New(rand.NewPCG(1, 1)), mem.SimConfig{Size: 2, Depth: 4,
		Caps: fabric.Caps{MaxEager: 64, Chunk: 64, Get: true, Put: true, RndvMin: 1, RndvMinMapped: 1}})
	var logs [2]*simLog
	var ds [2]fabric.Domain
	var lines []string
	for i := range ds {
		logs[i] = &simLog{t: t, rank: i, last: make([]uint64, 2), open: map[fabric.Op]int{}, down: make([]bool, 2), lines: &lines}
		d, err := s.Open(s.Config(i))
		if err != nil {
			t.Fatal(err)
		}
		ds[i] = d
	}
	e, err := ds[0].Connect(1, s.Addrs()[1])
	if err != nil {
		t.Fatal(err)
	}
	back, err := ds[1].Connect(0, s.Addrs()[0])
	if err != nil {
		t.Fatal(err)
	}
	target := make([]byte, 8)
	reg, err := ds[1].Register(target, fabric.RemoteWrite)
	if err != nil {
		t.Fatal(err)
	}
	put := func(op fabric.Op) error {
		return e.Put(fabric.Segment{Bytes: []byte("exactly8")}, reg.Remote, op)
	}
	ends := func() []string {
		lines = nil
		for s.Step() {
		}
		for i, d := range ds {
			d.Poll(logs[i], 64)
		}
		return lines
	}
	want := func(got []string, n int) {
		t.Helper()
		if len(got) != n {
			t.Errorf("%d events, want %d: %q", len(got), n, got)
		}
	}
	logs[0].open = map[fabric.Op]int{1: 1, 2: 1, 3: 1, 4: 1, 5: 1}
	if err := errors.Join(put(fabric.NoOp), put(1), e.Flush(2)); err != nil {
		t.Fatal(err)
	}
	if n := len(s.Moves()); n != 2 {
		t.Errorf("%d moves, want those of the Puts: %v", n, s.Moves())
	}
	if want(ends(), 2); string(target) != "exactly8" {
		t.Errorf("the target holds %q", target)
	}
	if err := put(fabric.NoOp); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(ds[1].Deregister(reg), e.Flush(3), back.Send(1, 1, make([]byte, 1), nil)); err != nil {
		t.Fatal(err)
	}
	for _, m := range s.Moves() {
		if m.Kind == mem.MoveTransfer {
			s.Do(m)
			break
		}
	}
	told := &failing{simLog: logs[0]}
	for _, m := range s.Moves() {
		if m.Kind == mem.MoveTransfer {
			s.Do(m)
			break
		}
	}
	ds[0].Poll(told, 1)
	if !errors.Is(told.err, fabric.ErrBadRemote) {
		t.Errorf("the Flush behind a failed NoOp ends with %v", told.err)
	}
	if err := e.Flush(4); err != nil {
		t.Fatal(err)
	}
	if ds[0].End(1, fabric.ErrPeerDown) {
		t.Error("End says that a PeerDown follows")
	}
	// The Flush ends, the message that was on its way is lost, the peer learns.
	want(ends(), 2)
	if !logs[1].down[0] || logs[0].down[1] || len(logs[0].open) != 1 {
		t.Errorf("down to the peer: %t, here: %t; open %v", logs[1].down[0], logs[0].down[1], logs[0].open)
	}
	if err := e.Flush(5); !errors.Is(err, fabric.ErrPeerDown) {
		t.Errorf("Flush to a peer that was ended: %v", err)
	}
	if err := back.Send(1, 1, nil, nil); !errors.Is(err, fabric.ErrPeerDown) {
		t.Errorf("Send of a peer that was ended: %v", err)
	}
}

// failing keeps the last error.
type failing struct {
	*simLog
	err error
}

func (f *failing) Complete(op fabric.Op, err error) {
	f.err = err
	f.simLog.Complete(op, err)
}
