package tcp

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/testkit/tcpproxy"
)

// encrypted has a rank use TLS.
func encrypted(c *fabric.Config) {
	if c.Options == nil {
		c.Options = map[string]string{}
	}
	c.Options[envTLS] = "1"
}

// plainAndTLS runs a test without TLS and with it.
func plainAndTLS(t *testing.T, f func(t *testing.T, change func(*fabric.Config))) {
	t.Run("plain", func(t *testing.T) { f(t, func(*fabric.Config) {}) })
	t.Run("TLS", func(t *testing.T) { f(t, encrypted) })
}

// sealPair returns two ends that have agreed on keys.
func sealPair(t *testing.T) (near, far *sealed) {
	t.Helper()
	config, err := newTLS()
	if err != nil {
		t.Fatal(err)
	}
	a, b := net.Pipe()
	near, far = newSealed(a), newSealed(b)
	near.tls, far.tls = tls.Client(&near.under, config), tls.Server(&far.under, config)
	var wg sync.WaitGroup
	for _, s := range []*sealed{near, far} {
		wg.Go(func() {
			if _, err := s.channel(0, 1, nil); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	near.open(new(buffers))
	far.open(new(buffers))
	return near, far
}

// The secret that a test looks for on the wire.
var secret = []byte("nobody on the way may read these words of a message")

// secretIn sends the secret over both connections of two ranks.
func secretIn(t *testing.T, change func(*fabric.Config)) (said []byte) {
	ms := mates(t, 2, change)
	a, b := ms[0], ms[1]
	card, r := through(t, b, nil)
	meetBoth(t, a, b, card)
	b.loose = true
	mem, own := b.region(make([]byte, bulkMin)), a.region(bytes.Repeat(secret, bulkMin/len(secret)))
	begun := false
	pump(t, "a Put", func() bool {
		begun = begun || a.begin(1, func(op fabric.Op) error { return a.eps[1].Put(own, mem.Region.Remote, op) })
		return a.ended == 1
	}, a, b)
	if !bytes.HasPrefix(mem.Bytes, secret) {
		t.Fatal("the secret has not arrived")
	}
	r.Close() // behind the last that is said
	for _, c := range r.Conns() {
		said = append(append(said, c.Said(tcpproxy.Up)...), c.Said(tcpproxy.Down)...)
	}
	return said
}

func TestWhoListensReadsNothingUnderTLS(t *testing.T) {
	if !bytes.Contains(secretIn(t, nil), secret) {
		t.Error("without TLS the words are not found: the test finds nothing")
	}
	if said := secretIn(t, encrypted); len(said) < bulkMin || bytes.Contains(said, secret[:12]) {
		t.Errorf("%d bytes, and the words among them", len(said))
	}
}

// Both ranks say in words that one encrypts and the other does not.
func TestRanksThatDoNotAgreeOnTLS(t *testing.T) {
	for dialer := range 2 {
		ms := mates(t, 2, func(c *fabric.Config) {
			c.Options[envTLS] = fmt.Sprint(c.Rank)
		})
		a, b := ms[dialer], ms[1-dialer]
		a.meet(b, nil)
		pump(t, "the refusal", func() bool { return a.down[b.rank] != nil }, a, b)
		for _, words := range []string{"WEFT_TCP_TLS=1 is set for rank 1 and not for rank 0", "alike"} {
			if !strings.Contains(a.down[b.rank].Error(), words) {
				t.Errorf("rank %d says: %v", a.rank, a.down[b.rank])
			}
		}
	}
}

func TestTheSettingOfTLS(t *testing.T) {
	for v, want := range map[string]bool{"": false, "0": false, "1": true} {
		if s, err := readSettings(map[string]string{envTLS: v}); err != nil || s.tls != want {
			t.Errorf("%q: %v, %v", v, s.tls, err)
		}
	}
	for _, v := range []string{"yes", "2", "on", "01"} {
		_, err := readSettings(map[string]string{envTLS: v})
		if e, ok := errors.AsType[*fabric.Error](err); !ok || !strings.Contains(err.Error(), v) || e.Remedy == "" {
			t.Errorf("%q: %v", v, err)
		}
	}
}

// middleman passes the greeting on, then has a TLS connection with each side, and
// passes on what they say. read returns what that was.
func middleman(t *testing.T, to string) (addr netip.AddrPort, read func() []byte) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	config, err := newTLS()
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	var said []byte
	note := func(b []byte) {
		mu.Lock()
		said = append(said, b...)
		mu.Unlock()
	}
	serve := func(near, far net.Conn) {
		defer near.Close()
		defer far.Close()
		var both sync.WaitGroup
		both.Go(func() { io.CopyN(far, near, saidUp) })
		both.Go(func() { io.CopyN(near, far, saidDown) })
		both.Wait()
		server, client := tls.Server(near, config), tls.Client(far, config)
		both.Go(func() { server.Handshake() })
		both.Go(func() { client.Handshake() })
		both.Wait()
		pass := func(to io.Writer, from io.Reader) {
			buf := make([]byte, 4096)
			for {
				n, err := from.Read(buf)
				note(buf[:n])
				if _, werr := to.Write(buf[:n]); err != nil || werr != nil {
					near.Close()
					far.Close()
					return
				}
			}
		}
		both.Go(func() { pass(client, server) })
		both.Go(func() { pass(server, client) })
		both.Wait()
	}
	wg.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", to)
			if err != nil {
				near.Close()
				continue
			}
			mu.Lock()
			open = append(open, near, far)
			mu.Unlock()
			wg.Go(func() { serve(near, far) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range open {
			c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return netip.MustParseAddrPort(l.Addr().String()), func() []byte {
		mu.Lock()
		defer mu.Unlock()
		return bytes.Clone(said)
	}
}

// saidUp and saidDown are what the sides say in clear before TLS.
const (
	saidUp   = 72 + 32 + 4 + 1 // opening, proof, offer, ready
	saidDown = 36 + 32 + 4     // greeting, proof, verdict with an answer
)

// Somebody who passes the greeting on, and has keys of his own with each side, is
// found before anything but proofs has passed. So it is with a job's key and without.
func TestAManInTheMiddleIsRefused(t *testing.T) {
	for _, key := range []fabric.Key{{}, {1, 2, 3}} {
		ms := mates(t, 2, func(c *fabric.Config) {
			encrypted(c)
			c.Key = key
		})
		a, b := ms[0], ms[1]
		card, err := decodeCard(b.d.Addr())
		if err != nil {
			t.Fatal(err)
		}
		addr, read := middleman(t, card.Listen[0].String())
		card.Listen = []netip.AddrPort{addr}
		a.meet(b, card.encode())
		pump(t, "the refusal", func() bool { return a.down[1] != nil || a.d.eps[1].msg != nil }, a, b)
		if a.down[1] == nil {
			t.Fatal("the dialer has taken the connection")
		}
		if !strings.Contains(a.down[1].Error(), "somebody else has the other end of the encrypted connection") {
			t.Errorf("the words are: %v", a.down[1])
		}
		if n := len(read()); n != 32 { // the listener's proof, which was no good
			t.Errorf("%d bytes were read on the way", n)
		}
		if b.d.eps[0] != nil {
			t.Error("the listener has taken the connection")
		}
	}
}

// A record that the peer has not made ends the connection, and is not taken for the
// end of the peer's process.
func TestWhatIsChangedOnTheWayEndsTheConnection(t *testing.T) {
	ms := mates(t, 2, encrypted)
	a, b := ms[0], ms[1]
	meetAll(t, a, b)
	// What the peer's kernel gets is no record of its keys.
	if _, err := unix.Write(b.d.eps[0].msg.fd, append([]byte{23, 3, 3, 0, 40}, make([]byte, 40)...)); err != nil {
		t.Fatal(err)
	}
	pump(t, "the end", func() bool { return a.down[1] != nil }, a)
	if !strings.Contains(a.down[1].Error(), errAltered.Error()) {
		t.Errorf("the words are: %v", a.down[1])
	}
}

// Whatever happens to a connection, at whichever byte of greeting, handshake or
// records: the ranks agree on the outcome, and messages come whole, once and in order.
func TestCutsAndDelaysAtAnyByteOfTLS(t *testing.T) {
	seeds := uint64(40)
	if testing.Short() {
		seeds = 12
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 3))
			var faults [2][]tcpproxy.Fault
			for i := range faults {
				at := int64(0)
				for range r.IntN(12) {
					at += r.Int64N(1 << r.IntN(18))
					faults[i] = append(faults[i], tcpproxy.Fault{Dir: tcpproxy.Direction(r.IntN(2)), At: at, Do: tcpproxy.Delay, For: time.Duration(r.IntN(2000)) * time.Microsecond})
				}
				switch r.IntN(3) {
				case 0:
					faults[i] = append(faults[i], tcpproxy.Fault{Dir: tcpproxy.Direction(r.IntN(2)), At: r.Int64N(1 << (5 + r.IntN(15))), Do: tcpproxy.Reset})
				case 1:
					faults[i] = append(faults[i], tcpproxy.Fault{Dir: tcpproxy.Direction(r.IntN(2)), At: r.Int64N(1 << (5 + r.IntN(15))), Do: tcpproxy.Half})
				}
			}
			u, _ := newDuel(t, encrypted, func(n int) []tcpproxy.Fault {
				if n >= len(faults) {
					return nil
				}
				return faults[n]
			})
			for _, m := range []*mate{u.a, u.b} {
				m.max = 1 + r.IntN(64)
			}
			u.fight(t)
		})
	}
}

// A Poll behind Arm that returns 0 has left nothing in TLS, of which the epoll would
// never tell, however many other peers are busy.
func TestNothingIsLeftInTLS(t *testing.T) {
	ms := mates(t, hotMost+3, encrypted)
	a := ms[0]
	for _, m := range ms[1:] {
		meetBoth(t, a, m, nil)
		if err := unix.SetsockoptInt(a.d.eps[m.rank].msg.fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 1<<20); err != nil {
			t.Fatal(err)
		}
	}
	for len(a.d.hot) > 0 { // no connection is read without the epoll's word
		a.d.Poll(a, a.max)
	}
	for _, m := range ms[1:] {
		// A little more than is read at once: the rest lies in the last record.
		for _, n := range []int{60000, 60000, bufferSize - 120000 + 6000} {
			pump(t, "room", func() bool { return m.send(0, n) }, m)
		}
		pump(t, "the messages to arrive", func() bool {
			n, err := unix.IoctlGetInt(m.d.eps[0].msg.fd, unix.SIOCOUTQ)
			return err == nil && n == 0 && m.d.eps[0].msg.clear()
		}, m)
	}
	for {
		a.d.Arm(fabric.WakeAll)
		if a.d.Poll(a, a.max) == 0 {
			break
		}
	}
	for _, m := range ms[1:] {
		if a.got[m.rank] != m.sent[0] {
			t.Errorf("%d messages of %d from rank %d before a Poll says that there is nothing", a.got[m.rank], m.sent[0], m.rank)
		}
	}
}
