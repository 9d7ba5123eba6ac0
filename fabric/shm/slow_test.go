package shm

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// other is rank 1, in a process of its own.
type other struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.WriteCloser
	addr string
}

const otherEnv = "WEFT_SHM_TEST_OTHER"

// TestOther is not a test but that process: it says its address, is told that of
// rank 0, and answers each message with the same.
func TestOther(t *testing.T) {
	job := os.Getenv(otherEnv)
	if job == "" {
		return
	}
	d := openOne(t, fabric.Config{Rank: 1, Size: 2, Job: job, Log: slog.New(slog.DiscardHandler)})
	n := newNode(t, d)
	if err := unix.Listen(n.d.greeter.listener, otherQueue); err != nil {
		t.Fatal(err)
	}
	fmt.Printf("addr %s\n", d.Addr())
	addr, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil {
		return
	}
	ep, err := d.Connect(0, []byte(strings.TrimSpace(addr)))
	if err != nil {
		t.Fatal(err)
	}
	for n.down[0] == nil {
		for n.d.Arm(fabric.WakeAll); d.Poll(n, 64) > 0; {
		}
		for len(n.got) > 0 && ep.Send(1, 0, nil, []byte(n.got[0])) == nil {
			n.got = n.got[1:]
		}
		d.Wait(10 * time.Millisecond) // a Send may have been answered ErrAgain
	}
}

const otherQueue = 2 // connections that the kernel keeps for that process

func startOther(t *testing.T, job string) *other {
	t.Helper()
	args := []string{os.Args[0], "-test.run=^TestOther$"}
	if qemu != "" {
		args = append([]string{qemu}, args...)
	}
	o := &other{t: t, cmd: exec.Command(args[0], args[1:]...)}
	o.cmd.Env = append(os.Environ(), otherEnv+"="+job)
	o.cmd.Stderr = os.Stderr
	var err error
	if o.in, err = o.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := o.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := o.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		o.cmd.Process.Kill()
		o.cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if _, serr := fmt.Sscanf(line, "addr %s", &o.addr); serr != nil {
		t.Fatalf("the other process says %q: %v", line, err)
	}
	return o
}

// stop returns when the process has stopped.
func (o *other) stop() {
	o.t.Helper()
	o.cmd.Process.Signal(unix.SIGSTOP)
	var ws unix.WaitStatus
	if _, err := unix.Wait4(o.cmd.Process.Pid, &ws, unix.WUNTRACED, nil); err != nil || !ws.Stopped() {
		o.t.Fatalf("the other process does not stop: %v, status %#x", err, ws)
	}
}

func (o *other) goOn() { o.cmd.Process.Signal(unix.SIGCONT) }

// first is rank 0, whose first contact with rank 1 takes long.
type first struct {
	*node
	log records
	to  fabric.Endpoint
}

func openFirst(t *testing.T, slow time.Duration) *first {
	t.Helper()
	instead(t, &handshakeTime, slow)
	f := &first{}
	f.node = newNode(t, openOne(t, fabric.Config{Size: 2, Job: t.Name(), Log: slog.New(slog.NewTextHandler(&f.log, nil))}))
	return f
}

func (f *first) connect(addr string) {
	f.t.Helper()
	var err error
	if f.to, err = f.d.Connect(1, []byte(addr)); err != nil {
		f.t.Fatal(err)
	}
}

// waitForWarning polls until the log has said that the peer does not answer.
func (f *first) waitForWarning(words ...string) {
	f.t.Helper()
	waitFor(f.t, "a warning", func() bool {
		if err := f.to.Send(1, 0, nil, nil); err != fabric.ErrAgain {
			f.t.Fatalf("Send to a peer that has not answered: %v, want ErrAgain; PeerDown: %v", err, f.down[1])
		}
		f.d.Poll(f, 64)
		return f.log.String() != ""
	})
	said := f.log.String()
	for _, w := range append(words, "WARN", "stopped", "rank=1", "since=") {
		if !strings.Contains(said, w) {
			f.t.Errorf("the warning does not name %s: %s", w, said)
		}
	}
}

func (f *first) waitForPeerDown() {
	f.t.Helper()
	waitFor(f.t, "PeerDown", func() bool { f.d.Poll(f, 64); return f.down[1] != nil })
	if err := f.down[1]; !errors.Is(err, fabric.ErrPeerDown) {
		f.t.Errorf("PeerDown(%v)", err)
	}
}

// A process that is stopped when it is first talked to gets its messages when it
// goes on, however much later.
func TestFirstContactWaitsForAProcessThatIsStopped(t *testing.T) {
	f := openFirst(t, 20*time.Millisecond)
	o := startOther(t, t.Name())
	o.stop()
	f.connect(o.addr)
	f.waitForWarning(fmt.Sprintf("pid=%d", o.cmd.Process.Pid))
	for range 5 { // several times the time after which it is said
		f.d.Wait(f.d.slow)
		f.d.Poll(f, 64)
	}
	if err := f.to.Send(1, 0, nil, nil); err != fabric.ErrAgain || f.down[1] != nil {
		t.Fatalf("Send: %v, PeerDown: %v", err, f.down[1])
	}
	o.goOn()
	fmt.Fprintf(o.in, "%s\n", f.d.Addr())
	waitFor(t, "room", func() bool { f.d.Poll(f, 64); return f.to.Send(1, 0, nil, []byte("at last")) == nil })
	waitFor(t, "the answer", func() bool { f.d.Poll(f, 64); return len(f.got) > 0 })
	if f.got[0] != "at last" {
		t.Errorf("the answer is %q", f.got)
	}
	n := 0 // warnings of our own contact; its contact with us may be slow too
	for line := range strings.Lines(f.log.String()) {
		if strings.Contains(line, "WARN") && strings.Contains(line, "rank=1") {
			n++
		}
	}
	if n != 1 || !strings.Contains(f.log.String(), "has answered") {
		t.Errorf("%d warnings, want one and that it has passed:\n%s", n, f.log.String())
	}
}

