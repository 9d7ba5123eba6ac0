package verbs

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
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
// goroutine, and runs beside meanwhile. The receiver begins to look when the
// sender can send no more.
func stream(t *testing.T, ds []*Domain, ep fabric.Endpoint, count uint64, beside func()) {
	t.Helper()
	c := &checker{t: t}
	full, done := make(chan struct{}), make(chan struct{})
	fill := sync.OnceFunc(func() { close(full) })
	defer fill()
	go func() {
		defer close(done)
		<-full
		for c.n < count && c.bad == 0 && t.Context().Err() == nil {
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
			fill()
			if ds[0].Poll(nobody{}, 64) == 0 {
				runtime.Gosched()
			}
		default:
			t.Fatalf("message %d: %v", i, err)
		}
	}
	fill()
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
				opener, count = func(cfg fabric.Config) (*Domain, error) { return narrow(cfg, func(a *ibv.Attr) { a.MaxSRQ = 4 }) }, 500
			} else {
				opener = func(cfg fabric.Config) (*Domain, error) {
					return open(cfg, portInfo{device: "fake0", mtu: 5, ethernet: true, reads: 1, answers: 1}, "127.0.0.1", ibv.Attr{MaxSRQ: 4}, w.open)
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
			naks := func() int { return w.rnr }
			if kind == "device" {
				naks = func() int { return hardwareCounter(t, ds[0], "rcvd_rnr_err") }
			}
			before := naks()
			stream(t, ds, eps[0], count, nil)
			found := naks() - before
			// The kernel reads a device's counters anew each 10 ms.
			for end := time.Now().Add(patience); before >= 0 && found == 0 && time.Now().Before(end); found = naks() - before {
				runtime.Gosched()
			}
			switch {
			case before < 0:
				t.Log("the device does not count how often it was told that the receiver is not ready")
			case found == 0:
				t.Error("no message found the receiver without a slot: nothing is proved")
			default:
				t.Logf("%d of %d messages found the receiver without a slot", found, count)
			}
		})
	}
}

// narrow opens the device as if it could do less.
func narrow(cfg fabric.Config, less func(*ibv.Attr)) (*Domain, error) {
	s, err := find(os.Getenv)
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
		return narrow(cfg, func(a *ibv.Attr) { a.MaxCQE = 2*ibv.MaxSends + 16 })
	}}
	ds, eps := connected(t, j)
	if ds[0].budget != 16 {
		t.Fatalf("budget %d", ds[0].budget)
	}
	p := &pressed{Endpoint: eps[0], d: ds[0]}
	stream(t, ds, p, 3000, nil)
	if p.full == 0 {
		t.Error("the completion queue never had all it may hold: nothing is proved")
	}
	t.Logf("%d sends had to wait for room in the completion queue", p.full)
}

// pressed counts the sends that wait because as much is outstanding as the
// completion queue may hold.
type pressed struct {
	fabric.Endpoint
	d    *Domain
	full int
}

func (p *pressed) Send(kind uint8, imm uint64, hdr, body []byte) error {
	err := p.Endpoint.Send(kind, imm, hdr, body)
	if err == fabric.ErrAgain && p.d.outstanding == p.d.budget {
		p.full++
	}
	return err
}

// hardwareCounter reads a counter of the domain's port, -1 if it has none.
func hardwareCounter(t *testing.T, d *Domain, name string) int {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/sys/class/infiniband/%s/ports/%d/hw_counters/%s", d.port.device, d.port.number, name))
	if errors.Is(err, os.ErrNotExist) {
		return -1
	}
	n, aerr := strconv.Atoi(strings.TrimSpace(string(b)))
	if err = errors.Join(err, aerr); err != nil {
		t.Fatal(err)
	}
	return n
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
