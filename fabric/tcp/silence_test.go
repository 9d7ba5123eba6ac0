package tcp

import (
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/internal/greet"
	"github.com/weft-mpi/weft/internal/testkit/tcpproxy"
	"github.com/weft-mpi/weft/internal/testkit/tier"
)

// silent checks the words about a peer that was silent for the least deadline.
func silent(t testing.TB, err error) {
	t.Helper()
	if err == nil || !errors.Is(err, fabric.ErrPeerDown) || !strings.Contains(err.Error(), "has not answered for "+leastDeadline.String()) {
		t.Errorf("the words are: %v", err)
	}
}

// A link that swallows, in one direction or both, ends both ranks' belief in each
// other, and that of nobody else.
func TestACutLinkIsFound(t *testing.T) {
	for name, dirs := range map[string][]tcpproxy.Direction{
		"both": {tcpproxy.Up, tcpproxy.Down}, "up": {tcpproxy.Up}, "down": {tcpproxy.Down},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ms := mates(t, 3, soon)
			a, b, c := ms[0], ms[1], ms[2]
			meetAll(t, a, c)
			meetBoth(t, b, c, nil, a)
			card, relay := through(t, b, nil)
			meetBoth(t, a, b, card, c)
			for _, dir := range dirs {
				relay.Do(tcpproxy.Swallow, dir)
			}
			word := uint64(0)
			at := b.region(make([]byte, 8)).Region.Remote
			for range 3 {
				a.begin(1, func(op fabric.Op) error {
					return a.eps[1].Atomic(fabric.Atomic{Kind: fabric.FetchAdd, Result: &word}, at, op)
				})
			}
			pump(t, "both to be down", func() bool { return a.down[1] != nil && b.down[0] != nil }, a, b, c)
			// The one that heard nothing says so; the other may have been told.
			if len(dirs) == 2 {
				silent(t, a.down[1])
				silent(t, b.down[0])
			}
			if a.failed == 0 || len(a.pending) > 0 {
				t.Errorf("%d operations have failed, %d are left", a.failed, len(a.pending))
			}
			talk(t, a, c, b)
			talk(t, b, c, a)
		})
	}
}

// The connection for bulk data may be cut where the other is not.
func TestACutOfTheConnectionForBulkDataIsFound(t *testing.T) {
	ms := mates(t, 2, soon)
	a, b := ms[0], ms[1]
	card, relay := through(t, b, nil)
	meetBoth(t, a, b, card)
	bulkStands(t, a, b)
	bulk := relay.Conn(1)
	bulk.Do(tcpproxy.Swallow, tcpproxy.Up)
	bulk.Do(tcpproxy.Swallow, tcpproxy.Down)
	mem, own := b.region(make([]byte, 1<<20)), a.region(make([]byte, 1<<20))
	a.begin(1, func(op fabric.Op) error { return a.eps[1].Get(own, mem.Region.Remote, op) })
	pump(t, "both to be down", func() bool { return len(a.pending) == 0 && a.down[1] != nil && b.down[0] != nil }, a, b)
	// Whose question goes out first finds it, and tells the other over the connection
	// that stands.
	found, told := a.down[1], b.down[0]
	if strings.Contains(found.Error(), "has declared this rank dead") {
		found, told = told, found
	}
	silent(t, found)
	if !strings.Contains(told.Error(), "has declared this rank dead") {
		silent(t, told)
	}
}

// A rank that does not poll is found even if it has no room for a question, and
// learns of it when it polls again.
func TestARankThatTakesNothingIsFoundAndLearnsIt(t *testing.T) {
	plainAndTLS(t, aRankThatTakesNothingIsFoundAndLearnsIt)
}

func aRankThatTakesNothingIsFoundAndLearnsIt(t *testing.T, change func(*fabric.Config)) {
	for _, full := range []bool{false, true} {
		ms := mates(t, 3, func(c *fabric.Config) { soon(c); change(c) })
		a, b, c := ms[0], ms[1], ms[2]
		meetAll(t, ms...)
		for full && a.send(1, maxEager) {
			a.d.Poll(a, 64)
		}
		pump(t, "the rank that takes nothing to be down", func() bool { return a.down[1] != nil }, a, c)
		silent(t, a.down[1])
		pump(t, "it to learn so", func() bool { return b.down[0] != nil }, b)
		if !strings.Contains(b.down[0].Error(), "it has declared this rank dead") {
			t.Errorf("full %t: the words are: %v", full, b.down[0])
		}
		// What had arrived came first: a prefix, which Deliver checks.
		if b.got[0] == 0 || b.got[0] > a.sent[1] {
			t.Errorf("full %t: %d messages of %d", full, b.got[0], a.sent[1])
		}
	}
}

