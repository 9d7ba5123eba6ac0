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
	nic        *fakeNIC
	start, end uint64
	access     uint32
}

// fakeSend is a work request with the data that it took along.
type fakeSend struct {
	sendDesc
	inline [wantInline]byte
	n      int
}

type fakeNIC struct {
	w          *fakeNet
	r          rings
	base       uint64
	size       uint32
	srq        []uint32
	rcq, scq   []doneDesc
	armedRecv  int // 1 solicited, 2 any
	armedSend  bool
	events     int
	bell       int
	asyncBell  int
	asyncs     []asyncEvent
	options    nicOptions
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

func (w *fakeNet) open(o nicOptions) (nic, error) {
	n := &fakeNIC{w: w, options: o}
	n.r = rings{make([]sendDesc, sendRing), make([]uint32, recvRing), make([]doneDesc, doneRing), make([]doneDesc, doneRing)}
	n.r.locate()
	n.bell, _ = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	n.asyncBell, _ = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	return n, nil
}

func (n *fakeNIC) rings() *rings                        { return &n.r }
func (n *fakeNIC) slots(base uint64, size, lkey uint32) { n.base, n.size = base, size }
func (n *fakeNIC) eventFD() int                         { return n.bell }
func (n *fakeNIC) asyncFD() int                         { return n.asyncBell }

func (n *fakeNIC) async() (asyncEvent, bool) {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	if len(n.asyncs) == 0 {
		drainFD(n.asyncBell)
		return asyncEvent{}, false
	}
	ev := n.asyncs[0]
	n.asyncs = n.asyncs[1:]
	return ev, true
}

func (n *fakeNIC) report(ev asyncEvent) {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	n.asyncs = append(n.asyncs, ev)
	unix.Write(n.asyncBell, oneRing)
}

func drainFD(fd int) { var b [8]byte; unix.Read(fd, b[:]) }

func (n *fakeNIC) turn(sends, recvs, maxRecv, maxSend, _ int) polled {
	w := n.w
	w.mu.Lock()
	defer w.mu.Unlock()
	n.crossings++
	n.srq = append(n.srq, n.r.recvs[:recvs]...)
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
		d := n.r.sends[i]
		if d.op == opWrite && d.seg[0].length == 8 {
			n.writes++
		}
		q := w.qps[uint32(d.qp)]
		if w.full {
			n.r.sends[i].refused = int32(syscall.ENOMEM)
			refused++
			continue
		}
		if q.failed && !w.mute {
			q.done(d, statusFlushed)
			continue
		}
		q.waiting = append(q.waiting, fakeSend{sendDesc: d})
		f := &q.waiting[len(q.waiting)-1]
		if d.flags&flagInline != 0 { // taken now, since the slot is used again
			f.n = copy(f.inline[:], memoryAt(d.seg[0].addr, int(d.seg[0].length)))
		}
	}
	for _, q := range n.qps {
		q.progress()
	}
	r := copy(n.r.rdone[:maxRecv], n.rcq)
	n.rcq = append(n.rcq[:0], n.rcq[r:]...)
	s := copy(n.r.sdone[:maxSend], n.scq)
	n.scq = append(n.scq[:0], n.scq[s:]...)
	return polled(r | s<<16 | refused<<32)
}

func (q *fakeQP) progress() {
	for len(q.waiting) > 0 && q.ready && !q.failed && !q.nic.w.silent && q.id.number != q.nic.w.stuck {
		status, again := q.carry(&q.waiting[0])
		if again {
			return
		}
		d := q.waiting[0].sendDesc
		q.waiting = q.waiting[:copy(q.waiting, q.waiting[1:])]
		q.done(d, status)
		if status != 0 {
			q.fail()
		}
	}
}

// done makes the completion of a send.
func (q *fakeQP) done(d sendDesc, status uint8) {
	if d.flags&flagSignaled == 0 && status == 0 {
		return
	}
	n := q.nic
	n.scq = append(n.scq, doneDesc{id: d.id, qpn: q.id.number, status: uint32(status)})
	if n.armedSend {
		n.armedSend = false
		n.ring()
	}
}

func (n *fakeNIC) ring() {
	n.events++
	unix.Write(n.bell, oneRing)
}

func (q *fakeQP) fail() {
	if q.failed {
		return
	}
	q.failed = true
	if q.nic.w.mute {
		return
	}
	for i := range q.waiting {
		q.done(q.waiting[i].sendDesc, statusFlushed)
	}
	q.waiting = nil
}

// ofOwn says whether the data are the descriptor's own.
func (s *sendDesc) ofOwn() bool { return s.segments > 0 && s.seg[0].addr == s.ownAt }

// key and word are what an atomic operation has elsewhere than others.
func (s *sendDesc) key() uint32 {
	if s.op == opFetchAdd || s.op == opCompareSwap {
		return s.wordKey
	}
	return s.rkey
}

func (s *sendDesc) word() uint64 {
	b := binary.NativeEndian.AppendUint32(nil, s.rkey)
	return binary.NativeEndian.Uint64(binary.NativeEndian.AppendUint32(b, s.high))
}

