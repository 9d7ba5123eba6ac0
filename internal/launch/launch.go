package launch

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// DefaultKillGrace is the KillGrace of a Launch that sets none: one second for
// the ranks to see that another has failed, and one to exit.
const DefaultKillGrace = 2 * time.Second

// Launch describes a job, on this machine or on Hosts. Run does not change it. A Launch may
// be run any number of times, also concurrently if its readers and writers
// permit that.
type Launch struct {
	N    int      // ranks, 1 to MaxRanks
	Path string   // the program of every rank; looked up in PATH if it has no slash
	Args []string // arguments after the program's name
	Env  []string // "name=value"; nil means the launcher's own environment
	Bind Bind

	// Hosts, unless nil, are the hosts of the ranks: each gets the next ones, as many as
	// it has slots. Starter starts an agent on each, over whose standard streams all goes
	// that the launcher and the ranks there say to each other. Path is looked up on each
	// host, from Dir, and Env adds to the agent's environment, except for variables of a
	// host, such as HOME. No rank starts before all agents are there.
	Hosts   []Host
	Starter Starter
	Dir     string // the ranks' folder on the Hosts; "" means that of the launcher
	// Silence is how long an agent and the launcher may hear nothing of each other
	// before they take each other for lost; 0 means DefaultSilence, less than 0 for ever.
	// They send pings. A connection that ends is seen at once.
	Silence time.Duration

	// Stdin is the input of rank 0; nil means the null device, which the other
	// ranks always have. A Read that still blocks when the job has ended
	// outlives Run.
	Stdin io.Reader
	// Stdout and Stderr take the output of all ranks, which write into pipes;
	// nil means the null device. Each Write has one whole line, of up to 1 MiB;
	// longer lines come in pieces. Writes to one writer do not overlap, even if
	// both fields hold it. The lines of one rank on one stream keep their
	// order. A terminal, and the file of a job of one rank, also get the
	// beginning of a line that is unfinished for a tenth of a second. After a
	// failed Write the writer gets nothing more, and Run returns an
	// *OutputError. If the error says that the reader has gone (EPIPE,
	// io.ErrClosedPipe), the job is stopped. A Write that still blocks after
	// the job was stopped outlives Run.
	Stdout, Stderr io.Writer
	Label          bool // each line begins with the number of its rank, as in "3: text"
	Direct         bool // a Stdout or Stderr that is an *os.File goes to the ranks without a pipe

	// KillGrace is the time between the steps that stop a job; 0 means
	// DefaultKillGrace. When a rank fails, the others are told at once
	// (Job.Events), and an Exchange that waits for it returns a LostError.
	// Ranks that still run a KillGrace later get SIGTERM, and after another
	// KillGrace SIGKILL.
	KillGrace time.Duration

	// KeepGoing lets the job go on when a rank fails. The others are told
	// (Job.Events). Run returns when all have exited, with the same error as
	// without KeepGoing. Job.Abort and the end of the context still stop all
	// ranks.
	KeepGoing bool

	// Begun, unless nil, is called once, before the first rank starts, with the
	// id and the key that the ranks find in their Job.
	Begun func(id string, key Key)

	// The fields below change the ranks' processes. By default only Bind and
	// the environment variables of launchers do.

	// TimerSlack is by how much the kernel may delay a rank's timers to join
	// them with others (prctl(2), PR_SET_TIMERSLACK); 0 leaves it, usually at
	// 50 µs. Whenever a rank becomes active, the Go runtime's monitor sleeps
	// for 20 µs at a time. On the rank's own core it then takes a tenth of the
	// core for several milliseconds. With a slack of 4 ms, the kernel's tick at
	// 250 Hz, the monitor needs no timer interrupts of its own. The rank's
	// other timers expire later by up to the slack.
	TimerSlack time.Duration
	// NoRseq keeps the ranks' C library, by GLIBC_TUNABLES, from registering
	// restartable sequences, which Go does not use. The kernel writes to a
	// registered area each time the thread gets a core, and ranks that share a
	// core switch at every message. A setting of the user's stays.
	NoRseq bool
}

// Run starts the ranks and blocks until all have exited. It returns nil if
// every rank exited with code 0 and none joined the job without Close.
// Otherwise the error joins all failures, in the order in which they happened (see
// Job.Blame), so that errors.As finds the first of a type:
//   - *AbortError for a rank that has called Job.Abort;
//   - *ExitError for each rank that failed, except those that Run had told to
//     exit;
//   - the cause of ctx if it ended before the ranks: these then get SIGTERM, or
//     the signal of an *Interrupted, and SIGKILL a KillGrace later;
//   - *LimitError, or the error that kept a rank from starting: no rank is left
//     running;
//   - *HostError for each of the Hosts where no rank could be started, or that is lost
//     with its ranks; no rank is left running on the others, unless the job is to keep
//     going;
//   - *OutputError, of Stdout or Stderr.
//
// Every rank leads a process group of its own. When the rank exits, the rest of
// the group is killed; when the launcher dies, the rank is killed, and one that a wrapper
// has started ends itself (Discover).
func (l *Launch) Run(ctx context.Context) error {
	if err := checkRanks(l.N, l.Hosts == nil); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("launch: %w", ended(ctx))
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if l.Hosts != nil {
		return l.runHosts(ctx, stop)
	}
	c, err := l.prepare(stop)
	if err != nil {
		return err
	}
	if l.Begun != nil {
		l.Begun(hex.EncodeToString(c.greet.id[:]), c.greet.key)
	}
	return c.run(ctx)
}

