package tcp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// outcomes notes how operations and peers end.
type outcomes struct {
	downs
	ops map[fabric.Op]error
}

func (h *outcomes) Complete(op fabric.Op, err error) {
	if h.ops == nil {
		h.ops = map[fabric.Op]error{}
	}
	h.ops[op] = err
}

// settle polls until all that lies in the sockets is taken.
func settle(d *Domain, h fabric.Handler) {
	for range 2 * sweepEvery {
		d.Poll(h, 64)
	}
}

// refusal is a frame that ends a Get of which n bytes were sent.
func refusal(id, n uint64) []byte {
	return frames(header{form: formDone, kind: uint8(statusBadRemote), more: 8, imm: id}, binary.LittleEndian.AppendUint64(nil, n))
}

// A Get whose memory the peer takes back ends behind the last piece that was sent,
// though the news may come over the other connection and be faster. Until then the
// transport writes to its memory.
func TestARefusalMayOvertakePieces(t *testing.T) {
	for name, c := range map[string]struct {
		before []byte // over the connection for messages
		told   uint64 // over the other
		after  []byte // over the connection for messages
		good   bool
	}{
		"before the piece":        {nil, 4, data(0, 0, []byte("abcd")), true},
		"in the piece":            {data(0, 0, []byte("abcd"))[:headerSize+8+2], 4, []byte("cd"), true},
		"behind the piece":        {data(0, 0, []byte("abcd")), 4, nil, true},
		"no piece at all":         {nil, 0, nil, true},
		"less than has begun":     {data(0, 0, []byte("abcd"))[:headerSize+8+2], 0, nil, false},
		"more than was asked for": {nil, 9, nil, false},
		"pieces behind the end":   {nil, 4, data(0, 0, []byte("abcde")), false},
	} {
		t.Run(name, func(t *testing.T) {
			d, e, far := wired(t, false, true)
			mem := make([]byte, 8)
			if err := e.Get(fabric.Segment{Bytes: mem}, fabric.Remote{Len: 8}, 1); err != nil {
				t.Fatal(err)
			}
			id := e.list.head.id
			for _, b := range [][]byte{c.before, c.after} {
				if len(b) > headerSize {
					binary.LittleEndian.PutUint64(b[8:], id)
				}
			}
			var h outcomes
			unix.Write(far[0], c.before)
			settle(d, &h)
			unix.Write(far[1], refusal(id, c.told))
			settle(d, &h)
			if _, ended := h.ops[1]; c.good && ended != (c.after == nil) {
				t.Errorf("the Get is over: %t", ended)
			}
			unix.Write(far[0], c.after)
			settle(d, &h)
			if c.good && (len(h.errs) > 0 || !errors.Is(h.ops[1], fabric.ErrBadRemote)) {
				t.Errorf("the Get ends with %v, the peer with %v", h.ops[1], h.errs)
			}
			if !c.good && (len(h.errs) != 1 || !errors.Is(h.errs[0], errProtocol)) {
				t.Errorf("the peer's end is told by %v", h.errs)
			}
		})
	}
}

// The rank that takes memory back says how much of it was sent.
func TestATransferThatEndsSaysHowMuchWasSent(t *testing.T) {
	d, _, far := wired(t, false)
	mem := bytes.Repeat([]byte("mine"), 100<<10)
	r, err := d.Register(mem, fabric.RemoteRead)
	if err != nil {
		t.Fatal(err)
	}
	var m [32]byte
	putRemote(m[:], r.Remote)
	binary.LittleEndian.PutUint64(m[24:], r.Len)
	unix.Write(far[0], frames(header{form: formGet, more: 32, imm: 7}, m[:]))
	var stream []byte
	buf := make([]byte, 10<<10)
	read := func() {
		d.Poll(nothing{}, 64)
		if n, err := unix.Read(far[0], buf); err == nil {
			stream = append(stream, buf[:n]...)
		}
	}
	for len(stream) < 200<<10 { // in the second piece
		read()
	}
	if err := d.Deregister(r); err != nil {
		t.Fatal(err)
	}
	clear(mem)
	for last := -1; last != len(stream) || len(d.sending) > 0; {
		last = len(stream)
		read()
	}
	for sent := uint64(0); ; {
		h, ok := readHeader(stream)
		if !ok {
			t.Fatal("no frame")
		}
		more, body := stream[headerSize:headerSize+int(h.more)], stream[headerSize+int(h.more):][:h.body]
		stream = stream[headerSize+int(h.more)+int(h.body):]
		if h.form == formDone {
			if sent == 0 || len(more) != 8 || binary.LittleEndian.Uint64(more) != sent || len(stream) > 0 {
				t.Errorf("%d bytes were sent, told is %v, %d bytes follow", sent, more, len(stream))
			}
			return
		}
		if sent += uint64(len(body)); bytes.IndexByte(body, 0) >= 0 {
			t.Error("memory that was taken back is sent")
		}
	}
}

