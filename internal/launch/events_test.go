package launch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/weft-mpi/weft/mpi/cause"
)

// dieVar says how rank 1 of "survive" and "survive late" dies.
const dieVar = "BOOT_TEST_DIE"

// dirVar is a directory that the ranks of a test share.
const dirVar = "BOOT_TEST_DIR"

func die(j *Job) {
	switch how := os.Getenv(dieVar); how {
	case "signal":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "left, code":
		j.Close()
		os.Exit(5)
	case "code":
		os.Exit(3)
	case "no bye":
		os.Exit(0)
	}
	panic("still alive")
}

func TestSurvivorsHearOfADeathWithoutAsking(t *testing.T) {
	for how, reason := range map[string]string{
		"signal":     "was killed by signal 9 (killed)",
		"code":       "exited with code 3",
		"left, code": "exited with code 5",
		"no bye":     "exited with code 0: exited without MPI_Finalize",
	} {
		t.Run(how, func(t *testing.T) {
			out, err := launch(t, 4, "survive", func(l *Launch) { l.Env = append(l.Env, dieVar+"="+how) })
			if e, ok := errors.AsType[*ExitError](err); !ok || e.Rank != 1 {
				t.Errorf("Run: %v", err)
			}
			want := fmt.Sprintf("lost 1: launch: rank 1 is gone: %s\n", reason)
			if out != strings.Repeat(want, 3) {
				t.Errorf("survivors heard:\n%swant, from each:\n%s", out, want)
			}
		})
	}
}

// playSurvive: rank 1 dies after an exchange. The others, which call nothing
// but Events, print the event.
func playSurvive() error {
	j, err := Discover(context.Background())
	if err != nil {
		return err
	}
	if _, err := j.Exchange(context.Background(), nil); err != nil {
		return err
	}
	if j.Rank == 1 {
		die(j)
	}
	e := <-j.Events()
	if _, ok := errors.AsType[*cause.LostError](e.Err); !ok {
		return fmt.Errorf("the event's error is %#v", e.Err)
	}
	fmt.Printf("lost %d: %v\n", e.Rank, e.Err)
	return leaveQuietly(j)
}

// leaveQuietly closes the job; another event is an error.
func leaveQuietly(j *Job) error {
	err := j.Close()
	for e := range j.Events() {
		err = errors.Join(err, fmt.Errorf("one more event: %v", e))
	}
	return err
}

