package boot

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
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
		if ends[i], err = launcherConn(fd); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { ends[i].Close() })
	}
	return ends[0], ends[1]
}

func pipeToRank(t *testing.T) (*client, net.Conn) {
	a, b := socketPair(t)
	return newClient(a, 2), b
}

// fakePMI is a process manager. It replies as Hydra 4.0 does.
type fakePMI struct {
	size    int
	maxes   string
	twist   func(cmd, answer string) string // may replace a reply
	mu      sync.Mutex
	kvs     map[string]string
	waiting []net.Conn
	final   int
	aborted string // exit code
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
	switch m.cmd {
	case "init":
		return "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0"
	case "get_maxes":
		return "cmd=maxes " + f.maxes
	case "get_my_kvsname":
		return "cmd=my_kvsname kvsname=kvs_1_host"
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
		f.final++
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
	f.kvs = map[string]string{}
	if f.maxes == "" {
		f.maxes = "kvsname_max=256 keylen_max=64 vallen_max=1024"
	}
	ctx := deadline(t)
	errs := make([]error, f.size)
	var ranks sync.WaitGroup
	for rank := range f.size {
		ours, theirs := socketPair(t)
		go f.serve(theirs)
		ranks.Go(func() {
			j, err := joinPMI(ctx, newPMIClient(ours), rank, f.size)
			if err == nil {
				err = body(j)
			}
			errs[rank] = err
			ours.Close()
		})
	}
	ranks.Wait()
	return errs
}

func TestPMIRanksExchangeWithinTheServersLimits(t *testing.T) {
	for _, maxes := range []string{
		"kvsname_max=256 keylen_max=64 vallen_max=1024",
		"kvsname_max=256 keylen_max=256 vallen_max=65536", // lines still stay short
		"kvsname_max=16 keylen_max=24 vallen_max=64",
	} {
		t.Run(maxes, func(t *testing.T) {
			f := &fakePMI{size: 3, maxes: maxes}
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
				if len(j.LocalRanks) != 3 || fmt.Sprint(j.Hosts) != "[0 0 0]" || j.Launcher != LauncherPMI1 {
					return fmt.Errorf("%+v", j)
				}
				return errors.Join(j.Close(), j.Close())
			}) {
				if err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
			if f.final != 3 {
				t.Errorf("%d ranks have finalized", f.final)
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
			if barriers++; barriers > 1 { // the first is joinPMI's
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
	cards := [][]byte{
		card{host: here, cores: []byte{0b0011}, leads: true, id: [16]byte{7}}.append(nil),
		card{host: there, cores: []byte{0b1111, 1}}.append(nil),
		card{host: here, cores: []byte{0b0110}}.append(nil),
		card{host: there, cores: []byte{0b1111}}.append(nil),
	}
	for rank, want := range []struct {
		local string
		cores int
	}{{"[0 2]", 3}, {"[1 3]", 5}, {"[0 2]", 3}, {"[1 3]", 5}} {
		j, err := jobFromCards(rank, cards)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(j.Hosts) != "[0 1 0 1]" || fmt.Sprint(j.LocalRanks) != want.local || j.Cores != want.cores || !strings.HasPrefix(j.ID, "07") {
			t.Errorf("rank %d: %+v", rank, j)
		}
	}
	cards[1], cards[0] = cards[0], cards[1]
	if _, err := jobFromCards(0, cards); !errors.Is(err, ErrProtocol) {
		t.Error("rank 1 led the job:", err)
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
		p, err := joinChunks(func(i int) (string, error) {
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
