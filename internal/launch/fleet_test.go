package launch

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weft-mpi/weft/internal/testkit/tier"
	"github.com/weft-mpi/weft/mpi/cause"
)

// agents has a Launch start its ranks by agents, which are all on this machine.
func agents(hosts ...Host) func(*Launch) {
	return func(l *Launch) {
		l.Hosts = hosts
		l.Starter = Starter{Command: func(string) []string {
			return []string{"env", roleVar + "=agent", os.Args[0]}
		}}
	}
}

// two is agents for two hosts with so many slots each.
func two(slots int) func(*Launch) { return agents(Host{"a", slots}, Host{"b", slots}) }

func TestAgentsStartTheRanks(t *testing.T) {
	for _, hosts := range [][]Host{
		{{"a", 2}, {"b", 1}, {"c", 3}},
		{{"a", 4}},
		{{"a", 1}, {"b", 1}, {"a", 1}, {"b", 1}}, // the numbers of a host's ranks have gaps
	} {
		out, err := launch(t, 4, "greet", agents(hosts...))
		if err != nil {
			t.Fatalf("%v: %v\n%s", hosts, err, out)
		}
		checkGreetings(t, out, 4, LauncherWeft)
	}
}

// What ranks of one machine are told of one another they are told by agents.
func TestRanksOfSeveralAgentsHearOfOneAnother(t *testing.T) {
	tier.Long(t, "it waits for time limits to pass")
	for _, c := range []struct {
		role  string
		n     int // half of them on each host
		told  int // that many ranks must be told
		first ExitError
	}{
		{"early", 4, 3, ExitError{}},
		{"early code", 4, 3, ExitError{Rank: 1, Code: 3}},
		{"closed", 4, 3, ExitError{}},
		{"failed", 4, 3, ExitError{Rank: 1, Code: 3}},
		{"garbage", 4, 3, ExitError{Rank: 1, Code: -1, Err: ErrProtocol}},
	} {
		t.Run(c.role, func(t *testing.T) {
			out, err := launch(t, c.n, c.role, two(c.n/2), func(l *Launch) {
				if c.first.Err != nil {
					l.KillGrace = enough // the rank itself hangs
				}
			})
			if n := strings.Count(out, "told\n"); n != c.told {
				t.Errorf("%d ranks were told, want %d:\n%s", n, c.told, out)
			}
			all := exits(err)
			if c.first == (ExitError{}) {
				if err != nil {
					t.Errorf("Run: %v", err)
				}
			} else if len(all) != 1 || all[0].Rank != c.first.Rank || all[0].Code != c.first.Code || !errors.Is(all[0].Err, c.first.Err) {
				t.Errorf("Run: %v", err)
			}
		})
	}
}

func TestAHostThatKeepsGoingSurvivesDeathsElsewhere(t *testing.T) {
	out, err := launch(t, 4, "keep going", two(2), keepGoing)
	want := []ExitError{{Rank: 1, Code: -1, Signal: syscall.SIGKILL}, {Rank: 2, Code: 3}}
	if got := exits(err); !reflect.DeepEqual(got, want) {
		t.Errorf("Run: %v, want %v", err, want)
	}
	if strings.Count(out, "lost 1, lost 2, no exchange\n") != 2 {
		t.Errorf("the survivors say:\n%s", out)
	}
}

func TestAnAbortEndsTheRanksOfAllHosts(t *testing.T) {
	for _, role := range []string{"abort", "abort inside"} {
		out, err := launch(t, 4, role, two(2), func(l *Launch) { l.KillGrace = time.Hour })
		if e, ok := errors.AsType[*cause.AbortError](err); !ok || e.Rank != 1 || len(exits(err)) != 0 {
			t.Errorf("%s: %v", role, err)
		}
		noneLeft(t, out)
	}
}