func TestARankHearsOfDeathsFromBeforeItJoined(t *testing.T) {
	for _, how := range []string{"signal", "code", "no bye"} {
		t.Run(how, func(t *testing.T) {
			out, err := launch(t, 2, "survive late", func(l *Launch) {
				l.Env = append(l.Env, dieVar+"="+how, dirVar+"="+t.TempDir())
			})
			if err == nil || !strings.HasPrefix(out, "lost 1: ") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// playSurviveLate: rank 1 joins, as far as a rank can alone, and dies. Then rank 0
// joins.
func playSurviveLate() error {
	file := filepath.Join(os.Getenv(dirVar), "pid")
	if rankNumber() == 1 {
		card, err := ownCard()
		if err != nil {
			return err
		}
		conn, err := inheritedConn(os.LookupEnv, envFD)
		if err != nil {
			return err
		}
		if _, err := conn.Write(joinWith(card)); err != nil {
			return err
		}
		if err := os.WriteFile(file+".new", []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
			return err
		}
		if err := os.Rename(file+".new", file); err != nil {
			return err
		}
		die(nil)
	}
	var b []byte
	for len(b) == 0 {
		runtime.Gosched()
		b, _ = os.ReadFile(file)
	}
	pid, err := strconv.Atoi(string(b))
	if err != nil {
		return err
	}
	awaitEnd(pid)
	j, err := Discover(context.Background())
	if err != nil {
		return err
	}
	e := <-j.Events()
	fmt.Printf("lost %d: %v\n", e.Rank, e.Err)
	return leaveQuietly(j)
}

// awaitEnd returns once the launcher has reaped a process.
func awaitEnd(pid int) {
	for !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		runtime.Gosched()
	}
}

func TestARankThatLeavesInOrderIsNoEvent(t *testing.T) {
	out, err := launch(t, 3, "orderly")
	if e, ok := errors.AsType[*ExitError](err); !ok || e.Rank != 2 {
		t.Errorf("Run: %v", err)
	}
	if out != "lost 2\n" {
		t.Errorf("heard %q", out)
	}
}

// exchangePIDs joins the job and returns the process ids of all ranks.
func exchangePIDs() (*Job, []int, error) {
	ctx := context.Background()
	j, err := Discover(ctx)
	if err != nil {
		return nil, nil, err
	}
	all, err := j.Exchange(ctx, []byte(strconv.Itoa(os.Getpid())))
	if err != nil {
		return nil, nil, err
	}
	pids := make([]int, len(all))
	for i, b := range all {
		if pids[i], err = strconv.Atoi(string(b)); err != nil {
			return nil, nil, err
		}
	}
	return j, pids, nil
}

// playOrderly: rank 1 leaves and exits, then rank 0 kills rank 2.
func playOrderly() error {
	j, pids, err := exchangePIDs()
	if err != nil {
		return err
	}
	switch j.Rank {
	case 1:
		return j.Close()
	case 2:
		select {}
	}
	awaitEnd(pids[1])
	if err := syscall.Kill(pids[2], syscall.SIGKILL); err != nil {
		return err
	}
	fmt.Println("lost", (<-j.Events()).Rank)
	return leaveQuietly(j)
}

func TestARankThatDoesNotReadHoldsUpNoNews(t *testing.T) {
	const n = 5
	out, err := launch(t, n, "stopped")
	if _, ok := errors.AsType[*ExitError](err); !ok {
		t.Errorf("Run: %v", err)
	}
	if strings.Count(out, "lost") != n-1 {
		t.Errorf("heard %q", out)
	}
}

// playStopped: rank 0 stops rank 1, kills the others one by one, then kills
// rank 1.
func playStopped() error {
	j, pids, err := exchangePIDs()
	if err != nil {
		return err
	}
	if j.Rank > 0 {
		select {}
	}
	if err := syscall.Kill(pids[1], syscall.SIGSTOP); err != nil {
		return err
	}
	for _, rank := range []int{2, 3, 4, 1} {
		if err := syscall.Kill(pids[rank], syscall.SIGKILL); err != nil {
			return err
		}
		if e := <-j.Events(); e.Rank != rank {
			return fmt.Errorf("rank %d was lost, want %d", e.Rank, rank)
		}
		fmt.Println("lost", rank)
	}
	return leaveQuietly(j)
}

// A launcher that repeats a loss fills no buffer and blocks no reply.
func TestNewsThatIsRepeatedComesOnce(t *testing.T) {
	c, server := pipeToRank(t)
	j := &Job{Size: 2, boot: c, events: c.events}
	go func() {
		lost := appendFrame(nil, kindLost, appendLost(nil, &cause.LostError{Rank: 1, Reason: "gone"}))
		for range 100 {
			server.Write(lost)
		}
		readFrame(server, 2)
		server.Write(appendFrame(nil, kindTable, appendTable(nil, 0, [][]byte{nil, nil})))
	}()
	if _, err := j.Exchange(deadline(t), nil); err != nil {
		t.Error(err)
	}
	j.Close()
	var got []Event
	for e := range j.Events() {
		got = append(got, e)
	}
	if len(got) != 1 || got[0].Rank != 1 || got[0].Err.Error() != "launch: rank 1 is gone: gone" {
		t.Errorf("heard %v", got)
	}
}

func TestNewsThatLiesBreaksTheProtocol(t *testing.T) {
	for name, frame := range map[string][]byte{
		"a rank beyond the job": appendFrame(nil, kindLost, appendLost(nil, &cause.LostError{Rank: 2, Reason: ""})),
		"answers to nothing":    append(appendFrame(nil, kindBye, nil), appendFrame(nil, kindBye, nil)...),
	} {
		t.Run(name, func(t *testing.T) {
			c, server := pipeToRank(t)
			j := &Job{Size: 2, boot: c, events: c.events}
			server.Write(frame)
			if _, err := j.Exchange(deadline(t), nil); !errors.Is(err, ErrProtocol) {
				t.Error(err)
			}
		})
	}
}

func TestEventsOfALauncherWithoutNewsEndWithTheJob(t *testing.T) {
	single, err := worldOfOne()
	if err != nil {
		t.Fatal(err)
	}
	check := func(j *Job) error {
		select {
		case e, ok := <-j.Events():
			return fmt.Errorf("before the end: %v, %v", e, ok)
		default:
		}
		if err := j.Close(); err != nil {
			return err
		}
		if e, ok := <-j.Events(); ok {
			return fmt.Errorf("after the end: %v", e)
		}
		return nil
	}
	if err := check(single); err != nil {
		t.Error("world of one:", err)
	}
	for _, err := range (&fakePMI{size: 2}).join(t, check) {
		if err != nil {
			t.Error("PMI-1:", err)
		}
	}
}