// One that was given up and calls again is refused with the reason.
func TestARankThatWasGivenUpIsRefused(t *testing.T) {
	ms := mates(t, 2, nil)
	a, b := ms[0], ms[1]
	a.d.End(1, &fabric.Error{Op: "test", Err: fabric.ErrPeerDown})
	b.meet(a, nil)
	pump(t, "the refusal", func() bool { return b.down[0] != nil }, a, b)
	if !strings.Contains(b.down[0].Error(), errExpelled.Error()) {
		t.Errorf("the words are: %v", b.down[0])
	}
}

// A rank that asks why its connection has ended hears whether it was given up.
func TestARankThatAsksHearsWhetherItWasGivenUp(t *testing.T) {
	ms := mates(t, 2, nil)
	a, b := ms[0], ms[1]
	meetAll(t, ms...)
	ask := func() error {
		b.d.mu.Lock()
		card := b.d.links[0].card
		b.d.mu.Unlock()
		err := errors.New("there is no door")
		for _, o := range order(card.doors(), b.d.doors, b.d.won(0)) {
			if err = b.d.askAt(t.Context(), 0, o.addr, card.Token); err != nil && strings.Contains(err.Error(), expelledMark) {
				break
			}
		}
		return err
	}
	if err := ask(); err == nil || strings.Contains(err.Error(), expelledMark) {
		t.Errorf("the answer to a rank that was not given up is: %v", err)
	}
	a.d.End(1, &fabric.Error{Op: "test", Err: fabric.ErrPeerDown})
	if err := ask(); err == nil || !strings.Contains(err.Error(), errExpelled.Error()) {
		t.Errorf("the answer to a rank that was given up is: %v", err)
	}
}

// A peer that takes bytes slowly is alive, though no question gets through to it
// within the deadline.
func TestASlowLinkIsNoSilence(t *testing.T) { plainAndTLS(t, aSlowLinkIsNoSilence) }

func aSlowLinkIsNoSilence(t *testing.T, change func(*fabric.Config)) {
	tier.Long(t, "it waits for time limits to pass")
	const size, step = 4 << 20, 64 << 10
	ms := mates(t, 2, func(c *fabric.Config) { soon(c); change(c) })
	a, b := ms[0], ms[1]
	card, _ := through(t, b, func(n int) (fs []tcpproxy.Fault) {
		if n > 0 { // no connection for bulk data
			return []tcpproxy.Fault{{Do: tcpproxy.Reset}}
		}
		for at := int64(step); at < size; at += step {
			fs = append(fs, tcpproxy.Fault{Dir: tcpproxy.Up, At: at, Do: tcpproxy.Delay, For: 2 * leastDeadline * step / size})
		}
		return fs
	})
	meetBoth(t, a, b, card)
	if err := unix.SetsockoptInt(a.d.eps[1].msg.fd, unix.SOL_SOCKET, unix.SO_SNDBUF, size); err != nil {
		t.Fatal(err)
	}
	mem, own := b.region(make([]byte, size)), a.region(make([]byte, size))
	a.begin(1, func(op fabric.Op) error { return a.eps[1].Put(own, mem.Region.Remote, op) })
	pump(t, "a Put to end", func() bool { return len(a.pending) == 0 }, a, b)
	if a.failed > 0 || a.down[1] != nil || b.down[0] != nil {
		t.Errorf("%d operations have failed; %v, %v", a.failed, a.down[1], b.down[0])
	}
}

// A peer that polls in its own calls only may be silent, as long as its host is not.
func TestTheSilenceOfAMutePeerSaysNothing(t *testing.T) {
	tier.Long(t, "it waits for time limits to pass")
	for _, full := range []bool{false, true} {
		ms := mates(t, 2, func(c *fabric.Config) { soon(c); c.Unattended = c.Rank == 1 })
		a, b := ms[0], ms[1]
		meetAll(t, a, b)
		for full && a.send(1, maxEager) {
			a.d.Poll(a, 64)
		}
		goOn(t, 3*leastDeadline, a)
		if a.down[1] != nil {
			t.Fatalf("full %t: %v", full, a.down[1])
		}
		pump(t, "all messages", func() bool { return b.got[0] == a.sent[1] }, a, b)
		talk(t, a, b)
	}
}

