package launch

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// late runs a job of three ranks on this host. The last one joins after the
// others have met and before has been called with the name of the place.
func late(t *testing.T, before func(f *fakePMI, name string)) (*fakePMI, []error) {
	t.Helper()
	met := make(chan struct{})
	f := &fakePMI{size: 3}
	once := sync.OnceFunc(func() { close(met) })
	f.came = func(waiting int) {
		if waiting == 2 {
			once()
		}
	}
	f.open()
	errs := make([]error, 3)
	body := func(j *Job) error {
		return errors.Join(checkRound(deadline(t), j, 0), j.Close())
	}
	var ranks sync.WaitGroup
	for rank := range 2 {
		ranks.Go(func() { errs[rank] = f.rank(t, rank, body) })
	}
	<-met
	before(f, placeOf(t, f))
	errs[2] = f.rank(t, 2, body)
	ranks.Wait()
	return f, errs
}

// placeOf is where the ranks of f meet.
func placeOf(t *testing.T, f *fakePMI) string {
	t.Helper()
	conn, _ := socketPair(t)
	host, err := thisHost()
	if err != nil {
		t.Fatal(err)
	}
	c := newPMIClient(conn)
	c.kvs, c.size = f.name, f.size
	return c.meetingName(host)
}

// stranger connects to a place and writes bytes.
func stranger(t *testing.T, place string, b []byte) net.Conn {
	t.Helper()
	conn, err := net.Dial("unix", "@"+place)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := conn.Write(b); err != nil {
		t.Fatal(err)
	}
	return conn
}

func TestPMIRanksMeetInSpiteOfStrangers(t *testing.T) {
	mine, err := newCard()
	if err != nil {
		t.Fatal(err)
	}
	good := appendGreeting(nil, 2, 3, mine)
	leads := mine
	leads.leads = true
	later := appendFrame(good[:frameHeader+helloLen:frameHeader+helloLen], kindOffer, appendOffer(nil, 1, mine.append(nil)))
	f, errs := late(t, func(_ *fakePMI, place string) {
		for _, b := range [][]byte{
			nil,
			[]byte("GET / HTTP/1.1\r\n\r\n"),
			make([]byte, 4*maxGreeting),
			good[:frameHeader],
			good[:len(good)-1],
			append(good[:len(good):len(good)], 0),
			later,
			appendGreeting(nil, 2, 4, mine),
			appendGreeting(nil, 3, 3, mine),
			appendGreeting(nil, 2, 3, leads),
		} {
			stranger(t, place, b)
		}
		stranger(t, place, nil).Close()
	})
	checkAll(t, errs)
	if f.seen["get"] != 0 {
		t.Errorf("%d gets on one host", f.seen["get"])
	}
}

// checkAlone checks a job of three ranks on this host that can't meet.
func checkAlone(t *testing.T, f *fakePMI) {
	t.Helper()
	checkAll(t, f.join(t, func(j *Job) error {
		if fmt.Sprint(j.Hosts, j.LocalRanks) != "[0 0 0] [0 1 2]" {
			return fmt.Errorf("%+v", j)
		}
		return errors.Join(checkRound(deadline(t), j, 0), j.Close())
	}))
	if f.seen["get"] != 2*3*2 {
		t.Errorf("%d gets, want each rank to get for itself", f.seen["get"])
	}
}

func TestPMIRanksWhosePlaceIsTakenExchangeAlone(t *testing.T) {
	f := &fakePMI{size: 3}
	f.open()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: "@" + placeOf(t, f)}); err != nil { // and no listen
		t.Fatal(err)
	}
	checkAlone(t, f)
}

// Namespaces and users other than this one's take privileges.
func needRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() == 0 {
		return
	}
	if os.Getenv("WEFT_CI") == "1" {
		t.Fatal("not root, and WEFT_CI=1 says that nothing may be left out")
	}
	t.Skip("not root")
}

func TestPMIRefusesOtherUsers(t *testing.T) {
	needRoot(t)
	mine, err := newCard()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("a rank that is none", func(t *testing.T) {
		var says string
		f, errs := late(t, func(_ *fakePMI, place string) {
			out, _ := process(t, "pmi intruder", place, string(appendGreeting(nil, 2, 3, mine)))
			says = out()
		})
		checkAll(t, errs)
		if says != "connected" || f.seen["get"] != 0 {
			t.Errorf("the intruder says %q; %d gets", says, f.seen["get"])
		}
	})
	t.Run("a leader that is none", func(t *testing.T) {
		f := &fakePMI{size: 3}
		f.open()
		out, _ := process(t, "pmi squatter", placeOf(t, f), "")
		if says := out(); says != "bound" {
			t.Fatal(says)
		}
		checkAlone(t, f)
	})
}

// playPMIIntruder greets ranks of another user, and waits for their refusal.
func playPMIIntruder() error {
	greeting, err := os.ReadFile(os.Getenv(greetingVar))
	if err != nil {
		return err
	}
	if err := unix.Setuid(65534); err != nil {
		return err
	}
	conn, err := net.Dial("unix", "@"+os.Args[1])
	if err != nil {
		return err
	}
	conn.Write(greeting) // may have been refused already
	fmt.Println("connected")
	io.Copy(io.Discard, conn) // until its end, or a reset
	return nil
}

// playPMISquatter takes the place of another user's ranks.
func playPMISquatter() error {
	if err := unix.Setuid(65534); err != nil {
		return err
	}
	ln, err := net.Listen("unix", "@"+os.Args[1])
	if err != nil {
		return err
	}
	defer ln.Close()
	fmt.Println("bound")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
