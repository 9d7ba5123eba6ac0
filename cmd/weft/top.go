package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/weft-mpi/weft/internal/diagnose"
	"github.com/weft-mpi/weft/internal/launch"
	"github.com/weft-mpi/weft/internal/peek"
)

const topUsage = `weft top shows what the ranks of a job on this host do: messages and bytes a second,
what is queued, and whom each rank waits for. In a terminal the table is renewed
until Ctrl-C; elsewhere a new one follows each time.

usage: weft top [FLAGS] [JOB]

JOB is the beginning of the job's id, or the process id of a rank or of its
launcher; it can be left out if you run one job on this host.

`

// row is what weft top tells of a rank. Its names are those of --json.
type row struct {
	Rank     int     `json:"rank"`
	PID      int     `json:"pid"`
	Messages float64 `json:"messages_per_second"` // sent and received
	Sent     float64 `json:"sent_bytes_per_second"`
	Received float64 `json:"received_bytes_per_second"`
	// Queued: messages without a receive and their bytes, receives without a message,
	// packets that wait for room, requests in flight.
	Unexpected      uint64 `json:"unexpected_messages"`
	UnexpectedBytes uint64 `json:"unexpected_bytes"`
	Posted          uint64 `json:"posted_receives"`
	Backlog         uint64 `json:"backlog"`
	Requests        uint64 `json:"requests"`
	Waits           string `json:"waits"` // for whom, "" if no goroutine of it is blocked in a call
	Seconds         int    `json:"waits_seconds"`
	Problem         string `json:"problem,omitempty"` // why the rest is missing
}

// sample is one table.
type sample struct {
	Job  string `json:"job"`
	Size int    `json:"size"`
	Rows []row  `json:"ranks"`
}

func runTop(args []string, stdout, stderr io.Writer) int {
	flags := pflag.NewFlagSet("top", pflag.ContinueOnError)
	interval := flags.Duration("interval", time.Second, "the time between two tables, 100ms or more")
	once := flags.Bool("once", false, "print one table, after one interval, and exit")
	asJSON := flags.Bool("json", false, "print each table as a line of JSON")
	if code, done := parse(flags, args, topUsage, "", stdout, stderr); done {
		return code
	}
	switch {
	case flags.NArg() > 1:
		return wrong(stderr, fmt.Errorf("weft top takes one job, it was given %s", strings.Join(flags.Args(), " ")))
	case *interval < 100*time.Millisecond:
		return wrong(stderr, fmt.Errorf("an interval of %v is too short: 100ms is the least", *interval))
	}
	ctx, stop := launch.WithSignals(context.Background())
	defer stop()
	j, err := find(ctx, flags.Arg(0))
	if err != nil {
		fmt.Fprintln(stderr, "weft:", err)
		return exitFailed
	}
	screen := screenOf(stdout)
	if *asJSON || *once {
		screen = nil
	}
	for before := j.sample(ctx, *interval); ; {
		select {
		case <-ctx.Done():
			return launch.ExitCode(context.Cause(ctx))
		case <-time.After(*interval):
		}
		now := j.sample(ctx, *interval)
		s := now.since(j, before)
		if before = now; s.ended() {
			return say(stdout, stderr, fmt.Sprintf("job %s has ended\n", short(j.id)))
		}
		text := s.table(j)
		if *asJSON {
			line, err := json.Marshal(s)
			if err != nil {
				fmt.Fprintln(stderr, "weft:", err)
				return exitFailed
			}
			text = string(line) + "\n"
		}
		if code := say(stdout, stderr, screen.fit(text)); code != 0 || *once {
			return code
		}
	}
}

// moment is what the ranks have told at a moment.
type moment struct {
	at     []time.Time // by place in the job's ranks, when the rank was asked
	counts []peek.Result
	states []peek.Result
}

func (j *running) sample(ctx context.Context, wait time.Duration) (m moment) {
	ctx, cancel := context.WithTimeout(ctx, max(wait, helloTime))
	defer cancel()
	now := time.Now()
	m.counts = peek.Ask(ctx, j.ranks, "snapshot")
	for range m.counts {
		m.at = append(m.at, now)
	}
	m.states = peek.Ask(ctx, j.ranks, "pending")
	return m
}

// family is a group of counters, see counters.Family.
type family struct {
	Name   string
	Labels []string
	Rows   []struct {
		Values []string
		Value  uint64
	}
}

// counters are those of a rank.
type counters []family

// sum adds the counters of a name, those with the value of a label unless that is "".
func (c counters) sum(name, label, value string) (n uint64) {
	for _, f := range c {
		if f.Name != name {
			continue
		}
		at := -1
		for i, l := range f.Labels {
			if l == label {
				at = i
			}
		}
		for _, r := range f.Rows {
			if label == "" || at >= 0 && at < len(r.Values) && r.Values[at] == value {
				n += r.Value
			}
		}
	}
	return n
}

