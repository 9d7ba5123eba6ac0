package faulty_test

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/fabric/shm"
	"github.com/weft-mpi/weft/internal/testkit/fabrictest"
	"github.com/weft-mpi/weft/internal/testkit/faulty"
)

// heapOnly shows of shared memory what holds for memory of the heap.
type heapOnly struct{ fabric.Provider }

func (p heapOnly) Open(c fabric.Config) (fabric.Domain, error) {
	d, err := p.Provider.Open(c)
	return heapDomain{d}, err
}

type heapDomain struct{ fabric.Domain }

func (d heapDomain) Caps() fabric.Caps {
	c := d.Domain.Caps()
	c.Atomics = false
	return c
}

func TestAFaultyTransportConforms(t *testing.T) {
	var net *mem.Network
	seed := uint64(0) // of the next job, so that no two are alike
	for _, c := range []struct {
		name string
		make func(n int) func(rank int) fabric.Provider
		kill bool
	}{
		{"mem", func(n int) func(int) fabric.Provider {
			net = mem.NewNetwork(n)
			return func(int) fabric.Provider { return net.Provider() }
		}, true},
		{"mem, seeded, depth 3", func(n int) func(int) fabric.Provider {
			net = mem.NewNetwork(n, mem.WithDepth(3), mem.WithSeed(seed))
			return func(int) fabric.Provider { return net.Provider() }
		}, true},
		{"shm", func(n int) func(int) fabric.Provider {
			return func(int) fabric.Provider { return heapOnly{shm.Provider{}} }
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && c.name == "mem" {
				t.Skip("the seeded one has all of it")
			}
			h := fabrictest.Harness{
				Open: func(t testing.TB, n int) (ds []fabric.Domain) {
					t.Helper()
					seed++
					job := rand.Text()
					of := c.make(n)
					for rank := range n {
						p := faulty.Provider(of(rank), seed, faulty.Some)
						d, err := p.Open(fabric.Config{Rank: fabric.Peer(rank), Size: n, Job: job,
							Log: slog.New(slog.DiscardHandler)})
						if err != nil {
							t.Fatal(err)
						}
						t.Cleanup(func() {
							if err := d.Close(); err != nil && !errors.Is(err, fabric.ErrClosed) {
								t.Errorf("Close: %v", err)
							}
						})
						ds = append(ds, d)
					}
					return ds
				},
				ChecksRemote: c.kill, RingsForRoom: c.kill, Writes: true,
			}
			if c.kill {
				h.Kill = func(_ testing.TB, rank fabric.Peer) { net.Kill(rank) }
			}
			fabrictest.Run(t, h)
		})
	}
}

// trace counts what comes, in its order.
type trace struct{ lines []string }

func (l *trace) Deliver(_ fabric.Peer, kind uint8, _ uint64, _, _ []byte) {
	l.lines = append(l.lines, fmt.Sprint("deliver ", kind))
}
func (l *trace) Complete(op fabric.Op, err error) {
	l.lines = append(l.lines, fmt.Sprint("complete ", op, err))
}
func (l *trace) PeerDown(p fabric.Peer, err error) { l.lines = append(l.lines, fmt.Sprint("down ", p)) }
func (l *trace) add(format string, args ...any) {
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

// run sends some messages and Puts from rank 0 to rank 1.
func run(t *testing.T, seed uint64, f faulty.Faults) *trace {
	net := mem.NewNetwork(2)
	var ds [2]fabric.Domain
	for i := range ds {
		d, err := faulty.Provider(net.Provider(), seed, f).Open(fabric.Config{Rank: fabric.Peer(i), Size: 2, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		ds[i] = d
	}
	ep, err := ds[0].Connect(1, ds[1].Addr())
	if err != nil {
		t.Fatal(err)
	}
	remote, err := ds[1].Register(make([]byte, 8), fabric.RemoteWrite|fabric.RemoteRead)
	if err != nil {
		t.Fatal(err)
	}
	l := &trace{}
	seg := fabric.Segment{Bytes: make([]byte, 8)}
	for i := range 200 {
		l.add("send %v", ep.Send(uint8(i), 0, nil, nil))
		l.add("put %v", ep.Put(seg, remote.Remote, fabric.Op(2*i)))
		l.add("get %v", ep.Get(seg, remote.Remote, fabric.Op(2*i+1)))
		for _, d := range ds {
			l.add("poll %d", d.Poll(l, 8))
		}
	}
	return l
}

func TestFaultsAreTheSeeds(t *testing.T) {
	all := faulty.Faults{Again: 64, Split: 64, Hold: 64, NoGet: 64}
	a, b, c := run(t, 1, all), run(t, 1, all), run(t, 2, all)
	if !slices.Equal(a.lines, b.lines) {
		t.Error("the same seed gives other faults")
	}
	if slices.Equal(a.lines, c.lines) {
		t.Error("another seed gives the same faults")
	}
	count := func(l *trace, line string) (n int) {
		for _, s := range l.lines {
			if s == line {
				n++
			}
		}
		return n
	}
	if n := count(a, "send "+fabric.ErrAgain.Error()); n < 20 || n > 100 {
		t.Errorf("%d of 200 Sends were refused", n)
	}
	if n := count(a, "get "+fabric.ErrUnsupported.Error()); n < 20 || n > 100 {
		t.Errorf("%d of 200 Gets were refused", n)
	}
	if n := count(run(t, 1, faulty.Faults{}), "send <nil>"); n != 200 {
		t.Errorf("without faults %d of 200 Sends were accepted", n)
	}
}
