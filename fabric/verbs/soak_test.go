package verbs

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// checker takes a stream of messages whose bytes follow from their number.
type checker struct {
	nobody
	t   testing.TB
	n   uint64
	bad int
}

var noise = func() []byte {
	b := make([]byte, 1<<16)
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}()

// bodyOf is the body of message i: mostly short, some of the longest.
func bodyOf(i uint64) []byte {
	r := rand.New(rand.NewPCG(i, 9))
	n := r.IntN(128)
	switch r.IntN(20) {
	case 0:
		n = r.IntN(maxEager + 1)
	case 1:
		n = maxEager
	case 2, 3, 4:
		n = r.IntN(1024)
	}
	off := r.IntN(len(noise) - n)
	return noise[off : off+n]
}

func (c *checker) Deliver(_ fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
	if imm != c.n || len(hdr) != 8 || binary.LittleEndian.Uint64(hdr) != ^c.n || !bytes.Equal(body, bodyOf(c.n)) {
		if c.bad++; c.bad < 10 {
			c.t.Errorf("message %d (by its imm %d) of %d bytes is not what was sent", c.n, imm, len(body))
		}
	}
	c.n++
}

// stream sends count messages from one rank to the other, each driven by a
// goroutine, and runs beside meanwhile.
func stream(t *testing.T, ds []*Domain, ep fabric.Endpoint, count uint64, beside func()) {
	t.Helper()
	c := &checker{t: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for end := time.Now().Add(10 * time.Minute); c.n < count && c.bad == 0 && time.Now().Before(end); {
			if ds[1].Poll(c, 64) == 0 {
				runtime.Gosched()
			}
		}
	}()
	var hdr [8]byte
	for i := uint64(0); i < count; {
		binary.LittleEndian.PutUint64(hdr[:], ^i)
		switch err := ep.Send(3, i, hdr[:], bodyOf(i)); err {
		case nil:
			i++
			if beside != nil && i%512 == 0 {
				beside()
			}
		case fabric.ErrAgain:
			if ds[0].Poll(nobody{}, 64) == 0 {
				runtime.Gosched()
			}
		default:
			t.Fatalf("message %d: %v", i, err)
		}
	}
	for {
		select {
		case <-done:
			if c.n != count {
				t.Errorf("%d of %d messages arrived", c.n, count)
			}
			return
		default:
			ds[0].Poll(nobody{}, 64)
		}
	}
}

// messages is how many a stream has: WEFT_MESSAGES, or few.
func messages() uint64 {
	if n, err := strconv.ParseUint(os.Getenv("WEFT_MESSAGES"), 10, 64); err == nil {
		return n
	}
	return 20000
}

func TestAStreamOfMixedMessagesArrivesWhole(t *testing.T) {
	ds, eps := pair(t)
	stream(t, ds, eps[0], messages(), nil)
}

// With more credit than slots the device's own retries keep the stream whole.
func TestAReceiverThatIsNotReadyIsWaitedFor(t *testing.T) {
	for _, kind := range []string{"fake", "device"} {
		t.Run(kind, func(t *testing.T) {
			w := newFakeNet()
			j := fakeJob(w)
			opener := j.open
			count := uint64(2000)
			if kind == "device" {
				needDevice(t)
				opener, count = func(cfg fabric.Config) (*Domain, error) { return narrow(cfg, func(a *attributes) { a.maxSRQ = 4 }) }, 500
			} else {
				opener = func(cfg fabric.Config) (*Domain, error) {
					return open(cfg, portInfo{device: "fake0", mtu: 5, ethernet: true, reads: 1, answers: 1}, "127.0.0.1", attributes{maxSRQ: 4}, w.open)
				}
			}
			j.open = func(cfg fabric.Config) (*Domain, error) {
				d, err := opener(cfg)
				if err == nil {
					d.window = 128
				}
				return d, err
			}
			ds, eps := connected(t, j)
			stream(t, ds, eps[0], count, nil)
			if kind == "fake" && w.rnr == 0 {
				t.Error("no message found the receiver without a slot: nothing is proved")
			}
		})
	}
}

// narrow opens the device as if it could do less.
func narrow(cfg fabric.Config, less func(*attributes)) (*Domain, error) {
	s, err := find()
	if err != nil {
		return nil, err
	}
	a := s[0].port.attr
	less(&a)
	return openSelected(cfg, s, 1, marks{}, a)
}

