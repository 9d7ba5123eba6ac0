package launch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// socketPair returns the two ends of a launcher's connection to its rank.
func socketPair(t *testing.T) (a, b net.Conn) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	var ends [2]net.Conn
	for i, fd := range fds {
		if ends[i], err = unixConn(fd, "rank"); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ends[i].Close() })
	}
	return ends[0], ends[1]
}

func pipeToRank(t *testing.T) (*client, net.Conn) {
	a, b := socketPair(t)
	return newClient(a, 2, nil), b
}

// fakePMI is a process manager. It replies as Hydra 4.0 does.
type fakePMI struct {
	size    int
	name    string // of the key-value space, if it matters
	maxes   string
	card    func(rank int) card             // by default the process's own
	twist   func(cmd, answer string) string // may replace a reply
	came    func(waiting int)               // told of each rank in the barrier
	mu      sync.Mutex
	kvs     map[string]string
	seen    map[string]int // requests by command
	waiting []net.Conn
	aborted string // exit code
}

// fakePMIs counts them: each has a key-value space of its own name.
var fakePMIs atomic.Int64

// open makes f ready to serve.
func (f *fakePMI) open() {
	f.kvs, f.seen = map[string]string{}, map[string]int{}
	if f.maxes == "" {
		f.maxes = "kvsname_max=256 keylen_max=64 vallen_max=1024"
	}
	if f.name == "" {
		f.name = fmt.Sprintf("kvs_%d_host", fakePMIs.Add(1))
	}
}

func (f *fakePMI) serve(c net.Conn) {
	for in := bufio.NewScanner(c); in.Scan(); {
		m, err := parsePMI(in.Text())
		if err != nil {
			fmt.Fprintln(c, "cmd=error", err)
			return
		}
		if len(in.Text()) >= 1024 {
			return // as Slurm would
		}
		f.mu.Lock()
		answer := f.answer(c, m)
		if f.twist != nil {
			answer = f.twist(m.cmd, answer)
		}
		f.mu.Unlock()
		if answer != "" {
			fmt.Fprintln(c, answer)
		}
	}
}

func (f *fakePMI) answer(c net.Conn, m pmiMessage) string {
	f.seen[m.cmd]++
	switch m.cmd {
	case "init":
		return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0"
	case "get_maxes":
		return "cmd=maxes " + f.maxes
	case "get_my_kvsname":
		return "cmd=my_kvsname kvsname=" + f.name
	case "put":
		f.kvs[m.get("key")] = m.get("value")
		return "cmd=put_result rc=0 msg=success"
	case "get":
		if v, ok := f.kvs[m.get("key")]; ok {
			return "cmd=get_result rc=0 msg=success value=" + v
		}
		return "cmd=get_result rc=-1 msg=key_" + m.get("key") + "_not_found value=unknown"
	case "barrier_in":
		f.waiting = append(f.waiting, c)
		if f.came != nil {
			f.came(len(f.waiting))
		}
		if len(f.waiting) < f.size {
			return ""
		}
		for _, w := range f.waiting {
			if w != c {
				fmt.Fprintln(w, "cmd=barrier_out")
			}
		}
		f.waiting = nil
		return "cmd=barrier_out"
	case "finalize":
		return "cmd=finalize_ack"
	case "abort":
		f.aborted = m.get("exitcode")
		return ""
	}
	return "cmd=unknown"
}

// join starts a goroutine for each rank, which joins the job of f and runs
// body.
func (f *fakePMI) join(t *testing.T, body func(*Job) error) []error {
	t.Helper()
	f.open()
	errs := make([]error, f.size)
	var ranks sync.WaitGroup
	for rank := range f.size {
		ranks.Go(func() { errs[rank] = f.rank(t, rank, body) })
	}
	ranks.Wait()
	return errs
}