// The end of a process that is waited for is known at once, before and after the
// warning.
func TestFirstContactEndsWithTheProcess(t *testing.T) {
	for _, slow := range []time.Duration{20 * time.Millisecond, time.Hour} {
		t.Run(slow.String(), func(t *testing.T) {
			f := openFirst(t, slow)
			o := startOther(t, t.Name())
			o.stop()
			f.connect(o.addr)
			if slow < patience {
				f.waitForWarning()
			}
			o.cmd.Process.Kill()
			f.waitForPeerDown()
		})
	}
}

// A socket outlives its process where a child has inherited it. The process is
// asked for too.
func TestFirstContactEndsWithTheProcessWhoseSocketStays(t *testing.T) {
	f := openFirst(t, 20*time.Millisecond)
	l, err := net.Listen("unixpacket", "@weft-"+t.Name())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ended := func(int, int) (int, error) { return -1, unix.ESRCH }
	instead(t, &pidfdOpen, ended)
	f.connect("weft-" + t.Name())
	f.waitForPeerDown()
	if said := f.log.String(); said != "" {
		t.Errorf("the log says of a process that has ended: %s", said)
	}
}

// The kernel keeps some connections for a process that takes none, and refuses
// the next for now.
func TestFirstContactWaitsForAPlaceInTheQueueOfConnections(t *testing.T) {
	f := openFirst(t, 20*time.Millisecond)
	o := startOther(t, t.Name())
	o.stop()
	var queue []net.Conn
	for {
		c, err := net.Dial("unixpacket", "@"+o.addr)
		if errors.Is(err, unix.EAGAIN) {
			break
		}
		if err != nil || len(queue) > 2*otherQueue {
			t.Fatalf("%d connections of %d: %v", len(queue), otherQueue, err)
		}
		queue = append(queue, c)
	}
	f.connect(o.addr)
	f.waitForWarning("queue")
	for _, c := range queue {
		c.Close()
	}
	o.goOn()
	fmt.Fprintf(o.in, "%s\n", f.d.Addr())
	waitFor(t, "room", func() bool { f.d.Poll(f, 64); return f.to.Send(1, 0, nil, []byte("at last")) == nil })
	waitFor(t, "the answer", func() bool { f.d.Poll(f, 64); return len(f.got) > 0 })
}

func TestFirstContactWaitsWhileDescriptorsOfOthersAreUnderWay(t *testing.T) {
	refused := atomic.Int32{} // how often; each Add pairs with the load in the wait
	goOn := make(chan struct{})
	instead(t, &sendMsg, func(fd int, b, oob []byte) error {
		select {
		case <-goOn:
			return rawSend(fd, b, oob)
		default:
			refused.Add(1)
			return unix.ETOOMANYREFS
		}
	})
	f := openFirst(t, time.Hour)
	b := newNode(t, openOne(t, fabric.Config{Rank: 1, Size: 2, Job: t.Name(), Log: slog.New(slog.DiscardHandler)}))
	f.connect(string(b.d.Addr()))
	waitFor(t, "several tries", func() bool { return refused.Load() > 2 })
	close(goOn)
	waitFor(t, "room", func() bool { f.d.Poll(f, 64); return f.to.Send(1, 0, nil, nil) == nil })
	waitFor(t, "the message", func() bool { b.d.Poll(b, 64); return len(b.got) > 0 })
}

// Close does not wait for a process that is stopped, and leaves nothing behind.
func TestCloseEndsAFirstContactThatWaits(t *testing.T) {
	if err := processArena().why; err != nil {
		t.Fatal(err)
	}
	for _, slow := range []time.Duration{20 * time.Millisecond, time.Hour} {
		t.Run(slow.String(), func(t *testing.T) {
			o := startOther(t, t.Name())
			o.stop()
			round := func() {
				f := openFirst(t, slow)
				f.connect(o.addr)
				if slow < patience {
					f.waitForWarning()
				}
				if err := f.d.Close(); err != nil {
					t.Error(err)
				}
			}
			round()
			files, routines := openFiles(t), runtime.NumGoroutine()
			for range otherQueue {
				round()
			}
			waitFor(t, "the goroutines to end", func() bool { return runtime.NumGoroutine() <= routines })
			if after := openFiles(t); after > files {
				t.Errorf("%d descriptors are open, %d were before", after, files)
			}
		})
	}
}

// A rank that has connected and is stopped before it greets is waited for too.
func TestAPeerThatIsSlowToGreetIsWaitedFor(t *testing.T) {
	f := openFirst(t, 20*time.Millisecond)
	s := call(t, f.d)
	waitFor(t, "a warning", func() bool { return f.log.String() != "" })
	if said := f.log.String(); !strings.Contains(said, fmt.Sprintf("pid=%d", os.Getpid())) || strings.Contains(said, "rank=") {
		t.Errorf("the warning names another process, or a rank that is not known: %s", said)
	}
	bell, err := newEventFD()
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(bell)
	const sealed = unix.F_SEAL_SHRINK
	s.hello(nil, file(t, controlSize, sealed), bell, file(t, 0, sealed), file(t, testRings, sealed))
	if h, err := s.answer(); err != nil || h.refusal != "" {
		t.Errorf("after a while its greeting is answered %q, %v", h.refusal, err)
	}
}
