package launch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// greetingVar has the bytes that an intruder writes.
const greetingVar = "BOOT_TEST_GREETING"

// process starts a process that plays a role. line returns the next line of its
// output; the process is killed at the end of the test.
func process(t *testing.T, role, arg, greeting string, set ...func(*exec.Cmd)) (line func() string, cmd *exec.Cmd) {
	t.Helper()
	cmd = exec.CommandContext(deadline(t), os.Args[0], arg)
	cmd.Env = roleEnv(role)
	if greeting != "" {
		file, err := os.CreateTemp(t.TempDir(), "greeting")
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.WriteString(greeting); err != nil {
			t.Fatal(err)
		}
		cmd.Env = append(cmd.Env, greetingVar+"="+file.Name())
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range set {
		f(cmd)
	}
	if cmd.Stdin == nil {
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { in.Close() })
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	lines := bufio.NewReader(out)
	return func() string {
		s, err := lines.ReadString('\n')
		if err != nil {
			return "error: " + err.Error()
		}
		return strings.TrimSuffix(s, "\n")
	}, cmd
}

// pmiRank is a process that is a rank of a fakePMI.
type pmiRank struct {
	line  func() string
	cmd   *exec.Cmd
	order io.Writer // commands of playPMIRank
	leads bool
	joins string // its first line
}

// start starts the ranks of f as processes, and waits until they have joined.
func (f *fakePMI) start(t *testing.T, set ...func(*exec.Cmd)) []*pmiRank {
	t.Helper()
	f.open()
	ranks := make([]*pmiRank, f.size)
	for i := range ranks {
		ours, theirs := socketPair(t)
		go f.serve(ours)
		file, err := theirs.(interface{ File() (*os.File, error) }).File()
		if err != nil {
			t.Fatal(err)
		}
		theirs.Close()
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { w.Close() })
		ranks[i] = &pmiRank{order: w}
		ranks[i].line, ranks[i].cmd = process(t, "pmi rank", "", "", append(set, func(cmd *exec.Cmd) {
			cmd.Stdin, cmd.ExtraFiles = r, []*os.File{file}
			cmd.Env = append(cmd.Env, "PMI_FD=3", fmt.Sprint("PMI_RANK=", i), fmt.Sprint("PMI_SIZE=", f.size))
		})...)
		file.Close()
		r.Close()
	}
	for _, r := range ranks {
		r.joins = r.line()
		r.leads = strings.Contains(r.joins, "pmiLeader")
		if !strings.HasPrefix(r.joins, "joined") {
			t.Fatal(r.joins)
		}
	}
	return ranks
}

func (r *pmiRank) tell(command string) { fmt.Fprintln(r.order, command) }

// playPMIRank joins, and exchanges and gives up as its input says.
func playPMIRank() error {
	j, err := Discover(context.Background())
	if err != nil {
		return err
	}
	fmt.Printf("joined %T hosts %v local %v\n", j.boot, j.Hosts, j.LocalRanks)
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	var calls sync.WaitGroup
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		switch in.Text() {
		case "exchange":
			calls.Go(func() { fmt.Println("exchanged:", checkRound(ctx, j, 0)) })
		case "give up":
			cancel(errors.New("the user has no more patience"))
		}
	}
	calls.Wait()
	return nil
}

// oneHost starts three ranks and returns the leader and the members.
func oneHost(t *testing.T, f *fakePMI) (leader *pmiRank, members []*pmiRank) {
	t.Helper()
	for _, r := range f.start(t) {
		if r.leads && leader == nil {
			leader = r
		} else {
			members = append(members, r)
		}
	}
	if leader == nil || len(members) != 2 {
		t.Fatalf("%d members", len(members))
	}
	return leader, members
}

func (r *pmiRank) kill(t *testing.T) {
	t.Helper()
	if err := r.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	r.cmd.Wait() // its descriptors are closed
}

func (r *pmiRank) want(t *testing.T, says ...string) {
	t.Helper()
	got := r.line()
	for _, s := range says {
		if !strings.Contains(got, s) {
			t.Errorf("a rank says %q, want %q", got, s)
		}
	}
}

