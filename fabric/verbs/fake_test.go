package verbs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

// fakeNet joins fake devices. What a device does to another's memory happens
// in the turn that posts it, under the one lock.
type fakeNet struct {
	mu     sync.Mutex
	qps    map[uint32]*fakeQP
	mrs    map[uint32]fakeMR // by key
	next   uint32
	silent bool   // nothing arrives any more: the link is down
	rnr    int    // messages that found no slot
	fault  uint8  // status of the next work request, once
	at     string // the device that fault is about, or any
	stuck  uint32 // the queue pair on which nothing arrives
	posted bool   // WRITEs reach memory with the next other thing that their device does there
	refuse func() // called where registering is to fail
	faults
}

type fakeMR struct {
	hca        *fakeHCA
	start, end uint64
	access     uint32
}

// fakeSend is a work request with the data that it took along.
type fakeSend struct {
	ibv.SendWR
	inline [wantInline]byte
	n      int
}

type fakeHCA struct {
	w          *fakeNet
	r          ibv.Rings
	base       uint64
	size       uint32
	srq        []uint32
	rcq, scq   []ibv.WC
	armedRecv  int // 1 solicited, 2 any
	armedSend  bool
	events     int
	bell       int
	asyncBell  int
	asyncs     []ibv.Event
	options    ibv.Options
	qps        []*fakeQP
	crossings  int
	refills    int // turns that gave slots
	writes     int // of a word
	registered int
	scratch    []byte
	moved      uint64 // bytes of READs and WRITEs
	written    []func()
	grips      int      // so many registrations do not end
	calls      []string // "destroy" and "deregister"
	amidDrain  func()   // if there is one
	draining   atomic.Bool
}

func newFakeNet() *fakeNet {
	return &fakeNet{qps: map[uint32]*fakeQP{}, mrs: map[uint32]fakeMR{}, next: 100}
}

// open makes a domain of a port. host is where the handshake is answered.
func open(cfg fabric.Config, p portInfo, host string, a ibv.Attr, openNIC func(ibv.Options) (hca, error)) (*Domain, error) {
	return openRails(cfg, p, nil, 1, host, a, openNIC)
}

func (w *fakeNet) open(o ibv.Options) (hca, error) {
	n := &fakeHCA{w: w, options: o}
	n.r = ibv.Rings{Sends: make([]ibv.SendWR, ibv.MaxSends), Recvs: make([]uint32, ibv.MaxRecvs), RecvWC: make([]ibv.WC, ibv.MaxWC), SendWC: make([]ibv.WC, ibv.MaxWC)}
	n.r.Locate()
	n.bell, _ = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	n.asyncBell, _ = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	return n, nil
}

func (n *fakeHCA) Rings() *ibv.Rings                       { return &n.r }
func (n *fakeHCA) SetSlots(base uint64, size, lkey uint32) { n.base, n.size = base, size }
func (n *fakeHCA) EventFD() int                            { return n.bell }
func (n *fakeHCA) AsyncFD() int                            { return n.asyncBell }

func (n *fakeHCA) AsyncEvent() (ibv.Event, bool) {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	if len(n.asyncs) == 0 {
		drainFD(n.asyncBell)
		return ibv.Event{}, false
	}
	ev := n.asyncs[0]
	n.asyncs = n.asyncs[1:]
	return ev, true
}

func (n *fakeHCA) report(ev ibv.Event) {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	n.asyncs = append(n.asyncs, ev)
	unix.Write(n.asyncBell, aRing)
}

// aRing adds one to an eventfd.
var aRing = []byte{1, 0, 0, 0, 0, 0, 0, 0}

func drainFD(fd int) { var b [8]byte; unix.Read(fd, b[:]) }

func (n *fakeHCA) PostPoll(sends, recvs, maxRecv, maxSend, _ int) ibv.Polled {
	w := n.w
	w.mu.Lock()
	defer w.mu.Unlock()
	n.crossings++
	n.srq = append(n.srq, n.r.Recvs[:recvs]...)
	if recvs > 0 { // who found no slot tries again
		n.refills++
		for _, q := range n.qps {
			if p := w.qps[q.peer]; p != nil {
				p.progress()
			}
		}
	}
	refused := 0
	for i := range sends {
		d := n.r.Sends[i]
		if d.Opcode == ibv.RDMAWrite && d.SGE[0].Length == 8 {
			n.writes++
		}
		q := w.qps[uint32(d.QP)]
		if w.full {
			n.r.Sends[i].Refused = int32(syscall.ENOMEM)
			refused++
			continue
		}
		if q.failed && !w.mute {
			q.done(d, ibv.WRFlushErr)
			continue
		}
		q.waiting = append(q.waiting, fakeSend{SendWR: d})
		f := &q.waiting[len(q.waiting)-1]
		if d.Flags&ibv.Inline != 0 { // taken now, since the slot is used again
			f.n = copy(f.inline[:], memoryAt(d.SGE[0].Addr, int(d.SGE[0].Length)))
		}
	}
	for _, q := range n.qps {
		q.progress()
	}
	r := copy(n.r.RecvWC[:maxRecv], n.rcq)
	n.rcq = append(n.rcq[:0], n.rcq[r:]...)
	s := copy(n.r.SendWC[:maxSend], n.scq)
	n.scq = append(n.scq[:0], n.scq[s:]...)
	return ibv.Polled(r | s<<16 | refused<<32)
}