// hanging runs ranks that hang on two hosts, until they all have said so.
func hanging(t *testing.T, ctx context.Context, set ...func(*Launch)) (out func() string, done <-chan error) {
	t.Helper()
	r, w := io.Pipe()
	l := Launch{N: 4, Path: os.Args[0], Env: roleEnv("hang parent"), Stdout: w, KillGrace: patience}
	for _, f := range append([]func(*Launch){two(2)}, set...) {
		f(&l)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- l.Run(ctx)
		w.Close()
	}()
	var all bytes.Buffer
	in := bufio.NewReader(r)
	for range l.N {
		line, err := in.ReadString('\n')
		if all.WriteString(line); err != nil {
			t.Fatalf("%v: %s, %v", err, all.String(), <-ended)
		}
	}
	rest := make(chan struct{})
	go func() {
		defer close(rest)
		io.Copy(&all, in)
	}()
	return func() string { <-rest; return all.String() }, ended
}

// playHangParent hangs, and says who has started it.
func playHangParent() error {
	fmt.Println("hanging", os.Getpid(), "of", os.Getppid())
	time.Sleep(3 * patience)
	return nil
}

// parents are the agents of ranks that hang.
func parents(t *testing.T, out string) (pids []int) {
	t.Helper()
	for line := range strings.Lines(out) {
		var rank, agent int
		if _, err := fmt.Sscanf(line, "hanging %d of %d", &rank, &agent); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(pids, agent) {
			pids = append(pids, agent)
		}
	}
	return pids
}

func TestASignalEndsTheRanksOfAllHosts(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		ctx, cancel := context.WithCancelCause(deadline(t))
		out, done := hanging(t, ctx)
		cancel(&Interrupted{sig})
		if err := <-done; ExitCode(err) != 128+int(sig) || len(exits(err)) > 0 {
			t.Errorf("Run: %v", err)
		}
		noneLeft(t, out())
	}
}

// playAgentKiller: rank 3 kills its agent, and so the ranks of the second host. The
// others hear of it.
func playAgentKiller() error {
	ctx := context.Background()
	j, err := Discover(ctx)
	if err != nil {
		return err
	}
	if _, err := j.Exchange(ctx, nil); err != nil {
		return err
	}
	fmt.Println("hanging", os.Getpid())
	if j.Rank == 3 {
		if _, err := j.Exchange(ctx, nil); err != nil {
			return err
		}
		syscall.Kill(os.Getppid(), syscall.SIGKILL)
		select {}
	}
	if _, err := j.Exchange(ctx, nil); err != nil {
		return err
	}
	for range 2 {
		e := <-j.Events()
		fmt.Printf("lost %d: %v\n", e.Rank, e.Err)
	}
	if _, err := j.Exchange(ctx, nil); !errors.As(err, new(*cause.LostError)) {
		return fmt.Errorf("Exchange without the dead: %v", err)
	}
	return leaveQuietly(j)
}

func TestADeadAgentIsALostHost(t *testing.T) {
	for _, goOn := range []bool{true, false} {
		out, err := launch(t, 4, "agent killer", two(2), func(l *Launch) { l.KeepGoing = goOn })
		host, ok := errors.AsType[*HostError](err)
		if !ok || host.Host != "b" || !reflect.DeepEqual(host.Ranks, []int{2, 3}) || len(exits(err)) > 0 || ExitCode(err) != 1 {
			t.Errorf("keep going %t: Run: %v", goOn, err)
		}
		for _, rank := range []int{2, 3} {
			if want := fmt.Sprintf("lost %d: launch: rank %d is gone: its host b is lost\n", rank, rank); strings.Count(out, want) != 2 {
				t.Errorf("keep going %t: the survivors do not say %q:\n%s", goOn, want, out)
			}
		}
		noneLeftSoon(t, out)
	}
}

// The connection ends, or nothing comes over it any more: the agent ends its ranks.
func TestRanksDoNotOutliveTheirLauncherElsewhere(t *testing.T) {
	for _, how := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSTOP} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = roleEnv("launcher of agents")
		cmd.Stdout = w
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		w.Close()
		in, out := bufio.NewReader(r), ""
		for range 4 {
			line, err := in.ReadString('\n')
			if out += line; err != nil {
				t.Fatal(err, out)
			}
		}
		cmd.Process.Signal(how)
		noneLeftSoon(t, out)
		cmd.Process.Kill()
		cmd.Wait()
		r.Close()
	}
}

