package mpi_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/mpi"
	"github.com/weft-mpi/weft/mpi/cause"
)

// runSize is the number that a process gives to Run.
const runSize = "WEFT_MPI_TEST_RUN"

// programs are processes that call Run themselves. They print what the test
// looks at and return the error that ends the process.
var programs = map[string]func(n int) error{
	"run: ring":    func(n int) error { return mpi.Run(n, ring) },
	"run: nothing": func(n int) error { return mpi.Run(n, func(*mpi.World) error { return nil }) },
	"run: mem":     func(n int) error { return mpi.Run(n, ring, mpi.WithFabric("mem")) },
	"run: fabric":  func(n int) error { return mpi.Run(n, playFabric) },
	"run: twice":   playRunTwice,
	"run: init":    playRunAfterInit,
	"run: fails":   func(n int) error { return playRunWithout(n, func() error { return errors.New("one has failed") }) },
	"run: goexit":  func(n int) error { return playRunWithout(n, func() error { runtime.Goexit(); return nil }) },
	"run: swallow": playRunSwallow,
	"run: fatal":   playRunFatal,
	"run: last":    playRunLast,
	"run: panics":  func(n int) error { return playRunWithout(n, func() error { panic("one has panicked") }) },
}

func playProgram(name string) error {
	n, err := strconv.Atoi(os.Getenv(runSize))
	if err != nil {
		return err
	}
	return programs[name](n)
}

// ring passes every rank's number around, and adds.
func ring(w *mpi.World) error {
	c := w.Comm()
	token, got, sum := []int{c.Rank()}, []int{0}, 0
	right, left := (c.Rank()+1)%c.Size(), (c.Rank()+c.Size()-1)%c.Size()
	for range c.Size() {
		if _, err := mpi.Sendrecv(c, token, right, 0, got, left, 0); err != nil {
			return err
		}
		sum, token[0] = sum+got[0], got[0]
	}
	fmt.Printf("rank %d of %d in %d: %d\n", c.Rank(), c.Size(), os.Getpid(), sum)
	return nil
}

func playRunTwice(n int) error {
	if err := mpi.Run(n, ring); err != nil {
		return err
	}
	return checkUsed(mpi.Run(n, ring))
}

func playRunAfterInit(n int) error {
	w, err := mpi.Init(context.Background())
	if err != nil {
		return err
	}
	return errors.Join(checkUsed(mpi.Run(n, ring)), ring(w), w.Finalize())
}

// checkUsed wants the error of a Run that found the process's place taken.
func checkUsed(err error) error {
	var e *mpi.Error
	if !errors.Is(err, cause.ErrDiscovered) || !errors.As(err, &e) || e.Call != "Run" || !strings.Contains(err.Error(), "WEFT_BOOT=none") {
		return fmt.Errorf("a Run where the place in the job is taken: %w", err)
	}
	return nil
}

// playRunWithout is a job whose rank 0 ends as end does, while the others wait
// for its message, and whose process lives on until its input ends.
func playRunWithout(n int, end func() error) error {
	zero := false
	err := mpi.Run(n, func(w *mpi.World) error {
		c := w.Comm()
		if c.Rank() == 0 {
			zero = true
			for from := 1; from < c.Size(); from++ {
				if _, err := mpi.Recv(c, []byte{0}, from, 1); err != nil {
					return err
				}
			}
			return end()
		}
		if err := mpi.Send(c, []byte{1}, 0, 1); err != nil {
			return err
		}
		_, err := mpi.Recv(c, []byte{0}, 0, 2)
		return err
	})
	switch {
	case zero:
		fmt.Println("rank 0:", err)
		if _, rerr := io.Copy(io.Discard, os.Stdin); rerr != nil {
			return rerr
		}
		return err
	case !errors.Is(err, mpi.ErrProcFailed):
		return fmt.Errorf("Run without rank 0: %w, want ErrProcFailed", err)
	}
	fmt.Println("a survivor was told")
	return nil
}

// playRunSwallow is a program that takes no notice of Run's error.
func playRunSwallow(n int) error {
	err := mpi.Run(n, func(w *mpi.World) error {
		if w.Comm().Rank() == 1 {
			return errors.New("rank 1 has failed")
		}
		return nil
	})
	if err == nil {
		return errors.New("no rank has failed")
	}
	return nil
}

// playRunFatal is a program that ends with Run's error.
func playRunFatal(n int) error {
	return mpi.Run(n, func(w *mpi.World) error {
		if w.Comm().Rank() == 0 {
			return errors.New("one has failed")
		}
		_, err := mpi.Recv(w.Comm(), []byte{0}, 0, 1)
		return err
	})
}

