package tcp

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/internal/greet"
)

// stall listens at an address of this machine, hands each connection to do, and
// counts them.
func stall(t testing.TB, do func(net.Conn)) (addr netip.AddrPort, calls func() int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	var conns []net.Conn
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, c)
			mu.Unlock()
			wg.Go(func() { do(c) })
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range conns {
			c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return l.Addr().(*net.TCPAddr).AddrPort(), func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(conns)
	}
}

// closed is an address at which nobody listens.
func closed(t testing.TB) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// The first address of the peer leads to something else: it is passed over, and the
// next is used, and used again for the connection for bulk data.
func TestAnAddressOfSomethingElseIsPassedOver(t *testing.T) {
	for name, first := range map[string]func(*testing.T, []*caller) netip.AddrPort{
		"nobody":                   func(t *testing.T, _ []*caller) netip.AddrPort { return closed(t) },
		"a host that says nothing": func(t *testing.T, _ []*caller) netip.AddrPort { a, _ := stall(t, func(net.Conn) {}); return a },
		"a host that hangs up": func(t *testing.T, _ []*caller) netip.AddrPort {
			a, _ := stall(t, func(c net.Conn) { c.Close() })
			return a
		},
		"a host that echoes": func(t *testing.T, _ []*caller) netip.AddrPort {
			a, _ := stall(t, func(c net.Conn) { io.Copy(c, c) })
			return a
		},
		"another rank of the job": func(t *testing.T, cs []*caller) netip.AddrPort { return cs[2].doors[0].addr },
		"the same rank of other job": func(t *testing.T, _ []*caller) netip.AddrPort {
			return callers(t, 3, func(c *fabric.Config) { c.Job = "other" })[1].doors[0].addr
		},
		"the same rank of other key": func(t *testing.T, _ []*caller) netip.AddrPort {
			return callers(t, 3, func(c *fabric.Config) { c.Key[5]++ })[1].doors[0].addr
		},
	} {
		t.Run(name, func(t *testing.T) {
			cs := callers(t, 3, nil)
			a := cs[1].card(t)
			right := a.Listen[0]
			a.Listen = []netip.AddrPort{first(t, cs), right}
			cs[0].reach(t, cs[1], a)
			hear(t, cs[0], cs[1])
			if won := cs[0].won(1); won != right {
				t.Errorf("rank 1 was reached at %v, not at %v", won, right)
			}
			if cs[2].got[0]+cs[2].got[1] != 0 {
				t.Error("another rank has got a message")
			}
		})
	}
}

func TestTheAddressThatWasReachedIsTriedFirst(t *testing.T) {
	cs := callers(t, 2, nil)
	silent, calls := stall(t, func(net.Conn) {})
	a := cs[1].card(t)
	a.Listen = []netip.AddrPort{silent, a.Listen[0]}
	cs[0].reach(t, cs[1], a)
	hear(t, cs[0], cs[1])
	cs[0].wantBulk(1)
	poll(t, "the connection for bulk data", func() bool { return cs[0].eps[1].(*endpoint).bulk != nil }, cs...)
	if most := 1 + int(cs[0].redials.Load()); calls() == 0 || calls() > most {
		t.Errorf("%d connections to the address that does not answer, of %d at most", calls(), most)
	}
}

// A rank that can't reach its peer uses the peer's own connection, also where its
// own dial would be the one to use.
func TestAPeerThatCantBeReachedMayConnectItself(t *testing.T) {
	silent, _ := stall(t, func(net.Conn) {})
	for dials := range 2 {
		cs := callers(t, 2, nil)
		other := cs[1-dials]
		a := other.card(t)
		a.Listen = []netip.AddrPort{silent}
		cs[dials].reach(t, other, a)
		other.reach(t, cs[dials], cs[dials].card(t))
		hear(t, cs[dials], other)
		hear(t, other, cs[dials])
	}
}

