package mpi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/internal/testkit/tier"
	"github.com/weft-mpi/weft/mpi"
)

// roleVar makes the test binary play a rank instead of running tests.
const roleVar = "WEFT_MPI_TEST_ROLE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(teamVar); dir != "" {
		os.Unsetenv(teamVar) // a process that a test starts is no member
		if err := joinTeam(dir); err != nil {
			fmt.Fprintf(os.Stderr, "join the test job: %v\n", err)
			os.Exit(1)
		}
		code := m.Run()
		team.leave()
		os.Exit(code)
	}
	role := os.Getenv(roleVar)
	if role == "" {
		os.Exit(m.Run())
	}
	play := playRank
	if programs[role] != nil {
		play = playProgram
	}
	if err := play(role); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", role, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// roles are what rank processes do with their communicator. A role that ends
// in a death returns what rank 0 was told of it.
var roles = map[string]func(c *mpi.Comm) error{
	"all sizes":             playAllSizes,
	"blocked for a while":   playBlocked,
	"killed: Recv":          playKilledInRecv,
	"killed: parked Recv":   playKilledInRecv,
	"killed: eager":         func(c *mpi.Comm) error { return playKilledReceiver(c, 1000, 2000) },
	"killed: chunks":        func(c *mpi.Comm) error { return playKilledReceiver(c, 10_000, 200) },
	"killed: rendezvous":    func(c *mpi.Comm) error { return playKilledReceiver(c, 4<<20, 5) },
	"killed: cooperative":   func(c *mpi.Comm) error { return playKilledReceiver(c, 8<<20, 3) },
	"killed: sender, eager": func(c *mpi.Comm) error { return playKilledSender(c, 1000, 2000) },
	"killed: sender, coop":  func(c *mpi.Comm) error { return playKilledSender(c, 8<<20, 3) },
}

// processFabric is what joins the ranks that are processes: shm unless the
// environment chooses another.
func processFabric() string {
	if f := os.Getenv("WEFT_FABRIC"); f != "" {
		return f
	}
	return "shm"
}

func playRank(role string) error {
	name, _, _ := strings.Cut(role, "#")
	before := openFiles()
	ctx, cancel := context.WithTimeoutCause(context.Background(), patience, errors.New("the test waited too long"))
	defer cancel()
	divide()
	w, err := mpi.Init(ctx, mpi.WithFabric(processFabric()))
	if err != nil {
		return err
	}
	c := w.Comm().WithContext(ctx)
	fmt.Printf("pid %d\n", os.Getpid())
	if round := survivals[name]; round != nil {
		return playSurvivor(w, c, round)
	}
	if name == "shrinks" {
		return playShrinks(w, c)
	}
	if name == "any source" {
		return playAnySource(w, c)
	}
	if name == "mortal" {
		return playMortal(w, c, role)
	}
	if name == "abort" {
		return playAbort(c, w)
	}
	dies := strings.HasPrefix(name, "killed")
	err = roles[name](c)
	told := time.Now().UnixNano()
	end := w.Finalize()
	if !dies {
		return errors.Join(err, end)
	}
	if !errors.Is(err, mpi.ErrProcFailed) {
		return fmt.Errorf("rank 0 was told %w, want ErrProcFailed", err)
	}
	if !errors.Is(end, mpi.ErrProcFailed) {
		return fmt.Errorf("Finalize without rank 1: %w", end)
	}
	// Init took the launcher's socket over. What the process keeps besides, once, is
	// the arena and the poller of the runtime.
	if after := openFiles(); after > before+4 {
		return fmt.Errorf("%d descriptors are open, %d were before Init", after, before)
	}
	fmt.Println("told at", told)
	fmt.Println("survived")
	return nil
}

func openFiles() int {
	es, _ := os.ReadDir("/proc/self/fd")
	return len(es)
}