// playRunLast: rank 0 fails first, and its process ends behind that of rank 1.
func playRunLast(n int) error {
	other := -1
	err := mpi.Run(n, func(w *mpi.World) (err error) {
		c, pid := w.Comm(), []int{os.Getpid()}
		if c.Rank() == 1 {
			if err := mpi.Send(c, pid, 0, 1); err != nil {
				return err
			}
			_, err := mpi.Recv(c, pid, 0, 1)
			return err
		}
		if _, err = mpi.Recv(c, pid, 1, 1); err == nil {
			other, err = unix.PidfdOpen(pid[0], 0)
		}
		return errors.Join(errors.New("one has failed"), err)
	})
	if other < 0 {
		return err
	}
	for err = unix.EINTR; err == unix.EINTR; {
		_, err = unix.Poll([]unix.PollFd{{Fd: int32(other), Events: unix.POLLIN}}, -1)
	}
	os.Exit(9)
	return err
}

// program starts n processes that call Run with the number asked for.
func program(t *testing.T, name string, n, asked int, set ...func(*launch.Launch)) (out string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	var b bytes.Buffer
	l := launch.Launch{N: n, Path: os.Args[0], Env: programEnv(name, asked), Stdout: &b, Stderr: &b, KillGrace: patience}
	for _, f := range set {
		f(&l)
	}
	err = l.Run(ctx)
	return b.String(), err
}

func programEnv(name string, asked int) []string {
	return append(os.Environ(), roleVar+"="+name, runSize+"="+strconv.Itoa(asked), "GORACE=atexit_sleep_ms=0")
}

// checkRing wants one line of each rank of a job of n, from as many processes.
func checkRing(t *testing.T, out string, n, processes int) {
	t.Helper()
	var ranks []int
	pids := map[int]bool{}
	for line := range strings.Lines(out) {
		var rank, size, pid, sum int
		if _, err := fmt.Sscanf(line, "rank %d of %d in %d: %d\n", &rank, &size, &pid, &sum); err != nil {
			continue
		}
		if size != n || sum != n*(n-1)/2 {
			t.Errorf("%q in a job of %d", line, n)
		}
		ranks, pids[pid] = append(ranks, rank), true
	}
	slices.Sort(ranks)
	for i := range n {
		if len(ranks) != n || ranks[i] != i {
			t.Fatalf("ranks %v spoke, want each of %d once:\n%s", ranks, n, out)
		}
	}
	if len(pids) != processes {
		t.Errorf("the ranks are in %d processes, want %d:\n%s", len(pids), processes, out)
	}
}

func TestRunTakesItsPartOfALaunchedJob(t *testing.T) {
	for _, c := range []struct{ n, asked int }{{1, 1}, {1, 0}, {3, 3}, {3, 0}} {
		t.Run(fmt.Sprintf("%d asked for %d", c.n, c.asked), func(t *testing.T) {
			out, err := program(t, "run: ring", c.n, c.asked)
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			checkRing(t, out, c.n, c.n)
		})
	}
}

func TestRunWithoutALauncherMakesGoroutines(t *testing.T) {
	for _, c := range []struct {
		name     string
		asked, n int
		env      []string
	}{
		{"asked for 3", 3, 3, nil},
		{"asked for 0", 0, 5, []string{"GOMAXPROCS=5"}},
		{"the launcher is passed over", 2, 2, []string{"WEFT_BOOT=none", "WEFT_SIZE=7", "WEFT_RANK=1", "WEFT_FD=3"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(programEnv("run: ring", c.asked), c.env...)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			checkRing(t, string(out), c.n, 1)
		})
	}
}

func TestRunOfAnotherNumberThanWasLaunchedSaysBoth(t *testing.T) {
	for _, asked := range []int{2, 4, 2000, -1} {
		out, err := program(t, "run: ring", 3, asked)
		if err == nil {
			t.Errorf("a Run of %d ranks was 3 processes:\n%s", asked, out)
		}
		want := fmt.Sprintf("the program asks for %d ranks and the launcher has started 3: ", asked)
		if strings.Count(out, want) != 3 || strings.Contains(out, "rank 0 of") {
			t.Errorf("want %q of each rank:\n%s", want, out)
		}
	}
}

