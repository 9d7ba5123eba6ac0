package launch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestLinesOfRanksStayWhole(t *testing.T) {
	const n = 3
	out, err := launch(t, n, "lines")
	if err != nil {
		t.Fatal(err)
	}
	next := [n]int{}
	for line := range strings.Lines(out) {
		var rank, i int
		if _, err := fmt.Sscanf(line, "rank %d line %d end\n", &rank, &i); err == nil && i == next[rank] {
			next[rank]++
		} else if _, err := fmt.Sscanf(line, "rank %d last\n", &rank); err != nil || next[rank] != 50 {
			t.Errorf("line %q after %v", line, next)
		}
	}
	if next != [n]int{50, 50, 50} {
		t.Errorf("%v lines came", next)
	}
}

func TestOneRankKeepsALastLineWithoutEnd(t *testing.T) {
	out, err := launch(t, 1, "lines")
	if err != nil || !strings.HasSuffix(out, "rank 0 last") {
		t.Errorf("%q, %v", out, err)
	}
}

func TestInputGoesToRankZero(t *testing.T) {
	long := strings.Repeat("a line of input\n", 10_000)
	name := t.TempDir() + "/in"
	if err := os.WriteFile(name, []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, c := range []struct {
		name string
		r    io.Reader
		want string
	}{{"reader", strings.NewReader(long), long}, {"file", file, long}, {"none", nil, ""}} {
		t.Run(c.name, func(t *testing.T) {
			out, err := launch(t, 2, "cat", func(l *Launch) { l.Stdin = c.r })
			if err != nil || out != c.want {
				t.Errorf("%d bytes came out of %d, %v", len(out), len(c.want), err)
			}
		})
	}
}

func TestDirectHandsFilesToTheRanks(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := launch(t, 2, "greet", func(l *Launch) { l.Stdout, l.Direct = f, true }); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	checkGreetings(t, string(b), 2, LauncherWeft)
}

// pipe runs ranks whose output goes to a pipe; read reads it.
func pipe(t *testing.T, n int, role string, read func(r *os.File, w *os.File), set ...func(*Launch)) error {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer r.Close()
		read(r, w)
	}()
	_, err = launch(t, n, role, append([]func(*Launch){func(l *Launch) { l.Stdout, l.Stderr = w, w }}, set...)...)
	w.Close()
	<-done
	return err
}

// checkLong checks that r has whole lines of playLong, in order within each
// stream.
func checkLong(t *testing.T, r io.Reader, n int, label bool) {
	t.Helper()
	next := map[string]int{}
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		if err == io.EOF && line == "" {
			break
		}
		prefix := ""
		if label {
			prefix, line, _ = strings.Cut(line, ": ")
		}
		name, number, length := "", 0, 0
		fmt.Sscanf(line, "%s %d %d ", &name, &number, &length)
		if line != longLine(name, number, length) || number != next[name] || label && !strings.HasPrefix(name, "rank"+prefix+"-") {
			t.Fatalf("a line of %d bytes is torn: %.60q... ends with %.60q; after %v", len(line), line, line[max(0, len(line)-60):], next)
		}
		next[name]++
	}
	for rank := range n {
		for _, stream := range []string{"out", "err"} {
			if got := next[fmt.Sprintf("rank%d-%s", rank, stream)]; got != longLines {
				t.Errorf("%d lines of %d came of rank %d's %s", got, longLines, rank, stream)
			}
		}
	}
}

