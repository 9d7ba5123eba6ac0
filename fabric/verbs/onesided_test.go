package verbs

import (
	"bytes"
	"errors"
	"syscall"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

// What is wrong is refused behind a transfer that was right, too, whose memory
// and key the next ones take for known.
func TestARepeatedTransferIsChecked(t *testing.T) {
	emulated(t)
	for _, c := range []struct {
		name  string
		spoil func(v *moving, seg *fabric.Segment, m *fabric.Remote)
		is    error // nil: it goes well
	}{
		{"nothing", func(*moving, *fabric.Segment, *fabric.Remote) {}, nil},
		{"no bytes", func(_ *moving, seg *fabric.Segment, _ *fabric.Remote) { seg.Bytes = nil }, nil},
		{"longer than the peer's memory", func(_ *moving, _ *fabric.Segment, m *fabric.Remote) { m.Len = 7 }, fabric.ErrBadRemote},
		{"beyond the address space", func(_ *moving, _ *fabric.Segment, m *fabric.Remote) { m.Addr = -(m.Len / 2) }, fabric.ErrBadRemote},
		{"another key", func(_ *moving, _ *fabric.Segment, m *fabric.Remote) { m.Key ^= 1 }, fabric.ErrBadRemote},
		{"a key for something else", func(v *moving, _ *fabric.Segment, m *fabric.Remote) {
			m.Key = register(v.t, v.ds[1], make([]byte, 64), fabric.RemoteAtomic).Remote.Key
		}, fabric.ErrBadRemote},
		{"no memory", func(_ *moving, _ *fabric.Segment, m *fabric.Remote) { *m = fabric.Remote{} }, fabric.ErrUnsupported},
		{"memory that is not registered", func(_ *moving, seg *fabric.Segment, _ *fabric.Remote) { seg.Bytes = make([]byte, 8) }, fabric.ErrUnsupported},
		{"memory beside what is registered", func(v *moving, seg *fabric.Segment, _ *fabric.Remote) {
			seg.Bytes = v.mine[:len(v.mine)+8][len(v.mine):]
		}, fabric.ErrUnsupported},
		{"memory of no registration", func(_ *moving, seg *fabric.Segment, _ *fabric.Remote) { seg.Region = fabric.Region{} }, fabric.ErrUnsupported},
		{"memory that was registered", func(v *moving, seg *fabric.Segment, _ *fabric.Remote) {
			deregister(v.t, v.ds[0], seg.Region)
		}, fabric.ErrUnsupported},
	} {
		for _, put := range []bool{true, false} {
			t.Setenv(envCache, "0") // so that what is given back is gone
			ds, eps := connected(t, fakeJob(newFakeNet()))
			memory := make([]byte, 64, 128)
			v := newMovingOf(t, ds, eps[0], memory)
			for range 3 {
				v.start(put, 0, 8)
				v.wait()
			}
			copy(v.mine, "ABCDEFGH")
			copy(v.its, "abcdefgh")
			seg, m := v.seg, v.remote
			seg.Bytes = seg.Bytes[:8]
			c.spoil(v, &seg, &m)
			var err error
			if put {
				err = eps[0].Put(seg, m, v.op)
			} else {
				err = eps[0].Get(seg, m, v.op)
			}
			if !errors.Is(err, c.is) {
				t.Errorf("%s, put %t: %v, want %v", c.name, put, err, c.is)
			}
			if err == nil {
				v.op++
			}
			v.wait()
			same := bytes.Equal(v.mine[:8], v.its[:8])
			if moved := err == nil && len(seg.Bytes) > 0; same != moved {
				t.Errorf("%s, put %t: %q here, %q there", c.name, put, v.mine[:8], v.its[:8])
			}
		}
	}
}

// A key that is good for a Put need not be for a Get.
func TestARepeatedKeyIsForOnePurpose(t *testing.T) {
	emulated(t)
	ds, eps := connected(t, fakeJob(newFakeNet()))
	v := newMoving(t, ds, eps[0], 8)
	v.remote = register(t, ds[1], v.its, fabric.RemoteWrite).Remote
	v.start(true, 0, 8)
	v.wait()
	if err := eps[0].Get(v.seg, v.remote, v.op); !errors.Is(err, fabric.ErrBadRemote) {
		t.Errorf("a Get of memory that may only be written: %v", err)
	}
}

// Transfers that do not end stop at the room that there is.
func TestRepeatedTransfersNeedRoom(t *testing.T) {
	emulated(t)
	w := newFakeNet()
	ds, eps := connected(t, fakeJob(w))
	v, e := newMoving(t, ds, eps[0], 8), eps[0].(*endpoint)
	v.start(true, 0, 8)
	v.wait()
	w.mu.Lock()
	w.silent = true
	w.mu.Unlock()
	for range queueDepth {
		if err := e.Put(v.seg, v.remote, v.op); err == fabric.ErrAgain {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		v.op++
	}
	if n := int(e.tail - e.head); n != queueDepth-sendReserve {
		t.Errorf("%d are outstanding, want %d", n, queueDepth-sendReserve)
	}
	w.mu.Lock()
	w.silent = false
	w.mu.Unlock()
	v.wait()
}

// refusing is a nic that takes no work request while it is told so.
type refusing struct {
	hca
	on *bool
}

func (n refusing) PostPoll(sends, recvs, maxRecv, maxSend, looks int) ibv.Polled {
	if sends == 0 || !*n.on {
		return n.hca.PostPoll(sends, recvs, maxRecv, maxSend, looks)
	}
	for i := range sends {
		n.Rings().Sends[i].Refused = int32(syscall.ENOMEM)
	}
	return n.hca.PostPoll(0, recvs, maxRecv, maxSend, looks) | ibv.Polled(sends)<<32
}

// What the library refuses to post ends, with the peer or over another path, and
// is not held against what is posted later.
func TestTransfersThatAreRefusedEnd(t *testing.T) {
	emulated(t)
	for _, c := range []struct {
		name string
		port int // that refuses
		n    int // bytes of the transfer
		dies bool
	}{{"the first queue pair", 0, 64, true}, {"a further port", 1, 1 << 16, false}} {
		ds, eps := connected(t, railJob(newFakeNet(), 2, 1))
		v, on := newMoving(t, ds, eps[0], 1<<16), true
		if c.port == 0 {
			ds[0].hca = refusing{ds[0].hca, &on}
		} else {
			ds[0].ports[0].hca = refusing{ds[0].ports[0].hca, &on}
		}
		v.start(true, 0, c.n)
		v.wait()
		on = false
		if err := v.m.ends[0]; (err != nil) != c.dies || c.dies && !errors.Is(err, fabric.ErrPeerDown) {
			t.Errorf("%s refuses: the transfer ends with %v", c.name, err)
		}
		for _, r := range []*ibv.Rings{ds[0].ring, ds[0].ports[0].ring} {
			for i := range r.Sends {
				if r.Sends[i].Refused != 0 {
					t.Errorf("%s: descriptor %d is still refused", c.name, i)
				}
			}
		}
		if !c.dies {
			v.start(true, 0, c.n)
			v.wait()
		}
	}
}

// starting begins transfers when others end, amid a Poll.
type starting struct {
	*mourner
	begin func()
}

func (s *starting) Complete(op fabric.Op, err error) {
	s.mourner.Complete(op, err)
	s.begin()
}

// Stripes over many queue pairs of one port are more than a batch.
func TestManyStripesStartedInAPoll(t *testing.T) {
	emulated(t)
	const piece, queues = 4096, 16
	p := portInfo{device: "fake0", number: 1, mtu: 5, ethernet: true, reads: 16, answers: 16, atomics: true, maxMessage: piece}
	w := newFakeNet()
	ds, eps := connected(t, &job{open: func(cfg fabric.Config) (*Domain, error) {
		d, err := openRails(cfg, p, nil, queues, "127.0.0.1", ibv.Attr{}, w.open)
		if err == nil {
			d.stripeMin = piece
		}
		return d, err
	}})
	v := newMoving(t, ds, eps[0], 64*piece)
	v.start(true, 0, len(v.mine))
	v.wait()
	left := 8
	s := &starting{mourner: v.m}
	s.begin = func() {
		for ; left > 0; left-- {
			if err := eps[0].Put(v.seg, v.remote, v.op); err != nil {
				return // no room
			}
			v.op++
		}
	}
	copy(v.mine, "ABCDEFGH")
	v.start(true, 0, 8)
	for end := 0; len(v.m.ends) < int(v.op); end++ {
		ds[0].Poll(s, 64)
		ds[1].Poll(nobody{}, 64)
		if end > 1<<20 {
			t.Fatalf("%d of %d transfers have ended", len(v.m.ends), v.op)
		}
	}
	if left == 8 || !bytes.Equal(v.mine, v.its) {
		t.Errorf("%d transfers were started amid a Poll; the bytes are there: %t", 8-left, bytes.Equal(v.mine, v.its))
	}
}