// A rank whose own requests wait has room for the replies to all that its peer may
// ask: no rank is ended that has kept to the protocol.
func TestThereIsRoomForEveryReply(t *testing.T) {
	d, e, far := wired(t, false)
	for _, n := range []int{maxEager, 1000, 0} {
		for e.Send(1, 0, nil, make([]byte, n)) == nil {
		}
	}
	own := 0
	for e.Atomic(fabric.Atomic{Kind: fabric.FetchAdd}, fabric.Remote{Len: 8}, fabric.Op(own)) == nil {
		own++
	}
	if own != maxOps {
		t.Errorf("%d Atomics are accepted, want %d", own, maxOps)
	}
	var h outcomes
	ask := frames(header{form: formAtomic, more: moreOf[formAtomic]}, make([]byte, 40), []byte{byte(fabric.FetchAdd)})
	mem := make([]byte, 8)
	r, err := d.Register(mem, fabric.RemoteAtomic)
	if err != nil {
		t.Fatal(err)
	}
	putRemote(ask[headerSize:], r.Remote)
	for range maxOps {
		unix.Write(far[0], ask)
		settle(d, &h)
	}
	unix.Write(far[0], frames(header{form: formPing}))
	settle(d, &h)
	if len(h.errs) > 0 || d.counts.atomics != maxOps {
		t.Errorf("%d Atomics of %d are carried out, %v", d.counts.atomics, maxOps, h.errs)
	}
}

// The failure of a NoOp is told by the first Flush behind it, not by one before it
// that is not over.
func TestAFlushTellsWhatFailedBeforeIt(t *testing.T) {
	d, e, far := wired(t, false)
	var h outcomes
	put := func(op fabric.Op) uint64 {
		if err := e.Put(fabric.Segment{Bytes: []byte("x")}, fabric.Remote{Len: 1}, op); err != nil {
			t.Fatal(err)
		}
		return e.list.tail.id
	}
	first := put(1)
	e.Flush(2)
	second := put(fabric.NoOp)
	e.Flush(3)
	e.Flush(4)
	unix.Write(far[0], frames(header{form: formDone, kind: uint8(statusBadRemote), imm: second}, header{form: formDone, imm: first}))
	settle(d, &h)
	if len(h.ops) != 4 || h.ops[2] != nil || !errors.Is(h.ops[3], fabric.ErrBadRemote) || h.ops[4] != nil {
		t.Errorf("%v, %v", h.ops, h.errs)
	}
}

// A peer that says that a Put is over, of which it has not got all, would have the
// transport read memory that is the user's again.
func TestAPutIsNotOverBeforeItIsSent(t *testing.T) {
	d, e, far := wired(t, false)
	var h outcomes
	e.Put(fabric.Segment{Bytes: make([]byte, 1<<20)}, fabric.Remote{Len: 1 << 20}, 1)
	unix.Write(far[0], frames(header{form: formDone, imm: e.list.head.id}))
	settle(d, &h)
	if len(h.errs) != 1 || !errors.Is(h.errs[0], errProtocol) || !errors.Is(h.ops[1], fabric.ErrPeerDown) {
		t.Errorf("%v, %v", h.ops, h.errs)
	}
}

// The end of a peer ends what it has under way with a region.
func TestADeadPeerHoldsNoRegion(t *testing.T) {
	d, _, far := wired(t, false)
	r, err := d.Register(make([]byte, 1<<20), fabric.RemoteRead|fabric.RemoteWrite)
	if err != nil {
		t.Fatal(err)
	}
	var m [32]byte
	putRemote(m[:], r.Remote)
	binary.LittleEndian.PutUint64(m[24:], r.Len)
	f := put(7, r.Remote, make([]byte, 100))
	get := frames(header{form: formGet, more: 32, imm: 7}, m[:])
	unix.Write(far[0], frames(get, get, f[:len(f)-1]))
	settle(d, nothing{})
	if n := d.regions.of(r.Key).busy; n != 3 {
		t.Fatalf("%d transfers, want 3", n)
	}
	d.End(1, fabric.ErrPeerDown)
	if n := d.regions.of(r.Key).busy; n != 0 {
		t.Errorf("%d transfers of a peer that is down", n)
	}
}

// A Put that goes nowhere is read as fast as another.
func TestABadPutIsReadInLargeParts(t *testing.T) {
	d, e, far := wired(t, false, true)
	unix.SetsockoptInt(far[1], unix.SOL_SOCKET, unix.SO_SNDBUF, 200<<10)
	f := put(7, fabric.Remote{Len: pieceSize}, make([]byte, pieceSize))
	polls := 0
	for ; len(f) > 0 || e.bulk.skip > 0; polls++ {
		n, _ := unix.Write(far[1], f)
		f = f[max(n, 0):]
		d.sweep = true
		d.Poll(nothing{}, 64)
	}
	if polls > pieceSize/headMost/8 {
		t.Errorf("%d Polls", polls)
	}
}
