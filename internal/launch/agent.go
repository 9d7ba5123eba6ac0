package launch

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/weft-mpi/weft/mpi/cause"
	"golang.org/x/sys/unix"
)

// agent starts the ranks of one host for a launcher on another, and is the launcher to
// them: it passes on what they say to it, and to them what that says.
type agent struct {
	*setup
	link    *link
	crew    *crew
	outs    [2]*relay // nil for a stream that nobody reads
	feed    *feed     // nil unless rank 0 is here and has an input
	start   chan struct{}
	signals chan signalTo
	over    chan struct{} // closed when no rank runs any more
	ended   chan struct{} // closed with the connection to the launcher
}

// Agent starts ranks of a job on this host, by order of a Launch with Hosts that has
// started this process and holds the other ends of in and out. It returns when all ranks
// have exited: at once killed, if the connection ends. The process is the agent's: it
// goes to the job's folder, and handles signals. A signal that would end it ends the job,
// and its ranks get SIGUSR1 and SIGUSR2.
func Agent(in io.Reader, out io.WriteCloser) error {
	// Without a handler a write to a closed pipe would kill this process.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	stop := make(chan os.Signal, 1)
	notifyEnd(stop)
	pass := make(chan os.Signal, pending)
	signal.Notify(pass, passed...)
	a := &agent{link: newLink(in, out, 1), start: make(chan struct{}), signals: make(chan signalTo, 16), over: make(chan struct{}), ended: make(chan struct{})}
	a.link.post([]byte(preamble))
	kind, p, err := a.link.read()
	if err == nil && kind != kindSetup {
		err = protocolError("frame of kind %d in place of a setup", kind)
	}
	if err == nil {
		a.setup, err = parseSetup(p)
	}
	if err == nil {
		err = a.prepare()
	}
	if err != nil {
		a.link.send(kindFail, appendFail(nil, err))
		a.link.flush(leaveTimeout)
		return fmt.Errorf("launch: agent: %w", err)
	}
	a.link.send(kindReady, nil)
	silent := make(chan struct{})
	go a.link.watch(a.silence, a.ended, func() { close(silent) })
	go func() {
		defer close(a.ended)
		err = a.listen()
	}()
	select {
	case <-a.start:
	case <-a.ended:
		return fmt.Errorf("launch: agent: the launcher has gone: %w", err)
	case <-silent:
		return fmt.Errorf("launch: agent: the launcher has been silent for %v", a.silence)
	case s := <-stop:
		return fmt.Errorf("launch: agent: %w", &Interrupted{s.(syscall.Signal)})
	}
	a.run(silent, stop, pass)
	return nil
}

// prepare does all that can fail before the first rank starts.
func (a *agent) prepare() error {
	a.link.size = a.size
	if err := os.Chdir(a.dir); err != nil {
		return fmt.Errorf("go to the folder that the job is started in: %w", err)
	}
	env := rankEnv(mergeEnv(os.Environ(), a.env))
	for _, kv := range env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok {
			os.Setenv("PATH", path) // in which the ranks' program is looked up
		}
	}
	path, err := exec.LookPath(a.path)
	if err != nil {
		return fmt.Errorf("%w: each host needs the program, at the same place", err)
	}
	cores, err := AllowedCores()
	if err != nil {
		return err
	}
	c := &crew{
		path:    path,
		argv:    append([]string{a.path}, a.args...),
		env:     env,
		cores:   cores,
		bound:   a.bound,
		grace:   a.grace,
		slack:   a.slack,
		news:    newNews(),
		size:    a.size,
		numbers: a.ranks,
	}
	if a.noRseq {
		c.env = withoutRseq(c.env)
	}
	c.greet.size, c.greet.id, c.greet.key = uint32(a.size), a.id, a.key
	c.meet = newRendezvousOf(a.size, len(a.ranks), func(r *round) {
		parts := make([][]byte, len(a.ranks))
		for i, rank := range a.ranks {
			parts[i] = r.parts[rank]
		}
		a.link.send(kindOffers, appendOffer(nil, r.number, appendParts(nil, parts)))
	})
	c.left = func(rank int, from uint64, reason string) {
		a.link.send(kindGone, gone{rank, from, reason}.append(nil))
	}
	c.news.also = func(e *cause.LostError) { a.link.send(kindLost, appendLost(nil, e)) }
	if c.null, err = os.OpenFile(os.DevNull, os.O_RDWR, 0); err != nil {
		return err
	}
	var input io.Reader
	if a.stdin && slices.Contains(a.ranks, 0) {
		a.feed = newFeed(a.link)
		input = a.feed
	}
	if c.in, err = newInput(input, c.null); err != nil {
		return err
	}
	streams := 0
	for i, sink := range []*sink{&c.out, &c.err} {
		if *sink = (direct{c.null}); !a.null[i] {
			a.outs[i] = newRelay(a.link, byte(i))
			*sink = &output{to: a.outs[i], many: a.size > 1, early: a.early[i]}
			streams++
		}
	}
	a.crew = c
	return checkFiles(len(a.ranks), streams)
}

