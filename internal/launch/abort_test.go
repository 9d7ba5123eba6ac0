package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weft-mpi/weft/mpi/cause"
	"golang.org/x/sys/unix"
)

func TestAbortEndsEveryRankAndGivesItsCode(t *testing.T) {
	for _, c := range []struct {
		role string
		want cause.AbortError
		set  func(*Launch)
	}{
		{role: "abort", want: cause.AbortError{Rank: 1, Code: 7, Why: "no \"input\""}},
		{role: "abort inside", want: cause.AbortError{Rank: 1, Code: 0, Why: ""}},
		{role: "abort ignored", want: cause.AbortError{Rank: 1, Code: 255, Why: "code 1000"}, set: quick},
	} {
		t.Run(c.role, func(t *testing.T) {
			out, err := launch(t, 4, c.role, func(l *Launch) {
				l.KillGrace = time.Hour // SIGTERM has to come at once
				if c.set != nil {
					c.set(l)
				}
			})
			got, ok := errors.AsType[*cause.AbortError](err)
			if !ok || *got != c.want || len(exits(err)) != 0 || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("Run: %v, want %v\n%s", err, &c.want, out)
			}
			noneLeft(t, out)
		})
	}
}

// playAbort: while the others wait for rank 1, or compute, it aborts the job.
func playAbort() error {
	j, err := Discover(context.Background())
	if err != nil {
		return err
	}
	fmt.Println("hanging", os.Getpid())
	switch j.Rank {
	case 0:
		_, err = j.Exchange(context.Background(), nil)
		return err
	case 1:
		err = j.Abort(7, "no \"input\"")
	}
	if err == nil {
		select {}
	}
	return err
}

// playAbortInside: rank 1 aborts after its own Exchange has timed out. The
// launcher must read the abort before it can reply to the offer.
func playAbortInside() error {
	j, err := Discover(context.Background())
	if err != nil {
		return err
	}
	if j.Rank != 1 {
		return playHang()
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if _, err := j.Exchange(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("Exchange: %v", err)
	}
	if err := j.Abort(0, ""); err != nil {
		return err
	}
	return playHang()
}

// playAbortIgnored: all ranks ignore SIGTERM.
func playAbortIgnored() error {
	signal.Ignore(syscall.SIGTERM)
	j, err := Discover(context.Background())
	if err != nil {
		return err
	}
	if _, err := j.Exchange(context.Background(), nil); err != nil {
		return err
	}
	if j.Rank == 1 {
		if err := j.Abort(1000, "code 1000"); err != nil {
			return err
		}
	}
	return playHang()
}

func TestAbortFitsBehindAnExchangeThatStandsInTheMiddleOfAFrame(t *testing.T) {
	for _, cancelled := range []bool{false, true} {
		t.Run(fmt.Sprintf("cancelled=%t", cancelled), func(t *testing.T) {
			a, server := socketPair(t)
			rc, err := a.(*net.UnixConn).SyscallConn()
			if err != nil {
				t.Fatal(err)
			}
			rc.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_SNDBUF, 4096) })
			if err != nil {
				t.Fatal(err)
			}
			c := newClient(a, 2, nil)
			j := &Job{Size: 2, boot: c, events: c.events}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			mine := make([]byte, MaxExchange)
			exchanged := make(chan error, 1)
			go func() {
				_, err := j.Exchange(ctx, mine)
				exchanged <- err
			}()
			// The header has arrived; the payload does not fit into the
			// socket's buffer.
			var head [frameHeader]byte
			if _, err := server.Read(head[:]); err != nil {
				t.Fatal(err)
			}
			if cancelled {
				cancel()
				if err := <-exchanged; !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
			}
			aborted := make(chan error, 1)
			go func() { aborted <- j.Abort(3, "why") }()
			server.SetReadDeadline(time.Now().Add(patience))
			kind, p, err := readFrame(&joined{head[:], server}, 2)
			if kind != kindOffer || len(p) != 8+MaxExchange || err != nil {
				t.Fatalf("frame of kind %d with %d bytes, %v", kind, len(p), err)
			}
			kind, p, err = readFrame(server, 2)
			if err != nil || kind != kindAbort {
				t.Fatalf("frame of kind %d, %v", kind, err)
			}
			if code, why, err := parseAbort(p); code != 3 || why != "why" || err != nil {
				t.Errorf("%d %q %v", code, why, err)
			}
			if err := <-aborted; err != nil {
				t.Error(err)
			}
			if !cancelled { // the Exchange still waits for its reply
				server.Write(appendFrame(nil, kindTable, appendTable(nil, 0, [][]byte{mine, nil})))
				if err := <-exchanged; err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// joined reads the bytes of first, then from the connection.
type joined struct {
	first []byte
	net.Conn
}

func (j *joined) Read(p []byte) (int, error) {
	if len(j.first) == 0 {
		return j.Conn.Read(p)
	}
	n := copy(p, j.first)
	j.first = j.first[n:]
	return n, nil
}

func TestAbortThatReachesNobodySaysSo(t *testing.T) {
	c, server := pipeToRank(t)
	j := &Job{Size: 2, boot: c, events: c.events}
	server.Close()
	if err := j.Abort(1, ""); err == nil || errors.Is(err, ErrClosed) {
		t.Errorf("the launcher is gone: %v", err)
	}
	j.Close()
	if err := j.Abort(1, ""); !errors.Is(err, ErrClosed) {
		t.Errorf("the job is closed: %v", err)
	}
}

func TestAbortOfAWorldOfOneIsTheCallers(t *testing.T) {
	j, err := worldOfOne()
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Abort(1, "why"); err != nil {
		t.Error(err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

func TestAbortOverPMITellsTheCode(t *testing.T) {
	f := &fakePMI{size: 1}
	told := make(chan struct{})
	f.twist = func(cmd, answer string) string {
		if cmd == "abort" {
			close(told)
		}
		return answer
	}
	errs := f.join(t, func(j *Job) error {
		if err := j.Abort(9, "a word\nwith a break"); err != nil {
			return err
		}
		<-told
		return nil
	})
	if errs[0] != nil || f.aborted != "9" {
		t.Errorf("%v, code %q", errs[0], f.aborted)
	}
}

func TestHydraEndsAJobThatARankAborts(t *testing.T) {
	mpiexec := need(t, "mpiexec.hydra")
	for _, args := range [][]string{{}, {"-pmi-port"}} {
		for _, role := range []string{"abort", "abort inside"} {
			t.Run(fmt.Sprint(role, args), func(t *testing.T) {
				cmd := exec.CommandContext(deadline(t), mpiexec, append(args, "-n", "4", os.Args[0])...)
				cmd.Env = roleEnv(role)
				out, err := cmd.CombinedOutput()
				want := map[string]int{"abort": 7, "abort inside": 0}[role]
				if cmd.ProcessState.ExitCode() != want {
					t.Errorf("%v, want code %d\n%s", err, want, out)
				}
				noneLeftSoon(t, string(out))
			})
		}
	}
}

// noneLeftSoon is noneLeft for a launcher that does not wait until its ranks
// have exited.
func noneLeftSoon(t *testing.T, out string) {
	t.Helper()
	for line := range strings.Lines(out) {
		var pid int
		if _, err := fmt.Sscanf(line, "hanging %d", &pid); err != nil {
			continue
		}
		for ctx := deadline(t); ; {
			stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
			if err != nil || bytes.Contains(stat, []byte(") Z ")) {
				break // or it is a zombie that no process of this container reaps
			}
			if ctx.Err() != nil {
				t.Fatalf("process %d is still there: %s", pid, stat)
			}
			runtime.Gosched()
		}
	}
}