func TestASmallCompletionQueueIsNeverOverrun(t *testing.T) {
	needDevice(t)
	j := &job{open: func(cfg fabric.Config) (*Domain, error) {
		return narrow(cfg, func(a *attributes) { a.maxCQE = 2*sendRing + 16 })
	}}
	ds, eps := connected(t, j)
	if ds[0].budget != 16 {
		t.Fatalf("budget %d", ds[0].budget)
	}
	stream(t, ds, eps[0], 3000, nil)
}

// Processes are started while messages and READs are under way.
func TestStartingProcessesDisturbsNoTransfer(t *testing.T) {
	ds, eps := pair(t)
	src, dst := make([]byte, 1<<18), make([]byte, 1<<18)
	copy(src, noise)
	from := register(t, ds[1], src, fabric.RemoteRead)
	into := fabric.Segment{Bytes: dst, Region: register(t, ds[0], dst, fabric.LocalWrite)}
	gets := 0
	stream(t, ds, eps[0], 6000, func() {
		clear(dst)
		e := ender{}
		for eps[0].Get(into, from.Remote, 1) == fabric.ErrAgain {
			ds[0].Poll(nobody{}, 64)
		}
		if out, err := exec.Command("/bin/sh", "-c", "exit 0").CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		for !e.ended {
			ds[0].Poll(&e, 64)
		}
		if e.err != nil || !bytes.Equal(src, dst) {
			t.Errorf("Get %d: %v; bytes are right: %t", gets, e.err, bytes.Equal(src, dst))
		}
		gets++
	})
	if gets == 0 {
		t.Error("nothing was started")
	}
}

// resources counts what the kernel holds for this machine's processes.
func resources(t *testing.T) string {
	out, err := exec.Command("rdma", "resource", "show").CombinedOutput()
	if err != nil {
		t.Skipf("rdma resource: %v: %s", err, out)
	}
	return regexp.MustCompile(`\s+`).ReplaceAllString(string(out), " ")
}

func TestNothingIsLeftInTheKernel(t *testing.T) {
	needDevice(t)
	before := resources(t)
	for range 3 {
		j := &job{open: openDevice}
		ds, eps := connected(t, j)
		buf := make([]byte, 4096)
		register(t, ds[0], buf, fabric.RemoteRead)
		register(t, ds[0], buf, fabric.RemoteWrite)
		eps[0].Send(1, 0, nil, buf)
		ds[0].crash()
		m := newMourner()
		m.untilDown(t, ds[1])
		ds[1].Close()
	}
	if after := resources(t); after != before {
		t.Errorf("the kernel holds\n%s\nbefore it held\n%s", after, before)
	}
}

// The link goes down amid a transfer: the operations and the peer end within
// two seconds.
func TestLinkDownEndsPeers(t *testing.T) {
	if os.Getenv("WEFT_ROCE") == "" {
		t.Skip("it takes the network interface down; scripts/roce runs it in a guest")
	}
	ds, eps := pair(t)
	s, err := find()
	if err != nil {
		t.Fatal(err)
	}
	link := s[0].gid().Netdev
	set := func(state string) {
		if out, err := exec.Command("ip", "link", "set", link, state).CombinedOutput(); err != nil {
			t.Fatalf("ip link set %s %s: %v: %s", link, state, err, out)
		}
	}
	src, dst := make([]byte, 4<<20), make([]byte, 4<<20)
	from := register(t, ds[1], src, fabric.RemoteRead)
	into := fabric.Segment{Bytes: dst, Region: register(t, ds[0], dst, fabric.LocalWrite)}
	m := newMourner()
	for op := range fabric.Op(8) {
		if err := eps[0].Get(into, from.Remote, op); err != nil {
			t.Fatal(err)
		}
	}
	ds[0].Poll(m, 64)
	start := time.Now()
	set("down")
	defer func() {
		set("up")
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			if (Provider{}).Available() == nil {
				return
			}
			if time.Now().After(end) {
				t.Error("the port does not come back")
				return
			}
		}
	}()
	m.untilDown(t, ds[0])
	if took := time.Since(start); took > 10*time.Second { // a second on an idle machine
		t.Errorf("the end took %v", took)
	}
	if len(m.ends) != 8 {
		t.Errorf("%d of 8 operations have ended", len(m.ends))
	}
	t.Logf("after %v: %v", time.Since(start).Round(time.Millisecond), m.down[0])
}