func TestPMITheDeathOfAMemberIsToldOnItsHost(t *testing.T) {
	t.Run("before the exchange", func(t *testing.T) {
		leader, members := oneHost(t, &fakePMI{size: 3})
		members[1].kill(t)
		leader.tell("exchange")
		members[0].tell("exchange")
		leader.want(t, "is gone: it has closed its connection")
		members[0].want(t, "is gone: it has closed its connection")
	})
	t.Run("while the others wait", func(t *testing.T) {
		waits := make(chan struct{}, 100)
		f := &fakePMI{size: 3, came: func(int) { waits <- struct{}{} }}
		leader, members := oneHost(t, f)
		for range 2 * f.size { // joining
			<-waits
		}
		leader.tell("exchange")
		members[0].tell("exchange")
		<-waits
		members[1].kill(t)
		leader.want(t, "is gone: it has closed its connection")
		members[0].want(t, "is gone: it has closed its connection")
	})
}

func TestPMITheDeathOfALeaderIsToldToItsMembers(t *testing.T) {
	t.Run("before the exchange", func(t *testing.T) {
		leader, members := oneHost(t, &fakePMI{size: 3})
		leader.kill(t)
		for _, m := range members {
			m.tell("exchange")
			m.want(t, fmt.Sprintf("process %d, which exchanges for the ranks of this host, has closed its connection", leader.cmd.Process.Pid))
		}
	})
	t.Run("while they wait", func(t *testing.T) {
		waits := make(chan struct{}, 100)
		f := &fakePMI{size: 3, came: func(int) { waits <- struct{}{} }}
		leader, members := oneHost(t, f)
		for range 2 * f.size {
			<-waits
		}
		for _, m := range members {
			m.tell("exchange")
			<-waits
		}
		leader.kill(t)
		for _, m := range members {
			m.want(t, "process ", "which exchanges for the ranks of this host", "connection")
		}
	})
}

// A rank that hangs does not come to the barrier either.
func TestPMIAnExchangeWithARankThatHangsEndsWithItsContext(t *testing.T) {
	for _, hangs := range []string{"a member", "the leader"} {
		t.Run(hangs, func(t *testing.T) {
			waits := make(chan struct{}, 100)
			f := &fakePMI{size: 3, came: func(int) { waits <- struct{}{} }}
			leader, members := oneHost(t, f)
			for range 2 * f.size {
				<-waits
			}
			stopped := leader
			if hangs == "a member" {
				stopped, members = members[1], members[:1]
			}
			if err := stopped.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
				t.Fatal(err)
			}
			for _, r := range members {
				r.tell("exchange")
				<-waits
			}
			if stopped != leader {
				leader.tell("exchange")
				leader.tell("give up")
				leader.want(t, "exchanged: launch: exchange: ", "no more patience")
			}
			for _, r := range members {
				r.tell("give up")
				r.want(t, "exchanged: launch: exchange: ")
			}
		})
	}
}

// Whoever has to be waited for is named.
func TestPMIAnExchangeSaysWhomItWaitsFor(t *testing.T) {
	patient, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the user has no more patience"))
	f := &fakePMI{size: 2}
	for rank, err := range f.join(t, func(j *Job) error {
		want := ""
		switch j.boot.(type) {
		case *pmiMember:
			want = fmt.Sprintf("process %d, which exchanges for the ranks of this host, has not taken", os.Getpid())
		case *pmiLeader:
			want = fmt.Sprintf("wait for what this host's rank %d must bring: ", 1-j.Rank)
		}
		_, err := j.boot.exchange(patient, nil)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "no more patience") {
			return fmt.Errorf("%v, want %q", err, want)
		}
		return nil
	}) {
		if err != nil {
			t.Errorf("rank %d: %v", rank, err)
		}
	}
}

// Namespaces of one machine that have the same host name are several hosts.
func TestPMINamespacesOfOneNameAreHosts(t *testing.T) {
	needRoot(t)
	f := &fakePMI{size: 3}
	ranks := f.start(t, func(cmd *exec.Cmd) {
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWPID}
	})
	for i, r := range ranks {
		if want := fmt.Sprintf("hosts [0 1 2] local [%d]", i); !strings.Contains(r.joins, want) {
			t.Errorf("rank %d says %q, want %q", i, r.joins, want)
		}
		r.tell("exchange")
	}
	for _, r := range ranks {
		r.want(t, "exchanged: <nil>")
	}
	if f.seen["get"] != 2*3*2 {
		t.Errorf("%d gets", f.seen["get"])
	}
}