func countersOf(r *peek.Result) (counters, error) {
	var s struct{ Families counters }
	err := r.Unmarshal(&s)
	return s.Families, err
}

// since makes a table of two moments.
func (m *moment) since(j *running, before moment) *sample {
	s := &sample{Job: j.id, Size: j.Size}
	var all diagnose.Job
	for i := range m.states {
		var state diagnose.Rank
		if m.states[i].Unmarshal(&state) == nil {
			all.Ranks = append(all.Ranks, state)
		}
	}
	for i, name := range j.ranks {
		r := row{Rank: name.Rank, PID: m.counts[i].PID}
		now, err := countersOf(&m.counts[i])
		old, oldErr := countersOf(&before.counts[i])
		err = cmp.Or(err, oldErr)
		if err != nil {
			r.Problem = silence(&m.counts[i], err, helloTime)
			s.Rows = append(s.Rows, r)
			continue
		}
		seconds := m.at[i].Sub(before.at[i]).Seconds()
		rate := func(name, way string) float64 {
			a, b := old.sum(name, "direction", way), now.sum(name, "direction", way)
			if b < a || seconds <= 0 {
				return 0
			}
			return float64(b-a) / seconds
		}
		r.Messages = rate("weft_messages_total", "sent") + rate("weft_messages_total", "received")
		r.Sent, r.Received = rate("weft_bytes_total", "sent"), rate("weft_bytes_total", "received")
		r.Unexpected, r.UnexpectedBytes = now.sum("weft_unexpected_messages", "", ""), now.sum("weft_unexpected_bytes", "", "")
		r.Posted, r.Backlog, r.Requests = now.sum("weft_posted_receives", "", ""), now.sum("weft_backlog", "", ""), now.sum("weft_requests", "", "")
		r.Waits, r.Seconds = all.WaitsFor(name.Rank)
		s.Rows = append(s.Rows, r)
	}
	return s
}

// ended reports whether no rank listens any more.
func (s *sample) ended() bool {
	return !slices.ContainsFunc(s.Rows, func(r row) bool { return r.Problem != errEnded.Error() })
}

// errEnded is the problem of a rank that listens no more.
var errEnded = errors.New("it has just ended")

// table is the sample as text.
func (s *sample) table(j *running) string {
	var b strings.Builder
	fmt.Fprintf(&b, "job %s\n", j)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "rank\tprocess\tmessages/s\tsent/s\treceived/s\tunexpected\tposted\tbacklog\trequests\t  waits for\n")
	for _, r := range s.Rows {
		if r.Problem != "" {
			fmt.Fprintf(t, "%d\t%d\t\t\t\t\t\t\t\t  %s\n", r.Rank, r.PID, r.Problem)
			continue
		}
		waits := r.Waits
		if waits == "" {
			waits = "-"
		} else if r.Seconds > 0 {
			waits += fmt.Sprintf(", for %v", time.Duration(r.Seconds)*time.Second)
		}
		fmt.Fprintf(t, "%d\t%d\t%.0f\t%s\t%s\t%d\t%d\t%d\t%d\t  %s\n", r.Rank, r.PID, r.Messages, amount(r.Sent), amount(r.Received),
			r.Unexpected, r.Posted, r.Backlog, r.Requests, waits)
	}
	t.Flush()
	if more := s.Size - len(s.Rows); more > 0 {
		fmt.Fprintf(&b, "%d further ranks are not on this host, or do not listen\n", more)
	}
	return b.String()
}

// amount is a number of bytes.
func amount(n float64) string {
	for _, unit := range []string{"B", "kB", "MB", "GB"} {
		if n < 1000 {
			return fmt.Sprintf("%.3g %s", n, unit)
		}
		n /= 1000
	}
	return fmt.Sprintf("%.3g TB", n)
}

// screen is a terminal, whose table is renewed; nil is none.
type screen struct{ fd int }

func screenOf(out io.Writer) *screen {
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return &screen{int(f.Fd())}
	}
	return nil
}

// fit is the text for the screen: from its top, as much as it has room for.
func (s *screen) fit(text string) string {
	if s == nil {
		return text
	}
	width, height, err := term.GetSize(s.fd)
	if err != nil || width < 1 || height < 2 {
		width, height = 80, 24
	}
	return "\x1b[H\x1b[J" + cutTo(text, width, height-1)
}

// cutTo cuts a text to lines of so many characters, and so many lines.
func cutTo(text string, width, height int) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) > height {
		more := len(lines) - height + 1
		lines = append(lines[:height-1], fmt.Sprintf("and %d more", more))
	}
	for i, l := range lines {
		if r := []rune(l); len(r) > width {
			lines[i] = string(r[:width])
		}
	}
	return strings.Join(lines, "\n") + "\n"
}