// rank joins the job of f, which is open, and runs body.
func (f *fakePMI) rank(t *testing.T, rank int, body func(*Job) error) error {
	t.Helper()
	ours, theirs := socketPair(t)
	go f.serve(theirs)
	defer ours.Close()
	return f.joinOver(t, ours, rank, body)
}

func (f *fakePMI) joinOver(t *testing.T, conn net.Conn, rank int, body func(*Job) error) error {
	mine, err := newCard()
	if err != nil {
		return err
	}
	if f.card != nil {
		mine = f.card(rank)
	}
	j, err := joinPMIAs(deadline(t), newPMIClient(conn), rank, f.size, mine)
	if err != nil {
		return err
	}
	return body(j)
}

func TestPMIRanksExchangeWithinTheServersLimits(t *testing.T) {
	for _, maxes := range []string{
		"kvsname_max=256 keylen_max=64 vallen_max=1024",
		"kvsname_max=256 keylen_max=256 vallen_max=65536", // lines still stay short
		"kvsname_max=16 keylen_max=24 vallen_max=64",
	} {
		t.Run(maxes, func(t *testing.T) {
			f := &fakePMI{size: 3, maxes: maxes, card: func(rank int) card { return card{host: hostID{byte(rank % 2)}} }}
			for rank, err := range f.join(t, func(j *Job) error {
				for round := range 2 {
					mine := strings.Repeat(fmt.Sprint(j.Rank, round, "=\n\x00 "), 3000*j.Rank)
					all, err := j.Exchange(t.Context(), []byte(mine))
					if err != nil {
						return err
					}
					for i, b := range all {
						if want := strings.Repeat(fmt.Sprint(i, round, "=\n\x00 "), 3000*i); string(b) != want {
							return fmt.Errorf("rank %d brought %d bytes, want %d", i, len(b), len(want))
						}
					}
				}
				if fmt.Sprint(j.Hosts) != "[0 1 0]" || j.Launcher != LauncherPMI1 {
					return fmt.Errorf("%+v", j)
				}
				return errors.Join(j.Close(), j.Close())
			}) {
				if err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
			if f.seen["finalize"] != 3 {
				t.Errorf("%d ranks have finalized", f.seen["finalize"])
			}
		})
	}
}

func TestPMIServersThatMisbehaveAreNamed(t *testing.T) {
	for _, c := range []struct {
		name, cmd, answer, says string
	}{
		{"another version", "init", "cmd=response_to_init pmi_version=2 pmi_subversion=0 rc=0", "PMI version 2"},
		{"refusal", "init", "cmd=response_to_init rc=-1 msg=no_way", "rc=-1 msg=no_way"},
		{"no limits", "get_maxes", "cmd=maxes", "keylen_max"},
		{"absurd limits", "get_maxes", "cmd=maxes kvsname_max=9 keylen_max=64 vallen_max=8", "takes 7"},
		{"absurd keys", "get_maxes", "cmd=maxes kvsname_max=9 keylen_max=8 vallen_max=1024", "takes 7"},
		{"no name", "get_my_kvsname", "cmd=my_kvsname", "without a name"},
		{"wrong answer", "barrier_in", "cmd=put_result rc=0", `"put_result" to "cmd=barrier_in"`},
		{"garbage", "put", "\x01\x02", "PMI line with byte 0x01"},
		{"text", "put", "HTTP/1.1 400 Bad Request", "does not begin with cmd="},
		{"endless line", "put", strings.Repeat("x", pmiReadLine+1), "PMI line of more than"},
		{"empty line", "put", " ", "empty PMI line"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &fakePMI{size: 1, twist: func(cmd, answer string) string {
				if cmd == c.cmd {
					return c.answer
				}
				return answer
			}}
			errs := f.join(t, func(j *Job) error { return nil })
			if errs[0] == nil || !strings.Contains(errs[0].Error(), c.says) {
				t.Errorf("got %v, want %q", errs[0], c.says)
			}
		})
	}
}

