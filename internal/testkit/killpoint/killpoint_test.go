package killpoint

import (
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/testkit/fabrictest"
	"github.com/weft-mpi/weft/internal/testkit/tier"
)

// openAll opens the ranks of a network, wrapped.
func openAll(t testing.TB, net *mem.Network, n int) (ds []fabric.Domain) {
	t.Helper()
	for i := range n {
		d, err := fabric.Open(Provider(net.Provider()), fabric.Config{Rank: fabric.Peer(i), Size: n, Job: t.Name(), Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		ds = append(ds, d)
	}
	return ds
}

func TestAWrappedTransportConforms(t *testing.T) {
	tier.Long(t, "the wrapped one runs the suite in the gate too")
	var net *mem.Network
	fabrictest.Run(t, fabrictest.Harness{
		Open: func(t testing.TB, n int) []fabric.Domain {
			net = mem.NewNetwork(n)
			return openAll(t, net, n)
		},
		Kill:         func(_ testing.TB, p fabric.Peer) { net.Kill(p) },
		ChecksRemote: true, RingsForRoom: true,
	})
}

// said is what two ranks have seen, in its order.
type said []string

func (l *said) Deliver(_ fabric.Peer, kind uint8, _ uint64, _, _ []byte) {
	*l = append(*l, fmt.Sprint("message ", kind))
}
func (l *said) Complete(op fabric.Op, err error) {
	*l = append(*l, fmt.Sprint("complete ", op, " ", err))
}
func (l *said) PeerDown(fabric.Peer, error) {}

// Each point is met once, where its name says: with the events before and after
// it.
func TestPoints(t *testing.T) {
	t.Cleanup(Reset)
	for _, c := range []struct {
		at   Point
		want []string // what had been seen
	}{
		{Point{Sending, 7, 1, 2}, []string{"message 7"}},
		{Point{Sent, 7, 1, 1}, nil},
		{Point{Sent, 0, 1, 3}, []string{"message 7", "message 7"}},
		{Point{Delivering, 7, 0, 2}, []string{"message 7"}},
		{Point{Delivered, 7, 0, 2}, []string{"message 7", "message 7"}},
		{Point{Delivered, 9, 0, 1}, []string{"message 7", "message 7", "message 9"}},
		{Point{Getting, 0, 1, 1}, []string{"message 7", "message 7", "message 9"}},
		{Point{Got, 0, 1, 1}, []string{"message 7", "message 7", "message 9"}},
		{Point{Putting, 0, 1, 1}, []string{"message 7", "message 7", "message 9", "complete 1 <nil>"}},
		{Point{Put, 0, 1, 1}, []string{"message 7", "message 7", "message 9", "complete 1 <nil>"}},
		{Point{Closing, 0, 0, 1}, []string{"message 7", "message 7", "message 9", "complete 1 <nil>", "complete 2 <nil>"}},
	} {
		var l said
		var met []said
		ds := openAll(t, mem.NewNetwork(2), 2)
		ep, err := ds[0].Connect(1, ds[1].Addr())
		if err != nil {
			t.Fatal(err)
		}
		memory, err := ds[1].Register(make([]byte, 8), fabric.RemoteRead|fabric.RemoteWrite)
		if err != nil {
			t.Fatal(err)
		}
		Set(c.at, func() { met = append(met, slices.Clone(l)) })
		try := func(err error) {
			if err != nil {
				t.Errorf("%v: %v", c.at, err)
			}
			for range 3 {
				ds[0].Poll(&l, 8)
				ds[1].Poll(&l, 8)
			}
		}
		seg := fabric.Segment{Bytes: make([]byte, 8)}
		try(ep.Send(7, 0, nil, nil))
		try(ep.Send(7, 0, nil, nil))
		try(ep.Send(9, 0, nil, nil))
		try(ep.Get(seg, memory.Remote, 1))
		try(ep.Put(seg, memory.Remote, 2))
		try(ds[0].Close())
		if len(met) != 1 || !slices.Equal(met[0], c.want) {
			t.Errorf("%v: met with %q, want once, with %q", c.at, met, c.want)
		}
	}
}

func TestWays(t *testing.T) {
	t.Cleanup(func() { Choose(AsEver) })
	plain := openAll(t, mem.NewNetwork(2), 2)[0].Caps()
	for ways, want := range map[Ways][2]bool{AsEver: {plain.Get, plain.PutFirst}, Fragments: {false, plain.PutFirst}, Writes: {plain.Get, true}} {
		Choose(ways)
		ds := openAll(t, mem.NewNetwork(2), 2)
		if c := ds[0].Caps(); c.Get != want[0] || c.PutFirst != want[1] {
			t.Errorf("ways %d: Get %t, PutFirst %t, want %t", ways, c.Get, c.PutFirst, want)
		}
		ep, err := ds[0].Connect(1, ds[1].Addr())
		if err != nil {
			t.Fatal(err)
		}
		memory, _ := ds[1].Register(make([]byte, 8), fabric.RemoteRead)
		err = ep.Get(fabric.Segment{Bytes: make([]byte, 8)}, memory.Remote, 1)
		if (err == fabric.ErrUnsupported) != (ways == Fragments) {
			t.Errorf("ways %d: Get: %v", ways, err)
		}
	}
	if all := Addrs(); len(all) == 0 || all[0] != "mem "+string(openAll(t, mem.NewNetwork(1), 1)[0].Addr()) {
		t.Errorf("the addresses are %q", all)
	}
}

// rich is a transport that has what package transports asks of some.
type rich struct{ fabric.Provider }

func (rich) GetMin(map[string]string) (int, error) { return 5, nil }
func (rich) Weigh() (int, error)                   { return 6, nil }

func (r rich) Open(c fabric.Config) (fabric.Domain, error) {
	d, err := r.Provider.Open(c)
	return &richDomain{Domain: d}, err
}

type richDomain struct {
	fabric.Domain
	min int
}

func (d *richDomain) SetGetMin(n int)       { d.min = n }
func (d *richDomain) Stats(s *fabric.Stats) { s.Transport = "rich" }

func TestWhatATransportHasBesidesIsKept(t *testing.T) {
	p := Provider(rich{mem.NewNetwork(1).Provider()})
	m, ok := p.(measurer)
	if !ok {
		t.Fatal("a Provider that measures does not any more")
	}
	if n, _ := m.GetMin(nil); n != 5 {
		t.Errorf("GetMin is %d", n)
	}
	if _, ok := Provider(mem.NewNetwork(1).Provider()).(measurer); ok {
		t.Error("a Provider measures that did not")
	}
	d, err := p.Open(fabric.Config{Size: 1, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	d.(adopter).SetGetMin(9)
	var s fabric.Stats
	d.Stats(&s)
	if got := d.(*domain).Domain.(*richDomain).min; got != 9 || s.Transport != "rich" {
		t.Errorf("the domain within has %d, and counts of %q", got, s.Transport)
	}
}
