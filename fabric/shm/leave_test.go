package shm

import (
	"bytes"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// asked is a Get that has asked for help and has moved nothing else.
func asked(t *testing.T) (*pair, *getJob, []byte) {
	t.Helper()
	return askedOf(t, newPair(t))
}

func askedOf(t *testing.T, p *pair) (*pair, *getJob, []byte) {
	t.Helper()
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

// halted is a peer in the middle of a copy into rank 0's memory.
type halted struct {
	name  string
	begin func(t *testing.T, p *pair) (end func())
}

// halts are the ways in which a peer can be there.
var halts = []halted{
	{"a helper in the middle of a block", func(t *testing.T, p *pair) func() {
		_, j, _ := askedOf(t, p)
		mem, slot := j.e.tx.mem, j.coop
		atomic.AddUint64(slotWord(mem, slot, coopClaims), 1)
		return func() {
			atomic.StoreUint64(slotWord(mem, slot, coopAnswer), 1)
			ringBell(uintptr(p.n[0].d.bellFD)) // as an armed rank's helper does
		}
	}},
	{"a peer in the middle of a Put", func(t *testing.T, p *pair) func() {
		e := p.ep[1].(*endpoint)
		if !mayWrite(e.tx.mem, e.info) {
			t.Fatal("it may not write to a rank that has not left")
		}
		tx, info := e.tx.mem, e.info
		return func() { wrote(tx, info) }
	}},
	{"a peer whose goroutines are in the middle of two Writes, one of which ends", func(t *testing.T, p *pair) func() {
		e := p.ep[1].(*endpoint)
		tx, info := e.tx.mem, e.info
		for range 2 {
			if !mayWrite(tx, info) {
				t.Fatal("they may not write to a rank that has not left")
			}
		}
		wrote(tx, info)
		return func() { wrote(tx, info) }
	}},
}

// logged is a pair whose rank 0 writes a log.
func logged(t *testing.T, log *records) *pair {
	t.Helper()
	return connected(t,
		openOne(t, fabric.Config{Rank: 0, Size: 2, Job: t.Name(), Log: slog.New(slog.NewTextHandler(log, nil))}),
		openOne(t, fabric.Config{Rank: 1, Size: 2, Job: t.Name(), Log: slog.New(slog.DiscardHandler)}))
}

func TestCloseWaitsForAPeerInTheMiddleOfACopyAndSaysSo(t *testing.T) {
	instead(t, &sayAfter, 0)
	for _, c := range halts {
		t.Run(c.name, func(t *testing.T) {
			var log records
			p := logged(t, &log)
			end := c.begin(t, p)
			var ended atomic.Bool
			closed := make(chan bool)
			go func() {
				p.n[0].d.Close()
				closed <- ended.Load()
			}()
			waitFor(t, "Close to say whom it waits for", func() bool { return strings.Contains(log.String(), "level=WARN") })
			for _, want := range []string{"rank=1", "remedy="} {
				if !strings.Contains(log.String(), want) {
					t.Errorf("the log lacks %s: %s", want, log.String())
				}
			}
			ended.Store(true)
			end()
			if !<-closed {
				t.Error("Close returned while the peer wrote")
			}
		})
	}
}

// What was begun after a rank has left is not waited for: it is not done.
func TestNobodyWritesToARankThatHasLeft(t *testing.T) {
	for _, c := range []struct {
		name    string
		leave   func(*pair)
		inOrder bool
	}{
		{"by Close", func(p *pair) { p.n[0].d.Close() }, true},
		{"by End", func(p *pair) { p.n[0].d.End(1, fabric.ErrPeerDown) }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, j, src := asked(t)
			p.until("the request", func() bool { p.n[1].d.Poll(p.n[1], 1); return len(p.n[1].d.helps) > 0 })
			target := allocOrFail(t, 1<<20)
			reg, err := p.n[0].d.Register(target, fabric.RemoteWrite|fabric.RemoteAtomic)
			if err != nil {
				t.Fatal(err)
			}
			heap := make([]byte, 1<<20)
			byAddress, err := p.n[0].d.Register(heap, fabric.RemoteWrite)
			if err != nil {
				t.Fatal(err)
			}
			for _, at := range []fabric.Remote{reg.Remote, byAddress.Remote} {
				if err := p.ep[1].Write(at, nil); err != nil {
					t.Errorf("Write: %v", err)
				}
			}
			already := bytes.Clone(j.local)
			c.leave(p)
			var old uint64
			for op, call := range []func(op fabric.Op) error{
				func(op fabric.Op) error { return p.ep[1].Put(fabric.Segment{Bytes: src}, reg.Remote, op) },
				func(op fabric.Op) error { return p.ep[1].Put(fabric.Segment{Bytes: src}, byAddress.Remote, op) },
				func(op fabric.Op) error { return p.ep[1].Get(fabric.Segment{Bytes: src}, reg.Remote, op) },
				func(op fabric.Op) error {
					return p.ep[1].Atomic(fabric.Atomic{Kind: fabric.FetchAdd, Operand: 1, Result: &old}, reg.Remote, op)
				},
			} {
				// The peer does not know yet.
				if err := call(fabric.Op(op)); err != nil {
					t.Errorf("operation %d: %v", op, err)
				}
			}
			for _, at := range []fabric.Remote{reg.Remote, byAddress.Remote} {
				err := p.ep[1].Write(at, src)
				if errors.Is(err, fabric.ErrPeerLeft) != c.inOrder || !errors.Is(err, fabric.ErrPeerDown) {
					t.Errorf("Write: %v", err)
				}
			}
			p.until("PeerDown", func() bool { return p.n[1].down[0] != nil })
			if left := errors.Is(p.n[1].down[0], fabric.ErrPeerLeft); left != c.inOrder {
				t.Errorf("PeerDown(%v): the rank has left in order: %t", p.n[1].down[0], c.inOrder)
			}
			for op := range fabric.Op(4) {
				if err := p.n[1].done[op]; !errors.Is(err, fabric.ErrPeerDown) {
					t.Errorf("operation %d has ended with %v, want ErrPeerDown", op, err)
				}
			}
			for what, b := range map[string][]byte{"target": target, "memory": heap} {
				if !bytes.Equal(b, make([]byte, len(b))) {
					t.Errorf("its %s was written to", what)
				}
			}
			if !bytes.Equal(j.local, already) {
				t.Error("the helper wrote to the buffer of a Get that was over")
			}
			runtime.KeepAlive(src)
		})
	}
}

func TestEndWaitsForAPeerInTheMiddleOfACopyWithoutBlocking(t *testing.T) {
	for _, c := range halts {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t)
			n := p.n[0]
			end := c.begin(t, p)
			gets := len(n.d.jobs)
			if !n.d.End(1, fabric.ErrPeerDown) {
				t.Fatal("there is nothing to end")
			}
			for range 100 {
				n.d.Poll(n, 64)
			}
			if len(n.done) > 0 || n.down[1] != nil {
				t.Fatalf("%d operations and the peer (%v) have ended while it writes", len(n.done), n.down[1])
			}
			if err := n.d.Arm(fabric.WakeUrgent); err != nil {
				t.Fatal(err)
			}
			for n.d.Poll(n, 64) > 0 {
			}
			n.d.bell.SetReadDeadline(time.Time{})
			drainBell(uintptr(n.d.bellFD)) // what has rung before
			woken := make(chan error)
			go func() { woken <- n.d.Wait(0) }()
			end()
			if err := <-woken; err != nil {
				t.Fatal(err)
			}
			n.d.Poll(n, 64)
			if len(n.done) != gets || n.down[1] == nil {
				t.Errorf("%d operations and the peer (%v) have ended, want %d and an error", len(n.done), n.down[1], gets)
			}
			n.d.Poll(n, 64) // complains of a second end
		})
	}
}

