package verbs

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

// mourner notes the ends of operations and peers.
type mourner struct {
	ends  map[fabric.Op]error
	twice bool
	down  []error
	heard int // messages
}

func (m *mourner) Deliver(fabric.Peer, uint8, uint64, []byte, []byte) { m.heard++ }

func (m *mourner) Complete(op fabric.Op, err error) {
	if _, ok := m.ends[op]; ok {
		m.twice = true
	}
	m.ends[op] = err
}

func (m *mourner) PeerDown(_ fabric.Peer, err error) { m.down = append(m.down, err) }

func newMourner() *mourner { return &mourner{ends: map[fabric.Op]error{}} }

// untilDown polls until the peer's end is reported, and a little longer.
func (m *mourner) untilDown(t testing.TB, d *Domain) {
	t.Helper()
	eventually(t, "the peer's end is reported", func() bool {
		d.Poll(m, 64)
		return len(m.down) > 0
	})
	for range 10 {
		d.Poll(m, 64)
	}
	if len(m.down) != 1 || m.twice {
		t.Errorf("PeerDown %d times; an operation ended twice: %t", len(m.down), m.twice)
	}
}

// Every status of a completion ends the operation and the peer with an error
// that says what happened and what to do.
func TestAnErrorCompletionIsExplained(t *testing.T) {
	for _, c := range []struct {
		status uint8
		is     error
		says   string
	}{
		{ibv.RetryExcErr, fabric.ErrPeerDown, "does not answer"},
		{13, fabric.ErrPeerDown, "no receive slot"},
		{4, fabric.ErrPeerDown, "local protection"},
		{ibv.RemAccessErr, fabric.ErrBadRemote, "device refuses"},
		{9, fabric.ErrPeerDown, "calls the request invalid"},
		{200, fabric.ErrPeerDown, "status 200"},
	} {
		w := newFakeNet()
		ds, eps := connected(t, fakeJob(w))
		a := ds[0]
		local, remote := make([]byte, 4096), make([]byte, 4096)
		seg := fabric.Segment{Bytes: local, Region: register(t, a, local, fabric.LocalWrite)}
		dst := register(t, ds[1], remote, fabric.RemoteRead|fabric.RemoteWrite).Remote
		m := newMourner()
		a.inPoll = true // so that all three are posted at once
		w.fault = c.status
		for op := range fabric.Op(3) {
			if err := eps[0].Get(seg, dst, op); err != nil {
				t.Fatal(err)
			}
		}
		a.inPoll = false
		m.untilDown(t, a)
		if err := m.ends[0]; !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "rank 1") {
			t.Errorf("status %d: %v, want %q, the peer, and %v", c.status, err, c.says, c.is)
		}
		for op := fabric.Op(1); op < 3; op++ {
			if err, ok := m.ends[op]; !ok || !errors.Is(err, fabric.ErrPeerDown) {
				t.Errorf("status %d: operation %d behind it ended with %v", c.status, op, err)
			}
		}
		if err := eps[0].Send(1, 0, nil, nil); !errors.Is(err, fabric.ErrPeerDown) {
			t.Errorf("status %d: Send afterwards: %v", c.status, err)
		}
		if a.outstanding != 0 || len(a.freeSlots) != sendSlots {
			t.Errorf("status %d: %d work requests and %d slots are not back", c.status, a.outstanding, sendSlots-len(a.freeSlots))
		}
	}
}

// Sends that went well and were not to be signaled hold the end up for no time.
func TestAPeersEndWaitsForNothingThatHasEnded(t *testing.T) {
	ds, eps := connected(t, fakeJob(newFakeNet()))
	a := ds[0]
	for range 3 {
		if err := eps[0].Send(1, 0, nil, nil); err != nil {
			t.Fatal(err)
		}
	}
	if a.outstanding == 0 {
		t.Fatal("nothing is outstanding: nothing is proved")
	}
	a.peers[1].drain(errors.New("it is gone"))
	m := newMourner()
	for range 5 {
		a.Poll(m, 64)
	}
	if len(m.down) != 1 || a.outstanding != 0 {
		t.Errorf("after 5 Polls PeerDown was called %d times and %d work requests are outstanding", len(m.down), a.outstanding)
	}
}

