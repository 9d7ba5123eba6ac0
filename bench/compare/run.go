package compare

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/bench/floor"
	"github.com/weft-mpi/weft/bench/osufmt"
)

// MaxRounds bounds Config.Rounds.
const MaxRounds = 1000

// Side is one of the two programs.
type Side struct {
	Name string   // a word for tables and plots: "osu-go"
	Argv []string // the program and its arguments
	Env  []string // its environment; nil: this process's
}

// Config says what to compare.
type Config struct {
	Benchmark    string
	Ranks        int
	Ours, Theirs Side
	Rounds       int

	Floor    func() (floor.Floor, error) // called before each round; nil: no floor
	Progress func(string)                // called with what is being run; may be nil
}

// Run runs both sides Rounds times, first ours and then theirs in even rounds
// and the other way round in odd ones, and reduces the outcome. It blocks until
// then, or until a side fails (a *SideError) or ctx ends. When ctx ends, it
// terminates the process group of the running side; processes that have left
// the group survive.
func Run(ctx context.Context, c Config) (*Result, error) {
	if c.Rounds < 1 || c.Rounds > MaxRounds {
		return nil, fmt.Errorf("compare: %d rounds are not between 1 and %d", c.Rounds, MaxRounds)
	}
	var ours, theirs []*osufmt.Table
	var floors []floor.Floor
	say := c.Progress
	if say == nil {
		say = func(string) {}
	}
	for round := range c.Rounds {
		if c.Floor != nil {
			say(fmt.Sprintf("round %d of %d: floor", round+1, c.Rounds))
			f, err := c.Floor()
			if err != nil {
				return nil, fmt.Errorf("compare: measure the floor: %w", err)
			}
			floors = append(floors, f)
		}
		turns := []struct {
			side *Side
			to   *[]*osufmt.Table
		}{{&c.Ours, &ours}, {&c.Theirs, &theirs}}
		if round%2 == 1 {
			turns[0], turns[1] = turns[1], turns[0]
		}
		for _, t := range turns {
			say(fmt.Sprintf("round %d of %d: %s", round+1, c.Rounds, t.side.Name))
			tab, err := t.side.run(ctx)
			if err != nil {
				return nil, err
			}
			*t.to = append(*t.to, tab)
		}
	}
	return reduce(c, ours, theirs, floors)
}

// SideError says that a side could not be run, or its output not parsed. It has
// the last lines of that output.
type SideError struct {
	Side Side
	Err  error
	Tail string // the last lines of its output, errors included
}

func (e *SideError) Error() string {
	s := fmt.Sprintf("compare: %s (%s): %v", e.Side.Name, strings.Join(e.Side.Argv, " "), e.Err)
	if e.Tail != "" {
		s += "\nits output ended with:\n" + e.Tail
	}
	return s
}

func (e *SideError) Unwrap() error { return e.Err }

// stopDelay is the time between SIGTERM and SIGKILL.
const stopDelay = 5 * time.Second

// run runs the program once and parses what it prints.
func (s *Side) run(ctx context.Context) (*osufmt.Table, error) {
	if len(s.Argv) == 0 {
		return nil, fmt.Errorf("compare: no command for %s", s.Name)
	}
	var stdout bytes.Buffer
	both := &ending{limit: 8 << 10}
	cmd := exec.CommandContext(ctx, s.Argv[0], s.Argv[1:]...)
	cmd.Env = s.Env
	cmd.Stdout = io.MultiWriter(&stdout, both)
	cmd.Stderr = both
	// A launcher's ranks must be stopped with it.
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGTERM) }
	cmd.WaitDelay = stopDelay

	err := cmd.Run()
	if cmd.Process != nil && ctx.Err() != nil {
		unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
	}
	fail := func(err error) (*osufmt.Table, error) {
		return nil, &SideError{Side: *s, Err: err, Tail: both.lines(15)}
	}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("compare: %s: %w", s.Name, context.Cause(ctx))
	case errors.As(err, &exit):
		return fail(fmt.Errorf("failed: %w", err))
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission):
		return fail(fmt.Errorf("cannot be started: %w", err))
	case err != nil:
		return fail(err)
	}
	tab, err := osufmt.Parse(stdout.Bytes())
	if err != nil {
		return fail(err)
	}
	return tab, nil
}

// ending keeps the last limit bytes that are written to it. It is safe for
// concurrent use: os/exec copies each stream in a goroutine of its own.
type ending struct {
	limit int
	mu    sync.Mutex
	buf   []byte
}

func (e *ending) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.buf = append(e.buf, p...)
	if cut := len(e.buf) - e.limit; cut > 0 {
		e.buf = append(e.buf[:0], e.buf[cut:]...)
	}
	return len(p), nil
}

// lines returns the last n lines, indented.
func (e *ending) lines(n int) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	text := strings.TrimSpace(strings.ToValidUTF8(string(e.buf), "?"))
	if text == "" {
		return ""
	}
	all := strings.Split(text, "\n")
	all = all[max(0, len(all)-n):]
	return "  " + strings.Join(all, "\n  ")
}