func playAllSizes(c *mpi.Comm) error {
	for _, n := range []int{0, 1, 8, 47, 48, 49, 64, 1000, 4096, 8191, 8192, 8193, 16_000, 20_479, 20_480, 65_536, 65_537, 131_071, 131_072, 1 << 20, 4<<20 + 3} {
		for p := range c.Size() {
			for round := range 3 {
				in := make([]byte, n)
				partner := (p - c.Rank() + 2*c.Size()) % c.Size() // an involution
				if _, err := mpi.Sendrecv(c, pattern(n, c.Rank()+round), partner, p, in, partner, p); err != nil {
					return fmt.Errorf("%d bytes with rank %d: %w", n, partner, err)
				}
				if i := differs(in, partner+round); i >= 0 {
					return fmt.Errorf("byte %d of %d from rank %d differs", i, n, partner)
				}
			}
		}
	}
	return c.Barrier()
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// playBlocked measures what a rank uses while it is blocked in Recv.
func playBlocked(c *mpi.Comm) error {
	if err := c.Barrier(); err != nil {
		return err
	}
	if c.Rank() == 1 {
		<-time.After(2 * time.Second) // the time that is measured
		return mpi.Send(c, []byte{1}, 0, 1)
	}
	wall, cpu := time.Now(), cpuTime()
	if _, err := mpi.Recv(c, []byte{0}, 1, 1); err != nil {
		return err
	}
	used, of := cpuTime()-cpu, time.Since(wall)
	fmt.Printf("used %v of %v\n", used, of)
	if used > of/10 {
		return fmt.Errorf("a rank blocked in Recv used %v of %v", used, of)
	}
	return nil
}

func die() {
	fmt.Println("killed at", time.Now().UnixNano())
	syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// playKilledInRecv: rank 1 dies while rank 0 is blocked in Recv.
func playKilledInRecv(c *mpi.Comm) error {
	if c.Rank() == 1 {
		pid := []int{0}
		if _, err := mpi.Recv(c, pid, 0, 1); err != nil {
			return err
		}
		if os.Getenv(roleVar) == "killed: parked Recv" {
			for !asleep(pid[0]) {
			}
		}
		die()
	}
	if err := mpi.Send(c, []int{os.Getpid()}, 1, 1); err != nil {
		return err
	}
	_, err := mpi.Recv(c, []byte{0}, 1, 2)
	return err
}

// asleep reports whether all threads of a process sleep.
func asleep(pid int) bool {
	stats, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, name := range stats {
		b, rerr := os.ReadFile(name)
		if rerr == nil && !bytes.Contains(b, []byte(") S ")) {
			return false
		}
	}
	return err == nil && len(stats) > 0
}

// playKilledReceiver: rank 1 dies amid the messages that rank 0 sends it.
func playKilledReceiver(c *mpi.Comm, n, after int) error {
	b := make([]byte, n)
	for i := 0; ; i++ {
		if c.Rank() == 0 {
			if err := mpi.Send(c, b, 1, 1); err != nil {
				return err
			}
			continue
		}
		if i == after {
			go die() // at some point of what follows
		}
		if _, err := mpi.Recv(c, b, 0, 1); err != nil {
			return err
		}
	}
}

// playKilledSender: rank 1 dies amid the messages that it sends to rank 0.
func playKilledSender(c *mpi.Comm, n, after int) error {
	b := make([]byte, n)
	for i := 0; ; i++ {
		if c.Rank() == 0 {
			st, err := mpi.Recv(c, b, 1, 1)
			if err != nil {
				return err
			}
			if st.Bytes != uint64(n) || differs(b, 1) >= 0 {
				return errors.New("a message came with other bytes")
			}
			continue
		}
		if i == 0 {
			fill(b, 1)
		}
		if i == after {
			go die()
		}
		if err := mpi.Send(c, b, 0, 1); err != nil {
			return err
		}
	}
}

// runRanks runs the ranks of a role as processes and returns what they printed.
func runRanks(t *testing.T, n int, role string) (out string, err error) {
	t.Helper()
	if role != "" && roles[role] == nil {
		t.Fatalf("no role %q", role)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	var stdout, stderr bytes.Buffer
	l := launch.Launch{
		N: n, Path: exe, Env: append(os.Environ(), roleVar+"="+role, "GORACE=atexit_sleep_ms=0"),
		Stdout: &stdout, Stderr: &stderr,
		KillGrace: patience, // the survivor is to end by itself
	}
	before := sharedMemory(t)
	err = l.Run(ctx)
	if after := sharedMemory(t); !slices.Equal(before, after) {
		t.Errorf("/dev/shm holds %v, held %v before", after, before)
	}
	pids := 0
	for line := range strings.Lines(stdout.String()) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "pid "); ok {
			pid, _ := strconv.Atoi(text)
			pids++
			if kerr := syscall.Kill(pid, 0); kerr != syscall.ESRCH {
				t.Errorf("process %d: %v, want it gone", pid, kerr)
			}
		}
	}
	if pids != n {
		t.Errorf("%d ranks told their process, want %d", pids, n)
	}
	if stderr.Len() > 0 {
		t.Logf("stderr: %s", stderr.String())
	}
	return stdout.String() + stderr.String(), err
}

// sharedMemory lists what is ours in /dev/shm; other programs use it meanwhile.
func sharedMemory(t *testing.T) (names []string) {
	t.Helper()
	es, err := os.ReadDir("/dev/shm")
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range es {
		if strings.Contains(e.Name(), "weft") {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestProcessesExchangeMessagesOfEverySize(t *testing.T) {
	for _, n := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			if out, err := runRanks(t, n, "all sizes"); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

func TestARankBlockedInRecvUsesNoProcessor(t *testing.T) {
	tier.Long(t, "it measures, and a busy machine disturbs that")
	tier.Long(t, "it takes two seconds")
	out, err := runRanks(t, 2, "blocked for a while")
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Log(out)
}

// kill -9 at any moment: the other rank is told within its deadline, ends in
// order, and nothing is left behind.
func TestAKilledRankFailsTheOperationsOfTheOther(t *testing.T) {
	for _, fabric := range []string{"shm", "verbs", "tcp"} {
		t.Run(fabric, func(t *testing.T) {
			need(t, fabric)
			t.Setenv("WEFT_FABRIC", fabric)
			before := kernelHolds(t)
			killRanks(t)
			if after := kernelHolds(t); after != before {
				t.Errorf("the kernel holds\n%s\nbefore it held\n%s", after, before)
			}
		})
	}
}

// kernelHolds counts the kernel's queue pairs, regions and so on, of all
// processes of a guest that runs nothing else.
func kernelHolds(t *testing.T) string {
	if os.Getenv("WEFT_ROCE") == "" {
		return ""
	}
	out, err := exec.Command("rdma", "resource", "show").CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("qp ")) {
		t.Fatalf("rdma resource show: %v: %s", err, out)
	}
	return string(out)
}

func killRanks(t *testing.T) {
	for role := range ordered(roles) {
		if !strings.HasPrefix(role, "killed") {
			continue
		}
		t.Run(role, func(t *testing.T) {
			files := openFiles()
			start := time.Now()
			out, err := runRanks(t, 2, role)
			var exit *launch.ExitError
			if !errors.As(err, &exit) || exit.Rank != 1 || exit.Signal != syscall.SIGKILL {
				t.Errorf("the job ended with %v, want rank 1 killed and rank 0 in order\n%s", err, out)
			}
			if !strings.Contains(out, "survived\n") {
				t.Errorf("rank 0 did not survive:\n%s", out)
			}
			if d := time.Since(start); d > patience/2 {
				t.Errorf("it took %v", d)
			}
			var killed, told int64
			for line := range strings.Lines(out) {
				fmt.Sscanf(line, "killed at %d", &killed)
				fmt.Sscanf(line, "told at %d", &told)
			}
			t.Logf("told %v after the kill", time.Duration(told-killed).Round(time.Microsecond))
			if after := openFiles(); after > files+2 {
				t.Errorf("the launcher has %d descriptors open, %d before", after, files)
			}
		})
	}
}