// carry does what a work request says, at once.
func (q *fakeQP) carry(d *fakeSend) (status uint8, again bool) {
	w := q.nic.w
	p := w.qps[q.peer]
	if p == nil || p.failed || !p.ready {
		return statusRetries, false
	}
	if f := w.fault; f != 0 && (w.at == "" || w.at == q.nic.options.device) {
		w.fault = 0
		return f, false
	}
	data := append(q.nic.scratch[:0], d.inline[:d.n]...)
	for i := range int(d.segments) {
		if d.flags&flagInline != 0 {
			break
		}
		if !w.mayUse(d.seg[i].lkey, q.nic, d.seg[i].addr, d.seg[i].length, 0) {
			return 4, false
		}
		data = append(data, memoryAt(d.seg[i].addr, int(d.seg[i].length))...)
	}
	q.nic.scratch = data
	length := uint32(len(data))
	if d.op == opRead || d.op == opWrite {
		q.nic.moved += uint64(length)
	}
	want := [...]uint32{opSend: 0, opWrite: accessRemoteWrite, opWriteNote: accessRemoteWrite, opRead: accessRemoteRead,
		opFetchAdd: accessRemoteAtomic, opCompareSwap: accessRemoteAtomic}[d.op]
	if d.op != opSend && length > 0 && !w.mayUse(d.key(), p.nic, d.remote, length, want) {
		p.fail()
		return statusRemoteAccess, false
	}
	if (d.op == opSend || d.op == opWriteNote) && len(p.nic.srq) == 0 {
		w.rnr++
		return 0, true
	}
	if d.op != opWrite || d.ofOwn() && length == 8 {
		p.nic.settle()
	}
	if w.halted(&d.sendDesc, data) {
		return 0, true
	}
	switch d.op {
	case opSend:
		slot := p.nic.takeSlot()
		if length > p.nic.size {
			return 9, false
		}
		copy(memoryAt(p.nic.base+uint64(slot)*uint64(p.nic.size), int(p.nic.size)), data)
		p.nic.received(doneDesc{id: uint64(slot), bytes: length, qpn: p.id.number}, d.flags&flagSolicited != 0)
	case opWrite, opWriteNote:
		if length > 0 {
			if d.ofOwn() && length == 8 {
				storeWord(d.remote, d.own)
			} else if w.posted && d.op == opWrite && !d.ofOwn() {
				data, remote := bytes.Clone(data), d.remote
				p.nic.written = append(p.nic.written, func() { copy(memoryAt(remote, int(length)), data) })
			} else {
				copy(memoryAt(d.remote, int(length)), data)
			}
		}
		if d.op == opWriteNote {
			slot := p.nic.takeSlot()
			p.nic.received(doneDesc{id: uint64(slot), bytes: length, qpn: p.id.number, op: recvNoted, data: d.note}, d.flags&flagSolicited != 0)
		}
	case opRead:
		if length > 0 {
			copy(memoryAt(d.seg[0].addr, int(length)), memoryAt(d.remote, int(length)))
		}
	case opFetchAdd, opCompareSwap:
		word := memoryAt(d.remote, 8)
		old := binary.NativeEndian.Uint64(word)
		binary.NativeEndian.PutUint64(memoryAt(d.seg[0].addr, 8), old)
		if d.op == opFetchAdd {
			binary.NativeEndian.PutUint64(word, old+d.word())
		} else if old == d.word() {
			binary.NativeEndian.PutUint64(word, d.swap)
		}
	}
	return 0, false
}

// settle brings to memory what has been written.
func (n *fakeNIC) settle() {
	for _, f := range n.written {
		f()
	}
	n.written = nil
}

func (n *fakeNIC) takeSlot() uint32 {
	slot := n.srq[0]
	n.srq = n.srq[:copy(n.srq, n.srq[1:])]
	return slot
}

func (n *fakeNIC) received(c doneDesc, solicited bool) {
	n.rcq = append(n.rcq, c)
	if n.armedRecv == 2 || n.armedRecv == 1 && solicited {
		n.armedRecv = 0
		n.ring()
	}
}

func (w *fakeNet) mayUse(key uint32, n *fakeNIC, addr uint64, length, access uint32) bool {
	m, ok := w.mrs[key]
	return ok && m.nic == n && addr >= m.start && addr+uint64(length) <= m.end && addr+uint64(length) >= addr && m.access&access == access
}

func (n *fakeNIC) arm(solicited bool) error {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	n.armedSend = true
	if n.armedRecv = max(n.armedRecv, 1); !solicited {
		n.armedRecv = 2
	}
	return nil
}

func (n *fakeNIC) drain() int {
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

func (n *fakeNIC) register(addr uint64, length int, access uint32) (mr, error) {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	if n.w.refuse != nil {
		n.w.refuse()
		return mr{}, syscall.ENOMEM
	}
	n.w.next += 7
	n.w.mrs[n.w.next] = fakeMR{n, addr, addr + uint64(length), access}
	n.registered++
	return mr{uint64(n.w.next), n.w.next, n.w.next}, nil
}

func (n *fakeNIC) deregister(m mr) error {
	n.w.mu.Lock()
	defer n.w.mu.Unlock()
	if _, ok := n.w.mrs[m.rkey]; !ok {
		return fmt.Errorf("key %d is not registered", m.rkey)
	}
	n.calls = append(n.calls, "deregister")
	if n.grips > 0 {
		n.grips--
		return syscall.EBUSY
	}
	delete(n.w.mrs, m.rkey)
	n.registered--
	return nil
}

// close complains of what is left behind.
func (n *fakeNIC) close() error {
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