// A rank that has not polled for long holds that against nobody.
func TestARankThatWasAwayDeclaresNobodyDead(t *testing.T) {
	tier.Long(t, "it waits for time limits to pass")
	ms := mates(t, 2, func(c *fabric.Config) { soon(c); c.Unattended = c.Rank == 0 })
	a, b := ms[0], ms[1]
	meetAll(t, a, b)
	b.send(0, 8)
	goOn(t, 2*leastDeadline, b)
	pump(t, "the message", func() bool { return a.got[1] == b.sent[0] }, a)
	talk(t, a, b)
	if a.down[1] != nil || b.down[0] != nil {
		t.Errorf("%v, %v", a.down[1], b.down[0])
	}
}

// After a stop of this process every peer has all of the deadline again, and what
// the kernel holds unread is no silence.
func TestAfterAStopPeersAreAskedAnew(t *testing.T) {
	ms := mates(t, 2, func(c *fabric.Config) { soon(c) })
	a, b := ms[0], ms[1]
	meetAll(t, a, b)
	c := a.d.eps[1].msg
	c.pulse = pulse{silent: beats, asked: true}
	a.d.beaten.Store(lateBeat)
	a.d.listenForSilence()
	if c.pulse.silent != 0 || a.d.eps[1].doomed {
		t.Fatalf("a connection has been silent for %d beats", c.pulse.silent)
	}
	talk(t, a, b)
	c.pulse = pulse{silent: beats + 1, asked: true}
	for b.send(0, 8); ; { // it is there, and not read
		if n, err := unix.IoctlGetInt(c.fd, unix.SIOCINQ); err != nil || n > 0 {
			break
		}
		b.d.Poll(b, 1)
	}
	a.d.beaten.Store(oneBeat)
	a.d.listenForSilence()
	if a.d.eps[1].doomed {
		t.Fatal("a rank whose message waits is lost")
	}
	talk(t, a, b)
}

// A peer that does not answer while its connection is made is down after the
// deadline: its process is stopped, or packets are lost.
func TestADialThatHangsEnds(t *testing.T) {
	stopped := func(t *testing.T, b *mate) []byte {
		card, _ := through(t, b, func(int) []tcpproxy.Fault { return []tcpproxy.Fault{{Do: tcpproxy.Hold}} })
		return card
	}
	lost := func(t *testing.T, b *mate) []byte { // a listener whose queue is full drops each SYN
		l, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(l) })
		if err := unix.Bind(l, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
			t.Fatal(err)
		}
		if err := unix.Listen(l, 0); err != nil {
			t.Fatal(err)
		}
		sa, err := unix.Getsockname(l)
		if err != nil {
			t.Fatal(err)
		}
		at := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(sa.(*unix.SockaddrInet4).Port))
		for { // until one finds no room
			c, err := net.DialTimeout("tcp", at.String(), 50*time.Millisecond)
			if err != nil {
				break
			}
			t.Cleanup(func() { c.Close() })
		}
		a, err := decodeCard(b.d.Addr())
		if err != nil {
			t.Fatal(err)
		}
		a.Listen = []netip.AddrPort{at}
		return a.encode()
	}
	for name, card := range map[string]func(*testing.T, *mate) []byte{"stopped": stopped, "lost": lost} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ms := mates(t, 2, soon)
			a, b := ms[0], ms[1]
			to := card(t, b)
			begun := time.Now()
			a.meet(b, to)
			pump(t, "PeerDown", func() bool { return a.down[1] != nil }, a)
			if d := time.Since(begun); d >= greet.Limit {
				t.Errorf("it took %v", d)
			}
			if !strings.Contains(a.down[1].Error(), "timeout") {
				t.Errorf("the words are: %v", a.down[1])
			}
		})
	}
}

// Without a deadline a peer that hangs is waited for, and then there.
func TestWithoutADeadlineADialThatHangsGoesOn(t *testing.T) {
	for value, want := range map[string]time.Duration{"0": forever, "3s": 3 * time.Second, "": defaultDeadline} {
		s, err := readSettings(map[string]string{envDeadline: value})
		if err != nil || s.dial != want {
			t.Errorf("with %q a dial has %v, want %v (%v)", value, s.dial, want, err)
		}
	}
}
