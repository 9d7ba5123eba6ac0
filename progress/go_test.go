package progress

import (
	"log/slog"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
)

// watched tells whether anybody has looked at the domain.
type watched struct {
	fabric.Domain
	looked atomic.Bool
}

func (d *watched) Poll(h fabric.Handler, max int) int {
	d.looked.Store(true)
	return d.Domain.Poll(h, max)
}

// A peer may be quick: its first packet is here before this rank's sinks are.
func TestPacketsThatComeBeforeTheSinksAreKeptForThem(t *testing.T) {
	network := mem.NewNetwork(2)
	var doms [2]fabric.Domain
	addrs := make([][]byte, 2)
	for i := range doms {
		d, err := network.Provider().Open(fabric.Config{Rank: fabric.Peer(i), Size: 2, Job: "test", Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		doms[i], addrs[i] = d, d.Addr()
	}
	engine := func(d fabric.Domain) *toy {
		l := New(Config{Domain: d, Addrs: addrs, Log: slog.New(slog.DiscardHandler)})
		return &toy{l: l, waiting: map[*Request]bool{}}
	}
	quick := engine(doms[0])
	defer quick.l.Close()
	quick.l.Handle(quick, question, answer)
	quick.l.Go()
	r := quick.l.NewShared()
	r.Kind, r.Peer, r.Imm = letter, 1, 7
	h := r.Handle()
	quick.l.Submit(quick, r)

	w := &watched{Domain: doms[1]}
	slow := engine(w)
	defer slow.l.Close()
	for range 1000 {
		runtime.Gosched()
	}
	if w.looked.Load() {
		t.Error("the loop polls before its sinks are registered")
	}
	slow.l.Handle(slow, question, answer)
	slow.l.Go()
	if st, err := Wait(&h); err != nil || st.Bytes != 7 {
		t.Errorf("the request that waits for the slow rank: %+v, %v", st, err)
	}
}

func TestALoopThatNeverWentIsClosed(t *testing.T) {
	d, err := mem.NewNetwork(1).Provider().Open(fabric.Config{Size: 1, Job: "test", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	New(Config{Domain: d, Addrs: [][]byte{d.Addr()}, Log: slog.New(slog.DiscardHandler)}).Close()
}