// playLauncherOfAgents starts ranks that hang, to be killed or stopped.
func playLauncherOfAgents() error {
	l := Launch{N: 4, Path: os.Args[0], Env: roleEnv("hang"), Stdout: os.Stdout, Silence: DefaultSilence / 10}
	two(2)(&l)
	return l.Run(context.Background())
}

// A batch system tells all processes of a job to exit.
func TestAnAgentThatIsToldToExitEndsTheJob(t *testing.T) {
	pids := make(chan string, 8)
	l := Launch{N: 4, Path: os.Args[0], Env: roleEnv("hang parent"), Stdout: lineWriter(pids)}
	two(2)(&l)
	done := make(chan error, 1)
	go func() { done <- l.Run(deadline(t)) }()
	out := ""
	for range l.N {
		out += <-pids
	}
	syscall.Kill(parents(t, out)[0], syscall.SIGTERM)
	err := <-done
	if host, ok := errors.AsType[*HostError](err); !ok || !strings.Contains(host.Error(), "its agent was told to exit") || len(exits(err)) > 0 {
		t.Errorf("Run: %v", err)
	}
	noneLeft(t, out)
}

// lineWriter is a channel of lines as a writer.
type lineWriter chan<- string

func (c lineWriter) Write(p []byte) (int, error) {
	c <- string(p)
	return len(p), nil
}

func TestInputAndOutputPassThroughAgents(t *testing.T) {
	long := strings.Repeat("a line of input\n", 4*window/16)
	out, err := launch(t, 2, "cat", two(1), func(l *Launch) { l.Stdin = strings.NewReader(long) })
	if err != nil || out != long {
		t.Errorf("%d bytes came out of %d, %v", len(out), len(long), err)
	}
	for _, label := range []bool{false, true} {
		err := pipe(t, 4, "long", func(r, w *os.File) { checkLong(t, r, 4, label) }, two(2), func(l *Launch) { l.Label = label })
		if err != nil {
			t.Error(err)
		}
	}
	var b bytes.Buffer
	if _, err := launch(t, 1, "huge", two(1), func(l *Launch) { l.Stdout = &b }); err != nil || b.Len() != hugeLine+1 {
		t.Errorf("%d bytes came of %d, %v", b.Len(), hugeLine+1, err)
	}
}

func TestTheEnvironmentAndTheFolderReachOtherHosts(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	out, err := launch(t, 2, "hang", two(1), func(l *Launch) {
		l.Path, l.Args, l.Dir = "sh", []string{"-c", `echo "$(pwd) $WEFT_X $HOME $SSH_X $0 $WEFT_RANK of $WEFT_SIZE"`, "it's \"me\""}, dir
		l.Env = append(l.Env, "WEFT_X=a b", "HOME=/elsewhere", "SSH_X=launcher", "WEFT_RANK=9")
	})
	for rank := range 2 {
		if want := fmt.Sprintf("%s a b %s  it's \"me\" %d of 2\n", dir, os.Getenv("HOME"), rank); err != nil || strings.Count(out, want) != 1 {
			t.Errorf("no rank says %q: %v\n%s", want, err, out)
		}
	}
}