// A peer that the engine ends can't write here any more when its end is
// reported.
func TestAPeerThatIsEndedCanWriteNothingMore(t *testing.T) {
	emulated(t)
	for _, queues := range []int{1, 2} {
		w := newFakeNet()
		ds, _ := connected(t, railJob(w, 1, queues))
		b := ds[1]
		e := b.peers[0]
		ours := []uint32{e.qp.Num}
		for _, r := range e.rails {
			ours = append(ours, r.qp.Num)
		}
		for range 2 {
			if !b.End(0, errors.New("it sends nonsense")) {
				t.Fatal("there is nothing to end")
			}
		}
		m := &ending{mourner: newMourner(), down: func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			for _, number := range ours {
				if w.qps[number] != nil {
					t.Error("a queue pair is left when the peer's end is reported")
				}
			}
		}}
		for len(m.mourner.down) == 0 {
			b.Poll(m, 64)
		}
		if err := m.mourner.down[0]; !errors.Is(err, fabric.ErrPeerDown) || !strings.Contains(err.Error(), "nonsense") {
			t.Errorf("PeerDown(%v)", err)
		}
		if b.End(0, nil) {
			t.Error("a peer is ended that has ended")
		}
		newMourner().untilDown(t, ds[0])
	}
}

// A peer that has been given up gets no queue pair when it dials. Its keys of
// this rank's memory are of no use to it then.
func TestAPeerThatIsDownGetsNoQueuePair(t *testing.T) {
	emulated(t)
	w := newFakeNet()
	j := fakeJob(w)
	j.domains(t, 2)
	d := j.ranks[1]
	d.links[0].state = linkDialing // in vain, since the peer was not there yet
	d.endpoint(0).drain(fabric.ErrPeerDown)
	newMourner().untilDown(t, d)
	if _, err := j.ranks[0].Connect(1, d.Addr()); err != nil {
		t.Fatal(err)
	}
	m := newMourner()
	m.untilDown(t, j.ranks[0])
	if qps, _ := w.has(d); qps > 0 || !strings.Contains(m.down[0].Error(), "the peer refuses: the caller was given up") {
		t.Errorf("it has %d queue pairs, and was told: %v", qps, m.down[0])
	}
}

// ending looks at what is left when a peer's end is reported.
type ending struct {
	*mourner
	down func()
}

func (e *ending) PeerDown(p fabric.Peer, err error) {
	e.down()
	e.mourner.PeerDown(p, err)
}

// Completions that a Poll was not to hand over are there when the domain closes.
func TestCloseKnowsWhatAPollHasLeft(t *testing.T) {
	ds, eps := connected(t, fakeJob(newFakeNet()))
	a := ds[0]
	buf := make([]byte, 4096)
	seg := fabric.Segment{Bytes: buf, Region: register(t, a, buf, fabric.LocalWrite)}
	from := register(t, ds[1], make([]byte, len(buf)), fabric.RemoteRead).Remote
	for op := range fabric.Op(4) {
		if err := eps[0].Get(seg, from, op); err != nil {
			t.Fatal(err)
		}
	}
	a.Poll(newMourner(), 2)
	if a.sdone.empty() {
		t.Fatal("the Poll has left nothing: nothing is proved")
	}
	a.quiesce()
	if a.alive() || a.outstanding != 0 {
		t.Errorf("%d work requests are waited for that have ended", a.outstanding)
	}
}

func TestAPathThatNeverWorkedPointsAtTheGID(t *testing.T) {
	w := newFakeNet()
	j := fakeJob(w)
	ds := j.domains(t, 2)
	e, _ := ds[0].Connect(1, ds[1].Addr())
	w.fault = ibv.RetryExcErr
	m := newMourner()
	for e.Send(1, 0, nil, nil) == fabric.ErrAgain {
		ds[0].Poll(m, 64)
		ds[1].Poll(nobody{}, 64)
	}
	m.untilDown(t, j.ranks[0])
	if s := m.down[0].Error(); !strings.Contains(s, "GID index") || !strings.Contains(s, envGID) {
		t.Errorf("%q does not point at the GID", s)
	}
}

func TestWhatTheDeviceReportsEndsPeers(t *testing.T) {
	for _, c := range []struct {
		name string
		send func(d *Domain, n *fakeHCA)
		says string
	}{
		{"a failed queue pair", func(d *Domain, n *fakeHCA) {
			n.report(ibv.Event{Kind: ibv.EventQP, QPNum: d.peers[1].qp.Num, Name: "QP_FATAL"})
		}, "QP_FATAL"},
		{"a dead device", func(d *Domain, n *fakeHCA) { n.report(ibv.Event{Kind: ibv.EventDevice, Name: "DEVICE_FATAL"}) }, "DEVICE_FATAL"},
		{"a port that stays down", func(d *Domain, n *fakeHCA) { n.report(ibv.Event{Kind: ibv.EventPortDown, Name: "PORT_ERR"}) }, "is down"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ds, _ := connected(t, fakeJob(newFakeNet()))
			m := newMourner()
			c.send(ds[0], ds[0].hca.(*fakeHCA))
			m.untilDown(t, ds[0])
			if err := m.down[0]; !errors.Is(err, fabric.ErrPeerDown) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("PeerDown(%v), want %q", err, c.says)
			}
		})
	}
}