// A rank that has left answers nothing any more, and writes nothing.
func TestAPeerThatHasLeftIsNotWaitedFor(t *testing.T) {
	for _, c := range halts {
		t.Run(c.name, func(t *testing.T) {
			for what, leave := range map[string]func(n *node){
				"Close": func(n *node) { n.d.Close() },
				"End": func(n *node) {
					if n.d.End(1, fabric.ErrPeerDown) {
						t.Error("End waits for it")
					}
				},
			} {
				p := newPair(t)
				c.begin(t, p)
				p.n[1].d.Close()
				left := make(chan struct{})
				go func() { leave(p.n[0]); close(left) }()
				waitFor(t, what, func() bool {
					select {
					case <-left:
						return true
					default:
						return false
					}
				})
			}
		})
	}
}

// A peer whose ring has come, but was not taken, may write by then.
func TestEndWaitsForAPeerWhoseRingWasNotTakenYet(t *testing.T) {
	ds := openJob(t, 2)
	a, b := newNode(t, ds[0]), newNode(t, ds[1])
	ep, err := ds[1].Connect(0, ds[0].Addr())
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the connection", func() bool { b.d.Poll(b, 64); return ep.Send(1, 0, nil, nil) == nil })
	e := ep.(*endpoint)
	if !mayWrite(e.tx.mem, e.info) {
		t.Fatal("it may not write to a rank that has not left")
	}
	if !a.d.End(1, fabric.ErrPeerDown) {
		t.Fatal("there is nothing to end")
	}
	if a.d.Poll(a, 64); a.down[1] != nil {
		t.Error("PeerDown while the peer writes")
	}
	wrote(e.tx.mem, e.info)
	if a.d.Poll(a, 64); a.down[1] == nil {
		t.Error("no PeerDown although the peer has written")
	}
	if len(a.got) > 0 {
		t.Errorf("%d messages of a peer that was ended", len(a.got))
	}
}