func (c *crew) run(ctx context.Context) (err error) {
	control := followJobControl(ctx)
	started, release := make(chan error), make(chan struct{})
	var spawner sync.WaitGroup
	spawner.Go(func() { c.spawn(ctx, started, release) })
	err = <-started
	if err == nil {
		err = c.attend(ctx, control)
	} else {
		c.abandon()
	}
	control.leave()
	close(release)
	spawner.Wait()
	c.in.stop()
	return c.close(ctx, err)
}

// WithSignals returns a context that ends when the process receives SIGINT,
// SIGTERM, SIGQUIT or, unless it was started to ignore that, SIGHUP, with an
// *Interrupted as its cause, so that Run passes the signal on to the ranks: SIGHUP
// as SIGTERM. On SIGQUIT a rank of package mpi reports what waits,
// then exits. On SIGTSTP a Run in this context stops the ranks, then its own
// process. When that process continues, so do the ranks; KillGrace does not
// count the time stopped. SIGUSR1 and SIGUSR2 a Run in this context passes on, and
// goes on. stop restores the handling of the signals and ends ctx.
func WithSignals(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.WithValue(parent, signalsKey{}, true))
	got := make(chan os.Signal, 1)
	notifyEnd(got, syscall.SIGQUIT)
	go func() {
		select {
		case s := <-got:
			cancel(&Interrupted{s.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(got)
		cancel(nil)
	}
}

// notifyEnd has a channel get the signals that tell this process to exit, and others.
// SIGHUP is one unless the process was started to ignore it, as nohup does.
func notifyEnd(got chan<- os.Signal, others ...os.Signal) {
	if !signal.Ignored(syscall.SIGHUP) {
		others = append(others, syscall.SIGHUP)
	}
	signal.Notify(got, append(others, syscall.SIGINT, syscall.SIGTERM)...)
}

// crew is a job while it runs.
type crew struct {
	path      string
	argv      []string
	env       []string // without the variables that differ by rank
	cores     []int
	bound     bool
	grace     time.Duration
	keepGoing bool
	slack     time.Duration
	greet     welcome // without the rank
	meet      *rendezvous
	news      *news

	null     *os.File
	in       *input
	out, err sink
	ranks    []*child                                   // those that were started
	size     int                                        // of the job
	numbers  []int                                      // of the ranks to start here
	left     func(rank int, from uint64, reason string) // called when a rank joins no further round; may be nil
	ends     atomic.Uint64                              // events so far; each Add gives one its report.order
}

// prepare does all that can fail before the first rank starts. stop is called
// to stop the job when its output has no reader.
func (l *Launch) prepare(stop func(error)) (*crew, error) {
	path, err := exec.LookPath(l.Path)
	if err != nil {
		return nil, fmt.Errorf("launch: %w", err)
	}
	cores, err := AllowedCores()
	if err != nil {
		return nil, err
	}
	c := &crew{
		path:      path,
		argv:      append([]string{l.Path}, l.Args...),
		cores:     cores,
		bound:     l.Bind == BindAuto,
		grace:     l.KillGrace,
		keepGoing: l.KeepGoing,
		slack:     l.TimerSlack,
		meet:      newRendezvous(l.N),
		news:      newNews(),
		size:      l.N,
		numbers:   upTo(l.N),
	}
	if c.grace <= 0 {
		c.grace = DefaultKillGrace
	}
	env := l.Env
	if env == nil {
		env = os.Environ()
	}
	c.env = rankEnv(env)
	if l.NoRseq {
		c.env = withoutRseq(c.env)
	}
	c.greet.size = uint32(l.N)
	c.greet.id, c.greet.key = newIdentity()
	if c.null, err = os.OpenFile(os.DevNull, os.O_RDWR, 0); err != nil {
		return nil, fmt.Errorf("launch: %w", err)
	}
	if c.in, err = newInput(l.Stdin, c.null); err != nil {
		c.null.Close()
		return nil, err
	}
	// All descriptors of the launcher itself are open now, those of the
	// runtime's poller too.
	if err := checkFiles(l.N, l.copied()); err != nil {
		c.in.stop()
		c.null.Close()
		return nil, err
	}
	c.out, c.err = l.newSinks(c.null, stop)
	return c, nil
}

// upTo is the numbers below n.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// copied is how many streams of each rank take a pipe.
func (l *Launch) copied() (streams int) {
	for _, w := range []io.Writer{l.Stdout, l.Stderr} {
		if _, file := w.(*os.File); w != nil && !(file && l.Direct) {
			streams++
		}
	}
	return streams
}

// close frees the job's resources and joins the errors of its output to err.
// Precondition: all ranks have exited.
func (c *crew) close(ctx context.Context, err error) error {
	for _, s := range []sink{c.out, c.err} {
		if e := s.drain(c.grace, ctx.Done()); e != nil && !errors.Is(err, e) {
			err = errors.Join(err, e)
		}
	}
	c.null.Close()
	for _, r := range c.ranks {
		r.session.conn.Close()
		r.pidfd.Close()
	}
	return err
}