func (q *fakeQP) progress() {
	for len(q.waiting) > 0 && q.ready && !q.failed && !q.hca.w.silent && q.id.Num != q.hca.w.stuck {
		status, again := q.carry(&q.waiting[0])
		if again {
			return
		}
		d := q.waiting[0].SendWR
		q.waiting = q.waiting[:copy(q.waiting, q.waiting[1:])]
		q.done(d, status)
		if status != 0 {
			q.fail()
		}
	}
}

// done makes the completion of a send.
func (q *fakeQP) done(d ibv.SendWR, status uint8) {
	if d.Flags&ibv.Signaled == 0 && status == 0 {
		return
	}
	n := q.hca
	n.scq = append(n.scq, ibv.WC{ID: d.ID, QPNum: q.id.Num, Status: uint32(status)})
	if n.armedSend {
		n.armedSend = false
		n.ring()
	}
}

func (n *fakeHCA) ring() {
	n.events++
	unix.Write(n.bell, aRing)
}

func (q *fakeQP) fail() {
	if q.failed {
		return
	}
	q.failed = true
	if q.hca.w.mute {
		return
	}
	for i := range q.waiting {
		q.done(q.waiting[i].SendWR, ibv.WRFlushErr)
	}
	q.waiting = nil
}

// ofOwn says whether the data are the descriptor's own.
func ofOwn(s *ibv.SendWR) bool { return s.NumSGE > 0 && s.SGE[0].Addr == s.OwnAddr }

// key and word are what an atomic operation has elsewhere than others.
func keyOf(s *ibv.SendWR) uint32 {
	if s.Opcode == ibv.AtomicFetchAndAdd || s.Opcode == ibv.AtomicCmpAndSwp {
		return s.AtomicRKey
	}
	return s.RKey
}

func wordOf(s *ibv.SendWR) uint64 {
	b := binary.NativeEndian.AppendUint32(nil, s.RKey)
	return binary.NativeEndian.Uint64(binary.NativeEndian.AppendUint32(b, s.High))
}

// carry does what a work request says, at once.
func (q *fakeQP) carry(d *fakeSend) (status uint8, again bool) {
	w := q.hca.w
	p := w.qps[q.peer]
	if p == nil || p.failed || !p.ready {
		return ibv.RetryExcErr, false
	}
	if f := w.fault; f != 0 && (w.at == "" || w.at == q.hca.options.Device) {
		w.fault = 0
		return f, false
	}
	data := append(q.hca.scratch[:0], d.inline[:d.n]...)
	for i := range int(d.NumSGE) {
		if d.Flags&ibv.Inline != 0 {
			break
		}
		if !w.mayUse(d.SGE[i].LKey, q.hca, d.SGE[i].Addr, d.SGE[i].Length, 0) {
			return 4, false
		}
		data = append(data, memoryAt(d.SGE[i].Addr, int(d.SGE[i].Length))...)
	}
	q.hca.scratch = data
	length := uint32(len(data))
	if d.Opcode == ibv.RDMARead || d.Opcode == ibv.RDMAWrite {
		q.hca.moved += uint64(length)
	}
	want := [...]uint32{ibv.Send: 0, ibv.RDMAWrite: ibv.RemoteWrite, ibv.RDMAWriteWithImm: ibv.RemoteWrite, ibv.RDMARead: ibv.RemoteRead,
		ibv.AtomicFetchAndAdd: ibv.RemoteAtomic, ibv.AtomicCmpAndSwp: ibv.RemoteAtomic}[d.Opcode]
	if d.Opcode != ibv.Send && length > 0 && !w.mayUse(keyOf(&d.SendWR), p.hca, d.RemoteAddr, length, want) {
		p.fail()
		return ibv.RemAccessErr, false
	}
	if (d.Opcode == ibv.Send || d.Opcode == ibv.RDMAWriteWithImm) && len(p.hca.srq) == 0 {
		w.rnr++
		return 0, true
	}
	if d.Opcode != ibv.RDMAWrite || ofOwn(&d.SendWR) && length == 8 {
		p.hca.settle()
	}
	if w.halted(&d.SendWR, data) {
		return 0, true
	}
	switch d.Opcode {
	case ibv.Send:
		slot := p.hca.takeSlot()
		if length > p.hca.size {
			return 9, false
		}
		copy(memoryAt(p.hca.base+uint64(slot)*uint64(p.hca.size), int(p.hca.size)), data)
		p.hca.received(ibv.WC{ID: uint64(slot), ByteLen: length, QPNum: p.id.Num}, d.Flags&ibv.Solicited != 0)
	case ibv.RDMAWrite, ibv.RDMAWriteWithImm:
		if length > 0 {
			if ofOwn(&d.SendWR) && length == 8 {
				storeWord(d.RemoteAddr, d.Own)
			} else if w.posted && d.Opcode == ibv.RDMAWrite && !ofOwn(&d.SendWR) {
				data, remote := bytes.Clone(data), d.RemoteAddr
				p.hca.written = append(p.hca.written, func() { copy(memoryAt(remote, int(length)), data) })
			} else {
				copy(memoryAt(d.RemoteAddr, int(length)), data)
			}
		}
		if d.Opcode == ibv.RDMAWriteWithImm {
			slot := p.hca.takeSlot()
			p.hca.received(ibv.WC{ID: uint64(slot), ByteLen: length, QPNum: p.id.Num, Opcode: ibv.RecvRDMAWithImm, ImmData: d.ImmData}, d.Flags&ibv.Solicited != 0)
		}
	case ibv.RDMARead:
		if length > 0 {
			copy(memoryAt(d.SGE[0].Addr, int(length)), memoryAt(d.RemoteAddr, int(length)))
		}
	case ibv.AtomicFetchAndAdd, ibv.AtomicCmpAndSwp:
		word := memoryAt(d.RemoteAddr, 8)
		old := binary.NativeEndian.Uint64(word)
		binary.NativeEndian.PutUint64(memoryAt(d.SGE[0].Addr, 8), old)
		if d.Opcode == ibv.AtomicFetchAndAdd {
			binary.NativeEndian.PutUint64(word, old+wordOf(&d.SendWR))
		} else if old == wordOf(&d.SendWR) {
			binary.NativeEndian.PutUint64(word, d.Swap)
		}
	}
	return 0, false
}

