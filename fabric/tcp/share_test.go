package tcp

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-reuseport"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/internal/greet"
	"github.com/weft-mpi/weft/internal/testkit/tier"
)

// shared has ranks share a port that is free. Its job has a name of its own, since
// sockets in the abstract namespace are the machine's.
func shared(t testing.TB) func(*fabric.Config) {
	t.Helper()
	port := free(t)
	job := fmt.Sprintf("%s-%x", t.Name(), greet.NewToken())
	return func(c *fabric.Config) {
		c.Job = job
		c.Options = map[string]string{envDeadline: "0", envPort: strconv.Itoa(port)}
	}
}

// free is a port that nobody listens at, of those that the kernel gives to nobody by
// itself.
func free(t testing.TB) int {
	t.Helper()
	for range 100 {
		port := 15_000 + rand.IntN(17_000)
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			l.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}

func TestTheRanksOfAHostShareAPort(t *testing.T) {
	for _, key := range []fabric.Key{{}, {7}} {
		cs := callers(t, 6, func() func(*fabric.Config) {
			change := shared(t)
			return func(c *fabric.Config) { change(c); c.Key = key }
		}())
		for i, a := range cs {
			if got := a.card(t).Listen; len(got) == 0 || got[0].Port() != a.set.port {
				t.Fatalf("rank %d listens at %v", i, got)
			}
			for _, b := range cs[:i] {
				a.reach(t, b, b.card(t))
				hear(t, a, b)
			}
		}
		for i, a := range cs {
			for j, b := range cs {
				if i < j {
					a.reach(t, b, b.card(t))
				}
				if i != j {
					hear(t, a, b)
				}
			}
		}
	}
}

func TestTwoJobsShareAPort(t *testing.T) {
	change := shared(t)
	one := callers(t, 3, change)
	two := callers(t, 3, func(c *fabric.Config) { change(c); c.Job += "2"; c.Key[0]++ })
	for _, cs := range [][]*caller{one, two} {
		for i, a := range cs {
			for _, b := range cs[:i] {
				a.reach(t, b, b.card(t))
				hear(t, a, b)
			}
		}
	}
}

// The kernel gives connections to the listener of a process that is stopped, too.
func TestAStoppedSiblingHoldsNobodyUp(t *testing.T) {
	tier.Long(t, "it waits for time limits to pass")
	cs := callers(t, 4, shared(t))
	stopped, err := reuseport.Listen("tcp", cs[0].doors[0].addr.String())
	if err != nil {
		t.Fatal(err)
	}
	defer stopped.Close()
	for i, a := range cs {
		a.set.dial = patienceAtDoors
		for _, b := range cs[:i] {
			a.reach(t, b, b.card(t))
			hear(t, a, b)
		}
	}
}

// A listener that closes resets what the kernel has given it.
func TestASiblingThatEndsHoldsNobodyUp(t *testing.T) {
	cs := callers(t, 3, shared(t))
	dying, err := reuseport.Listen("tcp", cs[0].doors[0].addr.String())
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := dying.Accept()
			if err != nil {
				return
			}
			c.(*net.TCPConn).SetLinger(0)
			c.Close()
		}
	}()
	defer dying.Close()
	for i, a := range cs {
		a.set.dial = patienceAtDoors
		for _, b := range cs[:i] {
			a.reach(t, b, b.card(t))
			hear(t, a, b)
		}
	}
}

func TestARankThatHasEndedIsAbsentAtASharedPort(t *testing.T) {
	cs := callers(t, 3, shared(t))
	a := cs[2].card(t)
	if err := cs[2].Close(); err != nil {
		t.Fatal(err)
	}
	cs[0].set.dial = patienceAtDoors
	cs[0].reach(t, cs[2], a)
	poll(t, "the end of rank 2", func() bool { return cs[0].down[2] != nil }, cs[0], cs[1])
	if err := cs[0].down[2]; !errors.Is(err, fabric.ErrPeerDown) || !errors.Is(err, greet.ErrAbsent) {
		t.Errorf("rank 2 is down because of %v", err)
	}
}