// run starts the ranks and waits until they have exited and the launcher has what they
// have written.
func (a *agent) run(silent <-chan struct{}, stop, pass <-chan os.Signal) {
	c := a.crew
	started, release := make(chan error), make(chan struct{})
	var spawner sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	spawner.Go(func() { c.spawn(ctx, started, release) })
	if err := <-started; err != nil {
		c.abandon()
		a.report(report{rank: a.ranks[0], order: c.ends.Add(1), err: err, ended: true})
		for _, rank := range a.ranks[1:] {
			a.report(report{rank: rank, order: c.ends.Add(1), ended: true})
		}
	} else {
		a.attend(silent, stop, pass, cancel)
	}
	close(a.over)
	close(release)
	spawner.Wait()
	c.in.stop()
	drained := make(chan struct{})
	go func() {
		c.close(ctx, nil)
		close(drained)
	}()
	select {
	case <-drained:
		a.link.send(kindBye, nil)
		a.link.flush(leaveTimeout)
	case <-a.ended:
	}
}

// attend passes on what becomes of the ranks, until all have exited. told is called when
// they are to.
func (a *agent) attend(silent <-chan struct{}, stop, pass <-chan os.Signal, told func()) {
	v := a.crew.watch()
	lost := a.ended
	for live := v.live; live > 0; {
		select {
		case r := <-v.reports:
			if r.ended {
				live--
			}
			a.report(r)
		case s := <-a.signals:
			switch {
			case s.rank != noRank:
				v.kill(int(s.rank))
			case s.told:
				told()
				v.end(s.signal)
			default:
				v.send(s.signal)
			}
		case s := <-stop:
			a.report(report{rank: theJob, order: v.order(), err: fmt.Errorf("its agent was told to exit: %w", &Interrupted{s.(syscall.Signal)})})
			stop = nil
		case s := <-pass: // a batch system has told the processes that it has started
			v.send(s.(syscall.Signal))
		case <-lost:
			lost = nil
			v.end(unix.SIGKILL)
		case <-silent:
			silent = nil
			a.link.cut()
			v.end(unix.SIGKILL)
		}
	}
}

func (a *agent) report(r report) {
	p := appendReport(nil, r)
	a.link.send(kindReport, p[:min(len(p), maxPayload(kindReport, a.size))])
}

// listen does what the launcher says, until the connection ends.
func (a *agent) listen() error {
	for {
		kind, p, err := a.link.read()
		if err == nil {
			err = a.obey(kind, p)
		}
		if err != nil {
			for _, out := range a.outs {
				if out != nil {
					out.end()
				}
			}
			return err
		}
	}
}

func (a *agent) obey(kind frameKind, p []byte) error {
	switch kind {
	case kindPing:
	case kindGo:
		select {
		case <-a.start:
			return protocolError("told to start twice")
		default:
		}
		close(a.start)
	case kindTable:
		if len(p) < 12 {
			return protocolError("table of %d bytes", len(p))
		}
		return a.crew.meet.settle(binary.LittleEndian.Uint64(p), p)
	case kindGone:
		g, err := parseGone(p, a.size)
		if err == nil {
			a.crew.meet.leaveFrom(g.rank, g.from, g.reason)
		}
		return err
	case kindLost:
		lost, err := parseLost(p, a.size)
		if err == nil {
			a.crew.news.hear(lost)
		}
		return err
	case kindSignal:
		s, err := parseSignalTo(p)
		if err != nil {
			return err
		}
		switch s.signal {
		case unix.SIGSTOP:
			a.link.pause(true)
		case unix.SIGCONT:
			a.link.pause(false)
		}
		if user := s.signal == unix.SIGUSR1 || s.signal == unix.SIGUSR2; user && len(a.signals) == cap(a.signals) {
			return nil // the kernel keeps one of a kind, too
		}
		select {
		case a.signals <- s:
		case <-a.over:
		}
	case kindInput:
		if a.feed == nil {
			return protocolError("input for rank 0, which is not here")
		}
		a.feed.add(p)
	case kindCredit:
		k, err := parseCredit(p)
		if err == nil && (k.stream == creditIn || a.outs[k.stream] == nil) {
			err = protocolError("credit for stream %d, which sends nothing", k.stream)
		}
		if err != nil {
			return err
		}
		a.outs[k.stream].give(int(k.bytes))
	default:
		return protocolError("frame of kind %d to an agent", kind)
	}
	return nil
}