// Whatever goes wrong before the ranks start is an error that says where and what, and
// nothing is left.
func TestAHostThatCanNotStartRanksSaysWhy(t *testing.T) {
	tier.Long(t, "it waits for time limits to pass")
	shell := func(script string) func(*Launch) {
		return func(l *Launch) {
			agent := l.Starter.Command("")
			l.Starter = SSH([]string{"sh", "-c", `while [ "$1" != -- ]; do shift; done; shift 2; ` + script, "ssh"}, agent...)
		}
	}
	frame := func(version byte, kind frameKind) string {
		b := appendFrame(nil, kind, nil)
		b[2] = version
		f := preamble + string(b)
		var octal strings.Builder
		for _, c := range []byte(f) {
			fmt.Fprintf(&octal, `\%03o`, c)
		}
		return "printf '" + octal.String() + "'; exec sleep 1000"
	}
	for _, c := range []struct {
		name string
		set  func(*Launch)
		says []string
	}{
		{"no program", func(l *Launch) { l.Path = "/no/such/program" }, []string{"host a: ", "/no/such/program: no such file", "each host needs the program"}},
		{"no program in PATH", func(l *Launch) { l.Path = "no-such-program" }, []string{`"no-such-program": executable file not found in $PATH`}},
		{"a program that can't run", func(l *Launch) { l.Path = notExecutable(t) }, []string{"host a: ", "exec format error"}},
		{"no folder", func(l *Launch) { l.Dir = "/no/such/folder" }, []string{"host a: ", "/no/such/folder: no such file"}},
		{"no ssh", func(l *Launch) { l.Starter = SSH([]string{"/no/such/ssh"}, "agent") }, []string{"host a: start its agent: ", "/no/such/ssh"}},
		{"no login", shell("echo Permission denied >&2; exit 255"), []string{"exit status 255", `"Permission denied"`, "try: sh -c"}},
		{"no weft there", shell(`exec /no/such/weft agent`), []string{"exit status 127", "the host needs weft at the path", "--agent PATH"}},
		{"a shell that talks", shell(`echo "Welcome to $0"; exec sh -c "$*"`), nil},
		{"a shell that talks for ever", shell(`yes welcome`), []string{`no agent, but "welcome\nwelcome`}},
		{"no agent", shell(`echo "try again later"`), []string{"exit status 0", "no agent, but \"try again later"}},
		{"another release", shell(frame(77, kindReady)), []string{"speaks version 77 of the launcher protocol", "from one release"}},
		{"a frame that no agent sends", shell(frame(frameVersion, kindSetup)), []string{"frame of kind 10 from an agent"}},
		{"an agent that is silent", func(l *Launch) { shell(frame(frameVersion, kindReady))(l); l.Silence = time.Second }, []string{"nothing was heard from it for 1s"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := launch(t, 2, "greet", agents(Host{"a", 2}), c.set, func(l *Launch) { l.KillGrace = DefaultKillGrace })
			if c.says == nil {
				if err != nil {
					t.Errorf("Run: %v", err)
				}
				checkGreetings(t, out, 2, LauncherWeft)
				return
			}
			if _, ok := errors.AsType[*HostError](err); !ok || out != "" {
				t.Errorf("Run: %v\n%s", err, out)
			}
			for _, says := range c.says {
				if err == nil || !strings.Contains(err.Error(), says) {
					t.Errorf("it does not say %q: %v", says, err)
				}
			}
		})
	}
}

// No rank starts before all hosts are there.
func TestOneHostThatIsMissingStartsNoRank(t *testing.T) {
	out, err := launch(t, 4, "lines", two(2), func(l *Launch) {
		start := l.Starter.Command
		l.Starter.Command = func(host string) []string {
			if host == "b" {
				return []string{"sh", "-c", "sleep 0.1; echo no route >&2; exit 255"}
			}
			return start(host)
		}
	})
	if host, ok := errors.AsType[*HostError](err); !ok || host.Host != "b" || out != "" {
		t.Errorf("Run: %v\n%s", err, out)
	}
}

func TestRanksAreGivenToHostsInTheirOrder(t *testing.T) {
	for _, c := range []struct {
		n     int
		hosts []Host
		want  string
	}{
		{3, []Host{{"a", 2}, {"b", 2}}, "[a b] map[a:[0 1] b:[2]] <nil>"},
		{2, []Host{{"a", 2}, {"b", 2}}, "[a] map[a:[0 1]] <nil>"},
		{4, []Host{{"a", 1}, {"b", 1}, {"a", 2}}, "[a b] map[a:[0 2 3] b:[1]] <nil>"},
		{5, []Host{{"a", 2}, {"b", 2}}, "[] map[] launch: 5 ranks: the limit is 4 (the hosts have no more slots: name further hosts, or give a host more of them, as in NAME:4)"},
		{1, []Host{{"a", 0}}, "[] map[] launch: host a has 0 slots, the least is 1"},
		{1, []Host{}, "[] map[] launch: 1 ranks: the limit is 0 (the hosts have no more slots: name further hosts, or give a host more of them, as in NAME:4)"},
	} {
		names, ranks, err := place(c.n, c.hosts)
		if got := fmt.Sprint(names, ranks, err); got != c.want {
			t.Errorf("%d ranks on %v: %s, want %s", c.n, c.hosts, got, c.want)
		}
	}
}