// settle brings to memory what has been written.
func (n *fakeHCA) settle() {
	for _, f := range n.written {
		f()
	}
	n.written = nil
}

func (n *fakeHCA) takeSlot() uint32 {
	slot := n.srq[0]
	n.srq = n.srq[:copy(n.srq, n.srq[1:])]
	return slot
}

func (n *fakeHCA) received(c ibv.WC, solicited bool) {
	n.rcq = append(n.rcq, c)
	if n.armedRecv == 2 || n.armedRecv == 1 && solicited {
		n.armedRecv = 0
		n.ring()
	}
}

func (w *fakeNet) mayUse(key uint32, n *fakeHCA, addr uint64, length, access uint32) bool {
	m, ok := w.mrs[key]
	return ok && m.hca == n && addr >= m.start && addr+uint64(length) <= m.end && addr+uint64(length) >= addr && m.access&access == access
}

func (n *fakeHCA) ReqNotify(solicited bool) error {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	n.armedSend = true
	if n.armedRecv = max(n.armedRecv, 1); !solicited {
		n.armedRecv = 2
	}
	return nil
}

func (n *fakeHCA) AckEvents() int {
	if n.amidDrain != nil {
		n.draining.Store(true)
		n.amidDrain()
		n.draining.Store(false)
	}
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	drainFD(n.bell)
	c := n.events
	n.events = 0
	return c
}

func (n *fakeHCA) RegMR(addr uint64, length int, access uint32) (ibv.MR, error) {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	if n.w.refuse != nil {
		n.w.refuse()
		return ibv.MR{}, syscall.ENOMEM
	}
	n.w.next += 7
	n.w.mrs[n.w.next] = fakeMR{n, addr, addr + uint64(length), access}
	n.registered++
	return ibv.MR{Handle: uint64(n.w.next), LKey: n.w.next, RKey: n.w.next}, nil
}

func (n *fakeHCA) DeregMR(m ibv.MR) error {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	if _, ok := n.w.mrs[m.RKey]; !ok {
		return fmt.Errorf("key %d is not registered", m.RKey)
	}
	n.calls = append(n.calls, "deregister")
	if n.grips > 0 {
		n.grips--
		return syscall.EBUSY
	}
	delete(n.w.mrs, m.RKey)
	n.registered--
	return nil
}

// close complains of what is left behind.
func (n *fakeHCA) Close() error {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	unix.Close(n.bell)
	unix.Close(n.asyncBell)
	if n.draining.Load() {
		return errors.New("a sleeper still uses the channel")
	}
	if n.registered != 0 || len(n.qps) != 0 {
		return fmt.Errorf("%d registrations and %d queue pairs are left", n.registered, len(n.qps))
	}
	return nil
}
