package tcpproxy

import (
	"bytes"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"
)

// patience is when a test calls something hung: many times what it takes.
const patience = 5 * time.Minute

// pair is two ends that talk through a relay.
func pair(t *testing.T, plan func(int) []Fault) (r *Relay, near, far *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	if r, err = New(l.Addr().String(), plan); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	a, err := net.Dial("tcp", r.Addr())
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []net.Conn{a, b} {
		t.Cleanup(func() { c.Close() })
		c.SetDeadline(time.Now().Add(patience))
	}
	return r, a.(*net.TCPConn), b.(*net.TCPConn)
}

func say(t *testing.T, c net.Conn, s string) {
	t.Helper()
	if _, err := c.Write([]byte(s)); err != nil {
		t.Fatal(err)
	}
}

func hear(t *testing.T, c net.Conn, want string) {
	t.Helper()
	b := make([]byte, len(want))
	if _, err := io.ReadFull(c, b); err != nil || string(b) != want {
		t.Fatalf("%q, %v; want %q", b, err, want)
	}
}

func TestBytesPassInOrder(t *testing.T) {
	r, near, far := pair(t, nil)
	big := bytes.Repeat([]byte("0123456789abcdef"), 64<<10)
	go func() {
		near.Write(big)
		near.CloseWrite()
	}()
	got, err := io.ReadAll(far)
	if err != nil || !bytes.Equal(got, big) {
		t.Fatalf("%d bytes of %d, %v", len(got), len(big), err)
	}
	say(t, far, "back") // the other direction stands
	hear(t, near, "back")
	c := r.Conn(0)
	c.AwaitPassed(Down, 4)
	if c.Passed(Up) != int64(len(big)) || !bytes.Equal(c.Said(Up), big) || string(c.Said(Down)) != "back" {
		t.Errorf("%d and %d bytes are on record", c.Passed(Up), c.Passed(Down))
	}
}

func TestAResetComesAtItsByte(t *testing.T) {
	for _, at := range []int64{1, 5, 9} {
		_, near, far := pair(t, func(int) []Fault { return []Fault{{Dir: Up, At: at, Do: Reset}} })
		near.Write([]byte("0123456789"))
		got, err := io.ReadAll(far)
		if string(got) != "0123456789"[:at] || !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("at %d: %q, %v", at, got, err)
		}
		if _, err := io.ReadAll(near); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("at %d: the near end has %v", at, err)
		}
	}
}

func TestHalfEndsOneDirection(t *testing.T) {
	_, near, far := pair(t, func(int) []Fault { return []Fault{{Dir: Up, At: 3, Do: Half}} })
	say(t, near, "012345")
	if got, err := io.ReadAll(far); string(got) != "012" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	say(t, far, "back")
	hear(t, near, "back")
}

func TestWhatIsSwallowedIsGone(t *testing.T) {
	r, near, far := pair(t, func(int) []Fault { return []Fault{{Dir: Up, At: 2, Do: Swallow}} })
	say(t, near, "01234")
	say(t, far, "back")
	hear(t, near, "back")
	hear(t, far, "01")
	c := r.Conn(0)
	c.AwaitPassed(Up, 2)
	if n := c.Passed(Up); n != 2 {
		t.Errorf("%d bytes have passed, want 2", n)
	}
}

func TestHoldKeepsWhatComes(t *testing.T) {
	r, near, far := pair(t, func(int) []Fault { return []Fault{{Dir: Up, At: 2, Do: Hold}} })
	say(t, near, "01234")
	say(t, far, "back")
	hear(t, near, "back")
	hear(t, far, "01")
	c := r.Conn(0)
	c.AwaitPassed(Up, 2)
	if n := c.Passed(Up); n != 2 {
		t.Errorf("%d bytes have passed, want 2", n)
	}
	c.Do(Go, Up)
	hear(t, far, "234")
	if !c.AwaitPassed(Up, 5) {
		t.Error("the connection has ended")
	}
}

func TestADelayDelaysOnce(t *testing.T) {
	const delay = 50 * time.Millisecond
	_, near, far := pair(t, func(int) []Fault { return []Fault{{Dir: Up, At: 2, Do: Delay, For: delay}} })
	begun := time.Now()
	say(t, near, "0123")
	hear(t, far, "0123")
	if d := time.Since(begun); d < delay {
		t.Errorf("it took %v, less than %v", d, delay)
	}
}

func TestDoIsForEachConnection(t *testing.T) {
	r, near, _ := pair(t, nil)
	r.Do(Reset, Up)
	if _, err := io.ReadAll(near); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the first: %v", err)
	}
	c, err := net.Dial("tcp", r.Addr())
	if err == nil {
		defer c.Close()
		c.SetDeadline(time.Now().Add(patience))
		_, err = io.ReadAll(c)
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("the second: %v", err)
	}
}

func TestAReplaySaysTheSame(t *testing.T) {
	r, near, far := pair(t, nil)
	say(t, near, "open sesame")
	hear(t, far, "open sesame")
	r.Conn(0).AwaitPassed(Up, 11)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		b := make([]byte, 11)
		io.ReadFull(c, b)
		c.Write(bytes.ToUpper(b))
	}()
	if got, err := r.Conn(0).Replay(l.Addr().String(), patience); err != nil || string(got) != "OPEN SESAME" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestTheEndOfTheFarSideIsPassedOn(t *testing.T) {
	_, near, far := pair(t, nil)
	far.SetLinger(0)
	far.Close()
	if _, err := io.ReadAll(near); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("a reset is passed on as %v", err)
	}
}

func TestCloseEndsWhoWaits(t *testing.T) {
	r, _, _ := pair(t, func(int) []Fault { return []Fault{{Dir: Up, Do: Hold}, {Dir: Down, Do: Delay, For: patience}} })
	done, c := make(chan struct{}), r.Conn(0)
	go func() {
		r.Conn(1)
		c.AwaitPassed(Up, 1)
		close(done)
	}()
	r.Close()
	<-done
}