func TestAPeerThatIsNowhereIsDownWithEveryReason(t *testing.T) {
	cs := callers(t, 2, nil)
	cs[0].set.dial = 3 * firstTry
	silent, _ := stall(t, func(net.Conn) {})
	rude, _ := stall(t, func(c net.Conn) { c.Close() })
	a := cs[1].card(t)
	a.Listen = []netip.AddrPort{closed(t), rude, silent}
	cs[0].reach(t, cs[1], a)
	poll(t, "the end of rank 1", func() bool { return cs[0].down[1] != nil }, cs...)
	text := cs[0].down[1].Error()
	for _, want := range []string{"connection refused", "answers no greeting", "i/o timeout", envInterfaces, a.Listen[0].String(), rude.String(), silent.String()} {
		if !strings.Contains(text, want) {
			t.Errorf("the error does not say %q: %s", want, text)
		}
	}
}

// A rank without descriptors says so once, and then has none to say it again.
func TestTheReasonOfAFullPeerStays(t *testing.T) {
	cs := callers(t, 2, nil)
	cs[0].set.dial = firstTry
	var said sync.Once
	addr, calls := stall(t, func(c net.Conn) {
		said.Do(func() {
			cs[1].self.Answer(c, cs[1].token, func(uint32, []byte) ([]byte, error) { return nil, errors.New(fullMark + "none") })
		})
		c.Close()
	})
	a := cs[1].card(t)
	a.Listen = []netip.AddrPort{addr}
	cs[0].reach(t, cs[1], a)
	poll(t, "the end of rank 1", func() bool { return cs[0].down[1] != nil }, cs...)
	if text := cs[0].down[1].Error(); calls() < 2 || !strings.Contains(text, fullMark+"none") || strings.Contains(text, "no greeting") {
		t.Errorf("after %d calls: %s", calls(), text)
	}
}

func TestWhichErrorsAreDefinite(t *testing.T) {
	for err, want := range map[error]bool{
		fmt.Errorf("dial: %w", unix.ECONNREFUSED): true,
		fmt.Errorf("x: %w", greet.ErrStranger):    true,
		greet.ErrAbsent:                           true,
		&greet.RefusedError{Reason: "no"}:         true,
		&greet.RefusedError{Reason: fullMark}:     false,
		io.EOF:                                    false,
		unix.ECONNRESET:                           false,
		unix.EHOSTUNREACH:                         false,
		greet.ErrCrossed:                          false,
		errors.New("i/o timeout"):                 false,
	} {
		if definite(err) != want {
			t.Errorf("%v is definite: %t", err, !want)
		}
	}
}

// A process that was stopped in the middle of an attempt has time for others.
func TestAStoppedProcessLosesOneAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := tries{left: 20 * time.Second, each: time.Second}
		tr.try(func(limit time.Duration) error {
			if limit != time.Second {
				t.Errorf("an attempt has %v", limit)
			}
			time.Sleep(time.Hour)
			return nil
		})
		if tr.left != 19*time.Second {
			t.Errorf("%v are left", tr.left)
		}
	})
}

func TestRanksConnectOverIPv6(t *testing.T) {
	have, err := Interfaces()
	if err != nil {
		t.Fatal(err)
	}
	if choices, err := Choose(have, "::1/128", true); err != nil {
		t.Skipf("this machine has no ::1: %v", choices)
	}
	for name, port := range map[string]bool{"a port each": false, "one port": true} {
		t.Run(name, func(t *testing.T) {
			change := func(c *fabric.Config) { c.Options = map[string]string{envDeadline: "0"} }
			if port {
				change = shared(t)
			}
			cs := callers(t, 3, func(c *fabric.Config) {
				change(c)
				c.Options[envInterfaces] = "::1/128"
			})
			for i, a := range cs {
				if got := a.card(t).Listen; len(got) != 1 || got[0].Addr() != netip.IPv6Loopback() {
					t.Fatalf("rank %d listens at %v", i, got)
				}
				for _, b := range cs[:i] {
					a.reach(t, b, b.card(t))
					hear(t, a, b)
					b.reach(t, a, a.card(t))
					hear(t, b, a)
				}
			}
		})
	}
}