func TestLongLinesOfBothStreamsShareAPlaceAndStayWhole(t *testing.T) {
	for _, label := range []bool{false, true} {
		t.Run(fmt.Sprintf("label %t", label), func(t *testing.T) {
			const n = 3
			err := pipe(t, n, "long", func(r, _ *os.File) { checkLong(t, r, n, label) }, func(l *Launch) { l.Label = label })
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// writes records each Write.
type writes struct {
	mu  sync.Mutex
	all []string
}

func (w *writes) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.all = append(w.all, string(b))
	return len(b), nil
}

func TestALineIsOneWrite(t *testing.T) {
	var w writes
	if _, err := launch(t, 2, "long", func(l *Launch) { l.Stdout, l.Stderr, l.Label = &w, &w, true }); err != nil {
		t.Fatal(err)
	}
	if len(w.all) != 2*2*longLines {
		t.Errorf("%d writes for %d lines", len(w.all), 2*2*longLines)
	}
	for _, line := range w.all {
		if strings.Index(line, "\n") != len(line)-1 {
			t.Errorf("a write of %d bytes is no line: %.60q", len(line), line)
		}
	}
}

func TestALineAboveTheBoundComesInPieces(t *testing.T) {
	for _, n := range []int{1, 2} {
		var w writes
		if _, err := launch(t, n, "huge", func(l *Launch) { l.Stdout, l.Label = &w, true }); err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		for _, line := range strings.SplitAfter(strings.Join(w.all, ""), "\n") {
			rank, text, _ := strings.Cut(line, ": ")
			got[rank] += strings.Count(text, "h") // a line that another rank's interrupts is split
		}
		for rank := range n {
			if got[fmt.Sprint(rank)] != hugeLine {
				t.Errorf("%d ranks: %v of a line of %d came", n, got, hugeLine)
			}
		}
		for _, piece := range w.all {
			if len(piece) > maxLine+len("\n0: ") {
				t.Errorf("a write of %d bytes", len(piece))
			}
		}
		if n == 1 && (len(w.all) != 3 || !strings.HasSuffix(w.all[2], "h\n")) {
			t.Errorf("%d writes, the last ends with %q, for a line of two and a half bounds", len(w.all), w.all[len(w.all)-1][max(0, len(w.all[len(w.all)-1])-9):])
		}
	}
}

// The rank goes on only after the test has read its prompt.
func TestAPromptIsShown(t *testing.T) {
	for _, c := range []struct {
		name     string
		n        int
		terminal bool
		label    bool
		want     string
	}{
		{"one rank, a pipe", 1, false, false, "name? hello you\n"},
		{"one rank, labelled", 1, false, true, "0: name? hello you\n"},
		{"two ranks, a terminal", 2, true, false, "name? hello you\n"},
		{"two ranks, a terminal, labelled", 2, true, true, "0: name? hello you\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, w, err := os.Pipe()
			if c.terminal {
				r, w, err = terminal()
			}
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			stdin, answer := io.Pipe()
			got := make(chan string, 1)
			go func() {
				out, b := "", make([]byte, 100)
				for {
					n, err := r.Read(b)
					if out += strings.ReplaceAll(string(b[:n]), "\r", ""); strings.HasSuffix(out, "name? ") {
						answer.Write([]byte("you\n"))
						answer.Close()
					}
					if err != nil { // EIO: the terminal has no writers any more
						got <- out
						return
					}
				}
			}()
			_, err = launch(t, c.n, "prompt", func(l *Launch) { l.Stdin, l.Stdout, l.Label = stdin, w, c.label })
			w.Close()
			if out := <-got; err != nil || out != c.want {
				t.Errorf("%q, %v, want %q", out, err, c.want)
			}
		})
	}
}

// terminal opens both sides of a new pseudoterminal.
func terminal() (master, slave *os.File, err error) {
	if master, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0); err != nil {
		return nil, nil, err
	}
	fd := int(master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		return nil, nil, err
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	return master, slave, err
}

// An unfinished line gets a newline before another rank's line. The rest of it
// comes as a line of its own.
func TestALineThatIsInterruptedIsEnded(t *testing.T) {
	var w writes
	d := &writer{w: &w, lock: &sync.Mutex{}}
	o := &output{to: d, many: true, label: true}
	a, b := &stream{out: o, prefix: "0: "}, &stream{out: o, prefix: "1: "}
	a.put([]byte("begun, "))
	a.put([]byte("gone on, "))
	b.put([]byte("whole\n"))
	a.put([]byte("and ended\n"))
	b.put([]byte("last"))
	b.finish(nil)
	a.finish([]byte("end"))
	const want = "0: begun, gone on, \n1: whole\n0: and ended\n1: last\n0: end\n"
	if got := strings.Join(w.all, ""); got != want || len(w.all) != 7 {
		t.Errorf("%q in %d writes, want %q in 7", got, len(w.all), want)
	}
}

// A pipe whose reader has gone ends the job; its ranks would write forever.
func TestAReaderThatGoesEndsTheJob(t *testing.T) {
	err := pipe(t, 2, "chatter", func(r, w *os.File) {
		if _, err := io.ReadFull(r, make([]byte, 100)); err != nil {
			t.Error(err)
		}
	})
	lost, ok := errors.AsType[*OutputError](err)
	if !ok || !errors.Is(lost, syscall.EPIPE) || strings.Count(err.Error(), "broken pipe") != 1 {
		t.Errorf("the job ended with %v", err)
	}
}

func TestAFullDiskIsToldOnceAndBlocksNoRank(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	_, err = launch(t, 3, "long", func(l *Launch) { l.Stdout, l.Stderr = full, full })
	if _, ok := errors.AsType[*OutputError](err); !ok || !errors.Is(err, syscall.ENOSPC) || strings.Count(err.Error(), "no space") != 1 {
		t.Error(err)
	}
	if _, ok := errors.AsType[*ExitError](err); ok {
		t.Errorf("a rank failed: %v", err)
	}
}

// A reader that does not read may block a job, but not one that is stopped.
func TestAWriterThatBlocksHoldsUpNoJobThatIsStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(deadline(t))
	defer cancel()
	r, w := io.Pipe()
	defer r.Close()
	stdout := func(b []byte) (int, error) {
		cancel()
		return w.Write(b)
	}
	l := Launch{N: 2, Path: os.Args[0], Env: roleEnv("chatter"), Stdout: writerFunc(stdout), KillGrace: 100 * time.Millisecond}
	err := l.Run(ctx)
	if _, ok := errors.AsType[*OutputError](err); !ok || !errors.Is(err, context.Canceled) || !errors.Is(err, errStuck) {
		t.Error(err)
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

type fullDisk struct{}

var errFull = errors.New("disk is full")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestAWriterThatFailsBlocksNoRankAndIsReported(t *testing.T) {
	_, err := launch(t, 2, "cat", func(l *Launch) {
		l.Stdin = strings.NewReader(strings.Repeat("a line\n", 100_000))
		l.Stdout = fullDisk{}
	})
	if !errors.Is(err, errFull) {
		t.Error(err)
	}
}