func TestAPortOfAStrangerIsAnError(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	_, err = Provider{}.Open(fabric.Config{Size: 1, Options: map[string]string{envPort: strconv.Itoa(port), envInterfaces: "127.0.0.0/8"}})
	if err == nil || !strings.Contains(err.Error(), strconv.Itoa(port)) || !strings.Contains(err.Error(), envPort) {
		t.Errorf("a port in use: %v", err)
	}
}

func TestARankIsOnlyOnceAtASharedPort(t *testing.T) {
	change := shared(t)
	c := callers(t, 2, change)[0].cfg
	d, err := Provider{}.Open(c)
	if err == nil {
		d.Close()
		t.Error("a rank is there twice")
	}
}

// A process that knows the id of a job, which the names of other sockets have, can't take a name.
func TestTheNameOfASiblingIsNotThatOfItsJob(t *testing.T) {
	one := &greet.Self{Job: "job", Key: greet.Key{1}}
	other := &greet.Self{Job: "job", Key: greet.Key{2}}
	if siblingName(one.Tag(), 1) == siblingName(other.Tag(), 1) || siblingName(one.Tag(), 1) == siblingName(one.Tag(), 2) {
		t.Error("it is known without the key")
	}
	tag := one.Tag()
	if name := siblingName(tag, 1); strings.Contains(name, hex.EncodeToString(tag[:])) || len(name) != len("@weft-tcp/")+32 {
		t.Errorf("%s gives the others away", name)
	}
}

// Local processes may connect to the socket of siblings. What they say is nothing
// to a rank unless it is a connection.
func TestWhatIsNoConnectionIsNotPassedOn(t *testing.T) {
	cs := callers(t, 2, shared(t))
	for _, say := range []string{"", "x", strings.Repeat("x", 72), strings.Repeat("x", 4096)} {
		c, err := net.DialUnix("unixpacket", nil, &net.UnixAddr{Net: "unixpacket", Name: siblingName(cs[1].tag, 1)})
		if err != nil {
			t.Fatal(err)
		}
		c.Write([]byte(say))
		c.Close()
	}
	cs[0].reach(t, cs[1], cs[1].card(t))
	hear(t, cs[0], cs[1])
}

// opening is what a rank of a job says first.
func opening(t *testing.T, s *greet.Self, to uint32) []byte {
	t.Helper()
	dialer, end := net.Pipe()
	defer end.Close()
	go s.Dial(dialer, to, greet.Token{}, nil)
	o := new(greet.Opening)
	if err := o.Read(end); err != nil {
		t.Fatal(err)
	}
	return o.Bytes()
}

// An opening without a cookie is not passed on: the rank that accepts judges it.
func TestStrangersAreNotPassedOn(t *testing.T) {
	cs := callers(t, 2, shared(t))
	const n = 20
	for i := range n {
		conn, err := net.Dial("tcp", cs[0].doors[0].addr.String())
		if err != nil {
			t.Fatal(err)
		}
		conn.SetDeadline(time.Now().Add(patienceAtDoors))
		o := opening(t, cs[0].self, uint32(i%2))
		o[len(o)-1] ^= 1
		conn.Write(o)
		if b, _ := io.ReadAll(conn); len(b) > 0 {
			t.Errorf("a stranger hears %x", b)
		}
		conn.Close()
	}
	poll(t, "the refusals", func() bool { return cs[0].guard.Refused()+cs[1].guard.Refused() == n }, cs...)
}

func TestAPortIsANumber(t *testing.T) {
	for v, want := range map[string]uint16{"": 0, "1": 1, "65535": 65535} {
		if s, err := readSettings(map[string]string{envPort: v}); err != nil || s.port != want {
			t.Errorf("%q is port %d, %v", v, s.port, err)
		}
	}
	for _, v := range []string{"0", "65536", "-1", "x", "1-2"} {
		if _, err := readSettings(map[string]string{envPort: v}); err == nil || !strings.Contains(err.Error(), envPort) {
			t.Errorf("%q: %v", v, err)
		}
	}
}
