package tcp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"log/slog"
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// wired is rank 0 of two whose connections are sockets that the test holds the
// other ends of.
func wired(t *testing.T, kinds ...bool) (d *Domain, e *endpoint, far []int) {
	t.Helper()
	dom, err := fabric.Open(Provider{}, fabric.Config{Size: 2, Job: t.Name(), Log: slog.New(slog.DiscardHandler),
		Options: map[string]string{envDeadline: "0"}}) // no beat rings
	if err != nil {
		t.Fatal(err)
	}
	d = dom.(*Domain)
	t.Cleanup(func() { d.Close() })
	e = d.endpoint(1)
	for _, bulk := range kinds {
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		unix.SetsockoptInt(fds[0], unix.SOL_SOCKET, unix.SO_SNDBUF, 4096)
		c := newConn(e, fds[0], bulk)
		if err := d.add(c); err != nil {
			t.Fatal(err)
		}
		if bulk {
			e.bulk, e.asked = c, true
		} else {
			e.msg = c
		}
		t.Cleanup(func() { unix.Close(fds[1]) })
		far = append(far, fds[1])
	}
	return d, e, far
}

// nothing ignores what a Poll tells.
type nothing struct{}

func (nothing) Deliver(fabric.Peer, uint8, uint64, []byte, []byte) {}
func (nothing) Complete(fabric.Op, error)                          {}
func (nothing) PeerDown(fabric.Peer, error)                        {}

// Frames are whole and messages in their order, however little the kernel accepts
// at a time, and whatever else goes over the connection.
func TestFramesAreWrittenWhole(t *testing.T) { plainAndTLS(t, framesAreWrittenWhole) }

func framesAreWrittenWhole(t *testing.T, change func(*fabric.Config)) {
	var cfg fabric.Config
	change(&cfg)
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 1))
		d, e, far := wired(t, false)
		if seed%2 > 0 {
			unix.SetsockoptInt(e.msg.fd, unix.SOL_SOCKET, unix.SO_SNDBUF, 200<<10)
		}
		var stream []byte
		buf := make([]byte, 10000)
		read := func(b []byte) (int, unix.Errno) { return receiveOne(far[0], b) }
		if cfg.Options[envTLS] != "" {
			near, seal := sealPair(t)
			e.msg.seal = near
			read = func(b []byte) (int, unix.Errno) { return seal.receive(far[0], &[3][]byte{b}) }
		}
		drain := func(most int) {
			for most > 0 {
				n, errno := read(buf[:min(most, len(buf))])
				if n <= 0 || errno != 0 {
					return
				}
				stream, most = append(stream, buf[:n]...), most-n
			}
		}
		data := make([]byte, 300<<10)
		for i := range data {
			data[i] = byte(i * 7)
		}
		sent, puts := 0, 0
		for range 400 {
			switch r.IntN(6) {
			case 0:
				n := r.IntN(len(data))
				if e.Put(fabric.Segment{Bytes: data[:n]}, fabric.Remote{Addr: 1, Len: uint64(n)}, fabric.Op(1)) == nil {
					puts++
				}
			case 1:
				d.Poll(nothing{}, 64)
			case 2:
				drain(r.IntN(100000))
			default:
				body := data[:r.IntN(40)]
				if r.IntN(4) == 0 {
					body = data[:r.IntN(maxEager)]
				}
				if e.Send(1, uint64(sent), data[:r.IntN(fabric.MaxHeader)], body) == nil {
					sent++
				}
			}
		}
		for last := -1; last != len(stream) || len(d.sending) > 0; {
			last = len(stream)
			d.Poll(nothing{}, 64)
			drain(1 << 20)
		}
		messages, pieces := 0, map[uint64]uint64{}
		for len(stream) > 0 {
			h, ok := readHeader(stream)
			if !ok {
				t.Fatalf("seed %d: no frame begins behind message %d", seed, messages)
			}
			more, body := stream[headerSize:headerSize+int(h.more)], stream[headerSize+int(h.more):][:h.body]
			stream = stream[headerSize+int(h.more)+int(h.body):]
			at := uint64(0)
			switch h.form {
			case formMessage:
				if h.imm != uint64(messages) {
					t.Fatalf("seed %d: message %d in the place of %d", seed, h.imm, messages)
				}
				messages++
			case formPut:
				at = binary.LittleEndian.Uint64(more[24:])
				if at != pieces[h.imm] {
					t.Fatalf("seed %d: a piece at %d in the place of %d", seed, at, pieces[h.imm])
				}
				if pieces[h.imm] += uint64(h.body); more[32] != 0 {
					puts--
				}
			}
			if !bytes.Equal(body, data[at:][:h.body]) {
				t.Fatalf("seed %d: the body of a frame of form %d is another", seed, h.form)
			}
		}
		if messages != sent || puts != 0 {
			t.Errorf("seed %d: %d messages of %d, %d Puts without an end", seed, messages, sent, puts)
		}
	}
}

// A connection has memory only while something is in it.
func TestAnIdleConnectionHasNoBuffers(t *testing.T) {
	d, e, far := wired(t, false, true)
	for range 3 {
		for e.Send(1, 0, nil, make([]byte, maxEager)) == nil { // until nothing is accepted
		}
		b := make([]byte, headerSize+8)
		header{form: formMessage, kind: 1, body: 8}.put(b)
		unix.Write(far[0], b[:headerSize+3])
		d.Arm(fabric.WakeAll) // has the Poll look everywhere
		d.Poll(nothing{}, 64)
		if e.msg.in == nil || e.msg.staged == nil {
			t.Fatal("what is under way lies nowhere")
		}
		unix.Write(far[0], b[headerSize+3:])
		for buf := make([]byte, 1<<20); d.Poll(nothing{}, 64) > 0 || len(d.sending) > 0; {
			unix.Read(far[0], buf)
			d.Arm(fabric.WakeAll)
		}
		for _, c := range []*conn{e.msg, e.bulk} {
			if c.in != nil || c.staged != nil {
				t.Error("an idle connection has buffers")
			}
		}
	}
	if n := len(d.buffers.free); n > 3 {
		t.Errorf("%d buffers for what one connection had under way", n)
	}
}