func TestPMIExchangeEndsWithItsContextAndWithItsServer(t *testing.T) {
	reached := make(chan struct{}, 1)
	f := &fakePMI{size: 1}
	barriers := 0
	f.twist = func(cmd, answer string) string {
		if cmd == "barrier_in" {
			if barriers++; barriers > 2 { // the first two are joinPMI's
				reached <- struct{}{}
				return ""
			}
		}
		return answer
	}
	errs := f.join(t, func(j *Job) error {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-reached
			cancel()
		}()
		if _, err := j.Exchange(ctx, nil); !errors.Is(err, context.Canceled) {
			return fmt.Errorf("exchange: %v", err)
		}
		if err := j.Close(); err == nil {
			return errors.New("an interrupted conversation was finalized")
		}
		return nil
	})
	if errs[0] != nil {
		t.Error(errs[0])
	}
	a, b := socketPair(t)
	b.Close()
	if _, err := joinPMI(t.Context(), newPMIClient(a), 0, 1); err == nil {
		t.Error("joined a closed connection")
	}
}

func TestHostsAreToldApart(t *testing.T) {
	here, there := hostID{1}, hostID{2}
	cores := [][]byte{{0b0011}, {0b1111, 1}, {0b0110}, {0b1111}}
	f := &fakePMI{size: 4, card: func(rank int) card {
		return card{host: []hostID{here, there}[rank%2], cores: cores[rank]}
	}}
	want := []struct {
		local string
		cores int
	}{{"[0 2]", 3}, {"[1 3]", 5}, {"[0 2]", 3}, {"[1 3]", 5}}
	var ids sync.Map
	for rank, err := range f.join(t, func(j *Job) error {
		w := want[j.Rank]
		ids.Store(j.ID+string(j.Key[:]), true)
		if fmt.Sprint(j.Hosts) != "[0 1 0 1]" || fmt.Sprint(j.LocalRanks) != w.local || j.Cores != w.cores || j.Key == (Key{}) {
			return fmt.Errorf("%+v", j)
		}
		return j.Close()
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
	n := 0
	ids.Range(func(_, _ any) bool { n++; return true })
	if n != 1 {
		t.Errorf("%d ids and keys in one job", n)
	}
}

func FuzzPMILine(f *testing.F) {
	f.Add("cmd=get_result rc=0 msg=success value=abc")
	f.Add("cmd=get_result rc=-1 msg=key not found")
	f.Add("cmd= =")
	f.Fuzz(func(t *testing.T, line string) {
		m, err := parsePMI(line)
		if err != nil {
			if !errors.Is(err, ErrProtocol) {
				t.Fatal(err)
			}
			return
		}
		if m.cmd == "" {
			t.Fatal("no command")
		}
		again := "cmd=" + m.cmd
		for _, x := range m.fields {
			if strings.ContainsAny(x.key+x.value, " \t\r\n") || x.key == "" {
				t.Fatalf("field %q", x)
			}
			again += " " + x.key + "=" + x.value
		}
		if b, err := parsePMI(again); err != nil || fmt.Sprint(b) != fmt.Sprint(m) {
			t.Fatalf("%q, read as %q, comes back as %v, %v", line, again, b, err)
		}
	})
}

func FuzzPMIChunks(f *testing.F) {
	f.Add("1.", "", "")
	f.Add("3.YWJj", "ZGVm", "Zw")
	f.Add("99999999.YWJj", "", "")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		chunks := []string{a, b, c}
		p, err := joinChunks(MaxExchange, func(i int) (string, error) {
			if i >= len(chunks) {
				return "", protocolError("no chunk %d", i)
			}
			return chunks[i], nil
		})
		if err == nil && len(p) > MaxExchange {
			t.Fatalf("%d bytes", len(p))
		}
		if err != nil && !errors.Is(err, ErrProtocol) {
			t.Fatal(err)
		}
	})
}