// A rank that asks for another number than the others does not hold them up.
func TestRunOfDifferentNumbersFailsAtAll(t *testing.T) {
	out, err := program(t, "run: ring", 2, 0, func(l *launch.Launch) {
		l.Path, l.Args = "sh", []string{"-c", `[ "$WEFT_RANK" = 1 ] && export ` + runSize + `=5; exec "$0"`, os.Args[0]}
	})
	if err == nil || !strings.Contains(out, "asks for 5 ranks") || !strings.Contains(out, "rank 1 is gone") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestALaunchedRunOnMemIsRefused(t *testing.T) {
	out, err := program(t, "run: mem", 2, 2)
	if err == nil || strings.Count(out, "fabric mem joins the goroutines of one process, not 2 processes") != 2 {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestAProcessTakesPartInItsJobOnce(t *testing.T) {
	for _, name := range []string{"run: twice", "run: init"} {
		out, err := program(t, name, 2, 0)
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		checkRing(t, out, 2, 2)
	}
}

// Nothing but the end of f tells the survivors: the process of rank 0 stays
// until all of them have spoken.
func TestALaunchedRankThatFailsFailsTheOthers(t *testing.T) {
	for name, says := range map[string]string{
		"run: fails":  "rank 0: rank 0: one has failed\n",
		"run: goexit": "rank 0: rank 0: its function has ended the goroutine",
	} {
		t.Run(name, func(t *testing.T) {
			const n = 3
			stdin, letGo := io.Pipe()
			stdout, w := io.Pipe()
			var out string
			heard := make(chan struct{})
			go func() {
				defer close(heard)
				for in := bufio.NewScanner(stdout); in.Scan(); {
					if out += in.Text() + "\n"; strings.Count(out, "a survivor was told\n") == n-1 {
						letGo.Close()
					}
				}
			}()
			_, err := program(t, name, n, 0, func(l *launch.Launch) { l.Stdin, l.Stdout, l.Stderr = stdin, w, w })
			w.Close()
			<-heard
			if _, ok := errors.AsType[*launch.ExitError](err); !ok {
				t.Errorf("the job ended with %v, want a rank that failed\n%s", err, out)
			}
			if !strings.Contains(out, says) {
				t.Errorf("want %q:\n%s", says, out)
			}
		})
	}
}

func TestTheExitCodeIsThatOfTheRankThatOthersHaveFailedFor(t *testing.T) {
	for _, fabric := range []string{"shm", "tcp"} {
		out, err := program(t, "run: last", 2, 0, func(l *launch.Launch) { l.Env = append(l.Env, "WEFT_FABRIC="+fabric) })
		if exit, ok := errors.AsType[*launch.ExitError](err); !ok || exit.Rank != 0 || launch.ExitCode(err) != 9 {
			t.Errorf("%s: %v\n%s", fabric, err, out)
		}
	}
}

func TestAPanicEndsALaunchedRank(t *testing.T) {
	out, err := program(t, "run: panics", 2, 0)
	if launch.ExitCode(err) != 2 || !strings.Contains(out, "panic: one has panicked") || !strings.Contains(out, "a survivor was told\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestAFailedRunIsNoSuccessOfTheJob(t *testing.T) {
	out, err := program(t, "run: swallow", 2, 0)
	exit, ok := errors.AsType[*launch.ExitError](err)
	if !ok || exit.Rank != 1 || exit.Code != 0 || !errors.Is(err, launch.ErrNotFinalized) {
		t.Errorf("%v\n%s", err, out)
	}
}

// A launcher that offers no way to meet does not make N jobs of one program.
func TestRunBelowALauncherItCannotUseSaysSo(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(programEnv("run: ring", 2), "OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_RANK=0")
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "mpi.Run: launch: OMPI_COMM_WORLD_SIZE") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestRunUnderHydra(t *testing.T) {
	mpiexec := installed(t, "mpiexec.hydra")
	start := func(name string, n, asked int) (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, mpiexec, "-n", fmt.Sprint(n), os.Args[0])
		cmd.Env = programEnv(name, asked)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, c := range []struct{ n, asked int }{{1, 1}, {3, 3}, {3, 0}} {
		out, err := start("run: ring", c.n, c.asked)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		checkRing(t, out, c.n, c.n)
	}
	if out, err := start("run: ring", 3, 2); err == nil || !strings.Contains(out, "asks for 2 ranks and the launcher has started 3") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := start("run: fatal", 3, 0); err == nil {
		t.Errorf("a job whose ranks have failed ended well:\n%s", out)
	}
}

// installed finds a tool. Where every tool has to be there, WEFT_CI=1, its
// absence fails the test.
func installed(t *testing.T, tool string) string {
	t.Helper()
	path, err := exec.LookPath(tool)
	if err != nil {
		if os.Getenv("WEFT_CI") == "1" {
			t.Fatalf("%s is missing, and WEFT_CI=1 says that it must not be", tool)
		}
		t.Skipf("%s is not installed", tool)
	}
	return path
}