// Ranks that leave at once do not wait for each other, whatever each has under way
// with the others.
func TestRanksThatLeaveAtOnceDoNotWaitForEachOther(t *testing.T) {
	const ranks, size = 3, 512 << 10
	mem := make([]byte, size)
	for round := range 60 {
		ds := openJob(t, ranks)
		reg, err := ds[0].Register(mem, fabric.RemoteRead|fabric.RemoteWrite) // all are in one process
		if err != nil {
			t.Fatal(err)
		}
		var left atomic.Int32
		for r, d := range ds {
			go func() {
				defer left.Add(1)
				n, op := newNode(t, d), fabric.Op(0)
				var eps []fabric.Endpoint
				for p := range ranks {
					if p == r {
						continue
					}
					ep, err := d.Connect(fabric.Peer(p), ds[p].Addr())
					if err != nil {
						t.Error(err)
						return
					}
					eps = append(eps, ep)
				}
				local := fabric.Segment{Bytes: make([]byte, size)}
				for range 100 + 20*round {
					for _, ep := range eps {
						if len(n.d.jobs) < 8 {
							ep.Get(local, reg.Remote, op)
							ep.Put(local, reg.Remote, op+1)
							op += 2
						}
					}
					n.d.Poll(n, 64)
				}
				n.d.Close()
			}()
		}
		waitFor(t, "all ranks to have left", func() bool { return left.Load() == ranks })
	}
}

func TestPeersThatAreEndedLeaveNoDescriptorsBehind(t *testing.T) {
	round := func() {
		var ds []fabric.Domain
		for r := range 2 {
			d, err := Provider{}.Open(fabric.Config{Rank: fabric.Peer(r), Size: 2, Job: t.Name(), Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			ds = append(ds, d)
		}
		a, b := newNode(t, ds[0]), newNode(t, ds[1])
		a.d.End(1, fabric.ErrPeerDown)
		for i, d := range ds {
			if _, err := d.Connect(fabric.Peer(1-i), ds[1-i].Addr()); err != nil {
				t.Fatal(err)
			}
		}
		waitFor(t, "its end", func() bool {
			a.d.Poll(a, 64)
			b.d.Poll(b, 64)
			return b.down[0] != nil
		})
		if err := errors.Join(ds[0].Close(), ds[1].Close()); err != nil {
			t.Fatal(err)
		}
	}
	leavesNoFiles(t, round)
}
