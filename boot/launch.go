package boot

import (
	"context"
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

// DefaultKillGrace is the KillGrace of a Launch that sets none: the second
// within which ranks see that another has failed, and one to end in.
const DefaultKillGrace = 2 * time.Second

// Launch describes a job on this machine. It is read by Run and not changed;
// a Launch may be run any number of times, also concurrently if its readers
// and writers permit.
type Launch struct {
	N    int      // ranks, 1 to MaxRanks
	Path string   // the program of every rank; looked up in PATH if it has no slash
	Args []string // arguments after the program's name
	Env  []string // "name=value"; nil means the launcher's own environment
	Bind Bind

	// Stdin is read by rank 0; nil, and for the other ranks always, it is the
	// null device. If it blocks in Read when the job ends, that Read outlives
	// Run.
	Stdin io.Reader
	// Stdout and Stderr take the output of all ranks, which write into pipes;
	// nil is the null device. They get whole lines of up to 1 MiB, in one Write
	// each and never two at a time, even if both are the same; of the lines of a
	// rank those of one stream keep their order. A terminal, and the file of a
	// job of one rank, also get the beginning of a line that stays without its
	// end for a tenth of a second. If a Write fails, that stream is lost from
	// there on, and Run returns an *OutputError; where the error is that nobody
	// reads any more, the job is stopped. A Write that blocks when the job has
	// been stopped outlives Run.
	Stdout, Stderr io.Writer
	Label          bool // each line begins with the number of its rank, as in "3: text"
	Direct         bool // a Stdout or Stderr that is an *os.File is handed to the ranks as it is

	// KillGrace is the time between the steps that stop a job; 0 means
	// DefaultKillGrace. When a rank fails the others are told at once
	// (Job.Events), and those that wait for it in Exchange get a LostError;
	// those that still run a KillGrace later get SIGTERM, and one more later
	// SIGKILL.
	KillGrace time.Duration

	// KeepGoing lets the job go on when a rank fails. The others are told
	// (Job.Events); Run returns when all have ended, with the same error as
	// without KeepGoing. Job.Abort and the end of the context still end all.
	KeepGoing bool

	// What follows changes the ranks' own processes. By default nothing does but
	// Bind and variables whose names begin with WEFT_.

	// TimerSlack is by how much the kernel may delay a rank's timers to join
	// them with others (prctl(2), PR_SET_TIMERSLACK); 0 leaves it, usually at
	// 50 µs. The Go runtime's monitor sleeps 20 µs at a time whenever a rank
	// comes to life, and on a core that it shares with the rank takes a tenth
	// of it for several milliseconds. Within the 4 ms of a kernel's tick at 250
	// Hz it needs no timer interrupt of its own; the rank's other timers come
	// as much later.
	TimerSlack time.Duration
	// NoRseq keeps the C library of ranks, by GLIBC_TUNABLES, from registering
	// restartable sequences, which Go does not use: the kernel writes to a
	// registered area whenever a thread gets a core back, and ranks that share
	// cores pass them on at every message. A setting of the user's stays.
	NoRseq bool
}

// Run starts the ranks and blocks until all have ended. It returns nil if all
// exited with code 0, in order. Otherwise the error joins what has gone wrong,
// in the order in which it did, so that errors.As finds the first of a type:
//   - *AbortError for a rank that has called Job.Abort;
//   - *ExitError for a rank that failed, one for each, those left out that Run
//     has told to end;
//   - the cause of ctx if it ended before the ranks: they then get SIGTERM, or
//     the signal of an *Interrupted, and SIGKILL a KillGrace later;
//   - *LimitError, or what kept a rank from starting: none is left running;
//   - *OutputError, of Stdout or Stderr.
//
// Every rank leads a process group of its own. What is left of the group is
// killed when the rank ends, and the rank itself when the launcher dies.
func (l *Launch) Run(ctx context.Context) error {
	if err := checkRanks(l.N); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return fmt.Errorf("boot: launch: %w", ended(ctx))
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	c, err := l.prepare(stop)
	if err != nil {
		return err
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
// SIGTERM or SIGQUIT, with an *Interrupted as its cause, so that Run passes the
// signal on to the ranks. Ranks of package mpi report what waits when they get
// SIGQUIT, then end. A Run in this context stops the ranks and then its own
// process on SIGTSTP, and has them go on when it does itself; KillGrace does not
// count the time between. stop undoes it.
func WithSignals(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(context.WithValue(parent, signalsKey{}, true))
	got := make(chan os.Signal, 1)
	signal.Notify(got, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT)
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

// crew is a job while it runs.
type crew struct {
	path      string
	argv      []string
	env       []string // without what differs by rank
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
	ranks    []*child // those that were started
	size     int
	ends     atomic.Uint64 // of ranks, seen so far
}

// prepare does what can fail before the first rank starts. stop ends the job.
func (l *Launch) prepare(stop func(error)) (*crew, error) {
	path, err := exec.LookPath(l.Path)
	if err != nil {
		return nil, fmt.Errorf("boot: launch: %w", err)
	}
	cores, err := allowedCores()
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
	c.greet.cores = uint32(len(cores))
	if c.bound {
		c.greet.cores = uint32(min(l.N, len(cores)))
	}
	c.greet.id, c.greet.key = newIdentity()
	if c.null, err = os.OpenFile(os.DevNull, os.O_RDWR, 0); err != nil {
		return nil, fmt.Errorf("boot: launch: %w", err)
	}
	if c.in, err = newInput(l.Stdin, c.null); err != nil {
		c.null.Close()
		return nil, err
	}
	// What the launcher itself opens is open now, the runtime's poller too.
	if err := checkFiles(l.N, l.copied()); err != nil {
		c.in.stop()
		c.null.Close()
		return nil, err
	}
	c.out, c.err = l.newSinks(c.null, stop)
	return c, nil
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

// close frees what the job held and joins what went wrong with its output to
// its error. Precondition: all ranks have ended.
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
