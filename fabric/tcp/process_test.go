package tcp

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/testkit/tier"
)

// Tests with ranks in other processes, which are stopped and killed. The test binary
// is started as a rank: it writes its card, reads those of others, and exchanges
// messages with them by its role.

// roleVar has the role, the rank, the size and the job of such a process.
const roleVar = "WEFT_TCP_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleVar)
	if role == "" {
		os.Exit(m.Run())
	}
	if err := play(strings.Fields(role)); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", role, err)
		os.Exit(1)
	}
}

// complaints is the testing.TB of a rank in a process of its own: it prints.
type complaints struct{ testing.TB }

func (complaints) Helper()                   {}
func (complaints) Errorf(f string, a ...any) { fmt.Printf("error "+f+"\n", a...) }
func (complaints) Fatal(a ...any)            { fmt.Println(append([]any{"error"}, a...)...); os.Exit(1) }

// play is a rank whose orders come on stdin, one a line:
//
//	meet P CARD   connects with rank P
//	send P N      sends N messages to rank P, as soon as there is room
//	quiet, loud   polls no more, polls again
//
// It prints its card, then "got P N" and "sent P N" for each hundred messages and
// the last, and "down P WHY".
func play(role []string) error {
	n, err := strconv.Atoi(role[2])
	if err != nil {
		return err
	}
	rank, err := strconv.Atoi(role[1])
	if err != nil {
		return err
	}
	d, err := Provider{}.Open(fabric.Config{Rank: fabric.Peer(rank), Size: n, Job: role[3], Log: slog.New(slog.DiscardHandler),
		Unattended: role[0] == "mute", Options: map[string]string{envDeadline: leastDeadline.String()}})
	if err != nil {
		return err
	}
	m := newMate(complaints{}, d.(*Domain), n)
	fmt.Println(base64.StdEncoding.EncodeToString(d.Addr()))
	orders := make(chan []string)
	go func() {
		in := bufio.NewScanner(os.Stdin)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			orders <- strings.Fields(in.Text())
			d.Wake()
		}
		os.Exit(0) // no longer than the test
	}()
	want, told, heard, quiet := make([]int, n), make([]int, n), make([]int, n), false
	down := make([]bool, n)
	for {
		select {
		case o := <-orders:
			p := 0
			if len(o) > 1 {
				p, _ = strconv.Atoi(o[1])
			}
			switch o[0] {
			case "meet":
				card, err := base64.StdEncoding.DecodeString(o[2])
				if err != nil {
					return err
				}
				if m.eps[p], err = d.Connect(fabric.Peer(p), card); err != nil {
					return err
				}
			case "send":
				k, _ := strconv.Atoi(o[2])
				want[p] += k
			case "quiet", "loud":
				quiet = o[0] == "quiet"
				fmt.Println(o[0])
			}
		default:
		}
		if quiet {
			time.Sleep(time.Millisecond)
			continue
		}
		did := d.Poll(m, 64)
		for p := range n {
			for m.sent[p] < want[p] && m.down[p] == nil && m.send(fabric.Peer(p), 1000) {
				did++
			}
			if m.sent[p] != told[p] && (m.sent[p] == want[p] || m.sent[p] >= told[p]+100) {
				told[p] = m.sent[p]
				fmt.Println("sent", p, m.sent[p])
			}
			if m.got[p] != heard[p] {
				heard[p] = m.got[p]
				fmt.Println("got", p, m.got[p])
			}
			if m.down[p] != nil && !down[p] {
				down[p] = true
				fmt.Println("down", p, m.down[p])
			}
		}
		if did == 0 {
			d.Arm(fabric.WakeAll)
			if d.Poll(m, 64) == 0 {
				d.Wait(time.Millisecond)
			}
			d.Disarm()
		}
	}
}

// process is a rank in a process of its own.
type process struct {
	t     *testing.T
	rank  fabric.Peer
	cmd   *exec.Cmd
	in    io.Writer
	card  []byte
	got   []atomic.Int64 // messages it says to have got, by peer
	down  atomic.Pointer[string]
	quiet atomic.Bool
}

func startProcess(t *testing.T, role string, rank, n int) *process {
	t.Helper()
	p := &process{t: t, rank: fabric.Peer(rank), cmd: exec.Command(os.Args[0]), got: make([]atomic.Int64, n)}
	p.cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %d %s", roleVar, role, rank, n, t.Name()))
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.in = in
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() {
		t.Fatal("the process says nothing")
	}
	if p.card, err = base64.StdEncoding.DecodeString(lines.Text()); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines.Scan() {
			f := strings.SplitN(lines.Text(), " ", 3)
			switch f[0] {
			case "got":
				from, _ := strconv.Atoi(f[1])
				k, _ := strconv.ParseInt(f[2], 10, 64)
				p.got[from].Store(k)
			case "down":
				s := strings.Join(f[1:], " ")
				p.down.Store(&s)
			case "quiet", "loud":
				p.quiet.Store(f[0] == "quiet")
			case "error":
				t.Errorf("rank %d: %s", rank, lines.Text())
			}
		}
	}()
	t.Cleanup(func() {
		p.cmd.Process.Kill()
		<-read
		p.cmd.Wait()
	})
	return p
}

func (p *process) order(f string, a ...any) {
	p.t.Helper()
	if _, err := fmt.Fprintf(p.in, f+"\n", a...); err != nil {
		p.t.Fatal(err)
	}
}