func TestAPortThatComesBackEndsNobody(t *testing.T) {
	ds, eps := connected(t, fakeJob(newFakeNet()))
	n := ds[0].hca.(*fakeHCA)
	n.report(ibv.Event{Kind: ibv.EventPortDown, Name: "PORT_ERR"})
	n.report(ibv.Event{Kind: ibv.EventPortDown, Name: "PORT_ERR"}) // again
	n.report(ibv.Event{Kind: ibv.EventPortUp, Name: "PORT_ACTIVE"})
	m := newMourner()
	for end := time.Now().Add(portGrace + 200*time.Millisecond); time.Now().Before(end); {
		ds[0].Poll(m, 64)
	}
	if err := eps[0].Send(1, 0, nil, nil); err != nil || len(m.down) > 0 {
		t.Errorf("Send: %v, PeerDown %v", err, m.down)
	}
}

// A peer that breaks the protocol is ended, and nothing of it is believed.
func TestAPeerThatBreaksTheProtocolIsEnded(t *testing.T) {
	for name, lie := range map[string]func(ds []*Domain, eps [2]fabric.Endpoint){
		"credit for what was not sent": func(ds []*Domain, eps [2]fabric.Endpoint) {
			binary.NativeEndian.PutUint64(ds[0].creditMem[8:], creditWord(1<<20))
			for eps[0].Send(1, 0, nil, nil) == nil {
			}
		},
		"credit taken back": func(ds []*Domain, eps [2]fabric.Endpoint) {
			ds[0].peers[1].word = 1 // as if it had been told
			binary.NativeEndian.PutUint64(ds[0].creditMem[8:], 0)
			for eps[0].Send(1, 0, nil, nil) == nil {
			}
		},
		"credit in a message for what was not sent": func(ds []*Domain, eps [2]fabric.Endpoint) {
			ds[1].peers[0].taken += 100
			eps[1].Send(1, 0, nil, nil)
		},
		"a message whose length is wrong": func(ds []*Domain, eps [2]fabric.Endpoint) {
			b := ds[1]
			e := b.peers[0]
			slot, _ := b.takeSlot()
			m := b.slot(slot)
			putHeader(m, 1, 2, 0, nil, 5000)
			s := b.next()
			s.Opcode, s.NumSGE = ibv.Send, 1
			s.SGE[0] = ibv.SGE{Addr: ibv.Addr(m), Length: 40, LKey: b.sendMR.LKey}
			e.submit(s, entry{slot: int32(slot)})
		},
	} {
		ds, eps := connected(t, fakeJob(newFakeNet()))
		m := newMourner()
		lie(ds, eps)
		m.untilDown(t, ds[0])
		if !errors.Is(m.down[0], fabric.ErrPeerDown) {
			t.Errorf("%s: %v", name, m.down[0])
		}
	}
}

// What the device has written of a credit word so far is no claim of the peer's.
func TestAHalfWrittenCreditWordIsNoNews(t *testing.T) {
	emulated(t)
	ds, _ := connected(t, fakeJob(newFakeNet()))
	e := ds[0].peers[1]
	for _, c := range [][2]uint64{{0xff, 0x100}, {0x177e0, 0x17841}, {0xfffffff0, 1<<32 + 2}, {1<<32 - 1, 1 << 32}} {
		var from, to, word [8]byte
		binary.NativeEndian.PutUint64(from[:], creditWord(c[0]))
		binary.NativeEndian.PutUint64(to[:], creditWord(c[1]))
		for _, downwards := range []bool{false, true} {
			e.sent, e.acked, e.word = c[1], c[0], uint32(c[0])
			e.window = 1
			word = from
			for i := range word {
				if downwards {
					i = len(word) - 1 - i
				}
				word[i] = to[i]
				copy(ds[0].creditMem[8:], word[:])
				e.credit()
				if e.failing != nil {
					t.Fatalf("%#x to %#x: %v", c[0], c[1], e.failing)
				}
				if e.acked != c[0] && word != to {
					t.Fatalf("%#x to %#x: % x was taken for %#x", c[0], c[1], word, e.acked)
				}
			}
			if e.acked != c[1] {
				t.Errorf("%#x to %#x: acked is %#x", c[0], c[1], e.acked)
			}
		}
	}
}

// A descriptor that was refused says so once.
func TestARefusalIsToldOnce(t *testing.T) {
	ds, eps := connected(t, fakeJob(newFakeNet()))
	s := &ds[0].ring.Sends[0]
	s.ID, s.Refused = 1<<32, 12
	if ds[0].refused(1); eps[0].(*endpoint).failing == nil || s.Refused != 0 {
		t.Errorf("refused with %d: the peer fails with %v", s.Refused, eps[0].(*endpoint).failing)
	}
}