// downs notes the ends of peers.
type downs struct {
	nothing
	errs []error
}

func (h *downs) PeerDown(_ fabric.Peer, err error) { h.errs = append(h.errs, err) }

// data is a frame with a piece of a Get.
func data(id, at uint64, body []byte) []byte {
	b := make([]byte, headerSize+8)
	header{form: formData, more: 8, imm: id, body: uint32(len(body))}.put(b)
	binary.LittleEndian.PutUint64(b[headerSize:], at)
	return append(b, body...)
}

// The pieces of a Get come over both connections, in any order. A peer that sends
// more than was asked for would write to memory that is the user's again.
func TestThePiecesOfAGet(t *testing.T) {
	for name, c := range map[string]struct {
		second []byte // over the other connection, while the first is under way
		good   bool
	}{
		"the other half":    {data(0, 4, []byte("efgh")), true},
		"the same half":     {data(0, 0, []byte("efgh")), true}, // wrong data, but no more
		"more than is left": {data(0, 0, []byte("efghi")), false},
		"behind the end":    {data(0, 5, []byte("efgh")), false},
		"far behind":        {data(0, 1<<63, []byte("efgh")), false},
		"another operation": {data(1, 4, []byte("efgh")), false},
	} {
		t.Run(name, func(t *testing.T) {
			d, e, far := wired(t, false, true)
			mem := make([]byte, 16)
			if err := e.Get(fabric.Segment{Bytes: mem[:8]}, fabric.Remote{Len: 8}, fabric.Op(1)); err != nil {
				t.Fatal(err)
			}
			id := e.list.head.id
			le := binary.LittleEndian
			le.PutUint64(c.second[8:], le.Uint64(c.second[8:])+id)
			first := data(id, 0, []byte("abcd"))
			unix.Write(far[0], first[:len(first)-2])
			var h downs
			for d.Poll(&h, 64) > 0 {
			}
			unix.Write(far[1], c.second)
			for range 2 * sweepEvery {
				d.Poll(&h, 64)
			}
			if bad := len(h.errs) > 0; bad == c.good || bad && !errors.Is(h.errs[0], fabric.ErrPeerDown) {
				t.Fatalf("the peer's end is told by %v", h.errs)
			}
			if c.good {
				unix.Write(far[0], first[len(first)-2:])
				for range 2 * sweepEvery {
					d.Poll(&h, 64)
				}
				if e.list.head != nil {
					t.Error("the Get is not complete")
				}
			}
			if !bytes.Equal(mem[8:], make([]byte, 8)) {
				t.Errorf("memory behind that of the Get is written: %q", mem)
			}
		})
	}
}

// put is a frame with a whole Put.
func put(id uint64, to fabric.Remote, body []byte) []byte {
	b := make([]byte, headerSize+int(moreOf[formPut]))
	header{form: formPut, more: moreOf[formPut], imm: id, body: uint32(len(body))}.put(b)
	putRemote(b[headerSize:], to)
	b[headerSize+32] = 1
	return append(b, body...)
}

// answer polls until there is a frame for the peer.
func answer(t *testing.T, d *Domain, far int) header {
	t.Helper()
	b := make([]byte, headerSize)
	for range 100 * sweepEvery {
		d.Poll(nothing{}, 64)
		if n, _ := unix.Read(far, b); n == headerSize {
			h, _ := readHeader(b)
			return h
		}
	}
	t.Fatal("no answer")
	return header{}
}

// A registration that ends while a peer writes to it ends at once: what comes later
// goes nowhere, and the peer is told.
func TestMemoryThatIsTakenBackIsNotWritten(t *testing.T) {
	d, _, far := wired(t, false)
	mem := make([]byte, 8)
	r, err := d.Register(mem, fabric.RemoteWrite)
	if err != nil {
		t.Fatal(err)
	}
	f := put(7, r.Remote, []byte("abcdefgh"))
	unix.Write(far[0], f[:len(f)-4])
	for range 2 * sweepEvery {
		d.Poll(nothing{}, 64)
	}
	if err := d.Deregister(r); err != nil {
		t.Fatal(err)
	}
	copy(mem, "mine....")
	unix.Write(far[0], f[len(f)-4:])
	if h := answer(t, d, far[0]); h.form != formDone || h.imm != 7 || status(h.kind) != statusBadRemote {
		t.Errorf("the peer is told %+v", h)
	}
	if string(mem) != "mine...." {
		t.Errorf("memory that was taken back is written: %q", mem)
	}
}

// A key is good for one registration, and not for the next one in its place.
func TestAnOldKeyIsGoodForNothing(t *testing.T) {
	d, _, far := wired(t, false)
	mem := make([]byte, 8)
	old, err := d.Register(mem, fabric.RemoteWrite)
	if err != nil {
		t.Fatal(err)
	}
	d.Deregister(old)
	if _, err := d.Register(mem, fabric.RemoteWrite); err != nil {
		t.Fatal(err)
	}
	unix.Write(far[0], put(7, old.Remote, []byte("abcdefgh")))
	if h := answer(t, d, far[0]); status(h.kind) != statusBadRemote || !bytes.Equal(mem, make([]byte, 8)) {
		t.Errorf("the peer is told %+v, memory is %q", h, mem)
	}
}