func (p *process) meet(peer fabric.Peer, card []byte) {
	p.t.Helper()
	p.order("meet %d %s", peer, base64.StdEncoding.EncodeToString(card))
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// meetProcess has a rank of this process and one of another exchange a message. The
// others of this process go on meanwhile.
func meetProcess(t *testing.T, m *mate, p *process, others ...*mate) {
	t.Helper()
	if m.eps[p.rank] == nil {
		ep, err := m.d.Connect(p.rank, p.card)
		if err != nil {
			t.Fatal(err)
		}
		m.eps[p.rank] = ep
	}
	p.meet(m.rank, m.d.Addr())
	p.order("send %d 1", m.rank)
	before := m.sent[p.rank]
	pump(t, "messages both ways", func() bool {
		if m.sent[p.rank] == before {
			m.send(p.rank, 8)
		}
		return m.got[p.rank] > 0 && p.got[m.rank].Load() > 0
	}, append([]*mate{m}, others...)...)
}

// A process that is killed while it sends, and is sent to, is down at once, behind
// what it had sent. The others go on.
func TestAKilledProcess(t *testing.T) {
	const rounds = 10
	for round := range rounds {
		ms := mates(t, 3, nil) // of which the second is another process
		a, c := ms[0], ms[2]
		meetAll(t, a, c)
		p := startProcess(t, "plain", 1, 3)
		meetProcess(t, a, p, c)
		a.loose = true
		p.order("send 0 1000000000")
		mem := a.region(make([]byte, 8))
		enough := 10 + 997*round
		pump(t, "the middle of something", func() bool {
			a.send(1, 100+round*1000)
			if len(a.pending) == 0 {
				a.begin(1, a.eps[1].Flush)
				a.begin(1, func(op fabric.Op) error {
					return a.eps[1].Atomic(fabric.Atomic{Kind: fabric.FetchAdd}, mem.Region.Remote, op)
				})
			}
			return a.got[1] > enough
		}, a, c)
		p.cmd.Process.Kill()
		pump(t, "its end", func() bool { a.send(1, 100); return a.down[1] != nil }, a, c)
		if !strings.Contains(a.down[1].Error(), "its process has ended") || len(a.pending) > 0 {
			t.Errorf("%v; %d operations are left", a.down[1], len(a.pending))
		}
		talk(t, a, c)
	}
}

// A process that is stopped is down after the deadline. It learns of that when it
// goes on, and holds it against nobody else.
func TestAStoppedProcessLearnsThatItWasDeclaredDead(t *testing.T) {
	for _, full := range []bool{false, true} {
		ms := mates(t, 3, soon)
		a, c := ms[0], ms[2]
		meetAll(t, a, c)
		p := startProcess(t, "plain", 1, 3)
		meetProcess(t, a, p, c)
		p.signal(syscall.SIGSTOP)
		for full && a.send(1, maxEager) {
			a.d.Poll(a, 64)
		}
		a.begin(1, a.eps[1].Flush)
		pump(t, "its end", func() bool { return a.down[1] != nil }, a, c)
		silent(t, a.down[1])
		p.signal(syscall.SIGCONT)
		pump(t, "it to learn so", func() bool { return p.down.Load() != nil }, a, c)
		if s := *p.down.Load(); !strings.Contains(s, "it has declared this rank dead") {
			t.Errorf("full %t: it says: %s", full, s)
		}
		talk(t, a, c)
	}
}

// A job that is stopped as a whole, for longer than the deadline, goes on as if
// nothing had been, also where messages were under way for which there was no room.
func TestAJobThatIsStoppedAsAWholeLosesNobody(t *testing.T) {
	tier.Long(t, "it waits for time limits to pass")
	for _, full := range []bool{false, true} {
		p, q := startProcess(t, "plain", 0, 2), startProcess(t, "plain", 1, 2)
		p.meet(1, q.card)
		q.meet(0, p.card)
		p.order("send 1 100")
		q.order("send 0 100")
		talked := func(n, m int64) func() bool {
			return func() bool {
				return p.got[1].Load() == m && q.got[0].Load() == n || p.down.Load() != nil || q.down.Load() != nil
			}
		}
		pump(t, "messages both ways", talked(100, 100))
		n := int64(100)
		if full { // q takes nothing while p sends more than there is room for
			q.signal(syscall.SIGSTOP)
			n += 20000
			p.order("send 1 20000")
			time.Sleep(leastDeadline / 5) // so that it does; less than anybody notices
		}
		p.signal(syscall.SIGSTOP)
		if !full {
			q.signal(syscall.SIGSTOP)
		}
		time.Sleep(4 * leastDeadline) // what is tested: time passes
		p.signal(syscall.SIGCONT)
		q.signal(syscall.SIGCONT)
		p.order("send 1 100")
		q.order("send 0 100")
		pump(t, "all messages", talked(n+100, 200))
		for _, x := range []*process{p, q} {
			if s := x.down.Load(); s != nil {
				t.Errorf("full %t: rank %d has lost %s", full, x.rank, *s)
			}
		}
	}
}

// A process that polls in its own calls only may be silent for any time; that it is
// stopped does not show. Its death does.
func TestAMuteProcessMayBeSilent(t *testing.T) {
	tier.Long(t, "it waits for time limits to pass")
	a := mates(t, 2, soon)[0]
	p := startProcess(t, "mute", 1, 2)
	meetProcess(t, a, p)
	p.order("quiet")
	pump(t, "it to be quiet", p.quiet.Load, a)
	goOn(t, 3*leastDeadline, a)
	p.signal(syscall.SIGSTOP)
	goOn(t, 2*leastDeadline, a)
	if a.down[1] != nil {
		t.Fatal(a.down[1])
	}
	p.signal(syscall.SIGCONT)
	p.order("loud")
	p.order("send 0 10")
	pump(t, "its messages", func() bool { return a.got[1] == 11 }, a)
	p.order("quiet")
	p.cmd.Process.Kill()
	pump(t, "its death", func() bool { return a.down[1] != nil }, a)
}
