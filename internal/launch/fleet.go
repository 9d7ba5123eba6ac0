package launch

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Host is a host for ranks of a Launch.
type Host struct {
	Name  string // as the Starter takes it
	Slots int    // ranks for it, at least 1
}

// DefaultSilence is the Silence of a Launch that sets none.
const DefaultSilence = 20 * time.Second

// fleet is a job on several hosts while it runs. It is to the agents what a crew is to
// its ranks.
type fleet struct {
	setup   setup // without the ranks
	agents  []*remote
	meet    *rendezvous
	news    *news
	reports chan report
	ends    atomic.Uint64
	out     [2]sink
	over    chan struct{} // closed when the job has ended
	credits chan int      // for the input of rank 0
}

// place gives ranks to hosts, in their order: the numbers of each host's ranks, by the
// names of the hosts, and the names in the order of their first ranks.
func place(n int, hosts []Host) (names []string, ranks map[string][]int, err error) {
	ranks = map[string][]int{}
	next := 0
	for _, h := range hosts {
		if h.Slots < 1 {
			return nil, nil, fmt.Errorf("launch: host %s has %d slots, the least is 1", h.Name, h.Slots)
		}
		for range min(h.Slots, n-next) {
			if ranks[h.Name] == nil {
				names = append(names, h.Name)
			}
			ranks[h.Name] = append(ranks[h.Name], next)
			next++
		}
	}
	if next < n {
		return nil, nil, &LimitError{n, uint64(next), "the hosts have no more slots: name further hosts, or give a host more of them, as in NAME:4"}
	}
	return names, ranks, nil
}

// runHosts is Run for a Launch with Hosts.
func (l *Launch) runHosts(ctx context.Context, stop func(error)) error {
	f, err := l.newFleet(stop)
	if err != nil {
		return err
	}
	if l.Begun != nil {
		l.Begun(hex.EncodeToString(f.setup.id[:]), f.setup.key)
	}
	control := followJobControl(ctx)
	defer control.leave()
	release := make(chan struct{})
	var starter sync.WaitGroup
	started := make(chan struct{})
	starter.Go(func() { f.start(l.Starter, started, release) })
	<-started
	err = f.ready(ctx, control)
	hurry := err != nil
	if !hurry {
		for _, r := range f.agents {
			r.link.send(kindGo, nil)
		}
		f.pour(l.Stdin)
		v := &supervision{troop: f, live: l.N, reports: f.reports, order: f.order, grace: f.setup.grace, keepGoing: l.KeepGoing}
		err = v.supervise(ctx, control)
	}
	close(f.over)
	err = f.close(ctx, err, hurry)
	close(release)
	starter.Wait()
	return err
}

func (l *Launch) newFleet(stop func(error)) (*fleet, error) {
	names, ranks, err := place(l.N, l.Hosts)
	if err != nil {
		return nil, err
	}
	f := &fleet{
		meet: newRendezvous(l.N), news: newNews(),
		reports: make(chan report, maxReports*l.N+2*len(names)),
		over:    make(chan struct{}), credits: make(chan int, 8),
	}
	f.setup = setup{
		size: l.N, dir: l.Dir, path: l.Path, args: l.Args, env: l.Env,
		bound: l.Bind == BindAuto, noRseq: l.NoRseq,
		slack: l.TimerSlack, grace: l.KillGrace, silence: l.Silence,
		stdin: l.Stdin != nil, null: [2]bool{l.Stdout == nil, l.Stderr == nil},
	}
	s := &f.setup
	s.id, s.key = newIdentity()
	if s.env == nil {
		s.env = os.Environ()
	}
	if s.grace <= 0 {
		s.grace = DefaultKillGrace
	}
	s.silence = cmp.Or(s.silence, DefaultSilence)
	s.silence = max(s.silence, 0)
	if s.dir == "" {
		if s.dir, err = os.Getwd(); err != nil {
			return nil, fmt.Errorf("launch: %w", err)
		}
	}
	piped := *l
	piped.Direct = false
	f.out[0], f.out[1] = piped.newSinks(nil, stop)
	for i, sink := range f.out {
		if o, ok := sink.(*output); ok {
			s.early[i] = o.early
		}
	}
	for i, name := range names {
		f.agents = append(f.agents, newRemote(f, i, name, ranks[name]))
	}
	return f, nil
}

// start starts all agents, and waits for release: the kernel ends them with the thread
// that has started them (prctl(2), PR_SET_PDEATHSIG).
func (f *fleet) start(how Starter, started chan<- struct{}, release <-chan struct{}) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, r := range f.agents {
		r.start(how)
	}
	close(started)
	<-release
}

// ready waits until all agents can start their ranks.
func (f *fleet) ready(ctx context.Context, control *jobControl) error {
	grace := newGraceTimer()
	defer grace.timer.Stop()
	for _, r := range f.agents {
		for waits := true; waits; {
			select {
			case <-r.ready:
				waits = false
			case <-ctx.Done():
				return fmt.Errorf("launch: job stopped: %w", ended(ctx))
			case s := <-control.got:
				follow(f, s, grace)
			case p := <-f.reports: // any agent's
				if p.err != nil {
					return errors.Join(append([]error{p.err}, f.others()...)...)
				}
			}
		}
	}
	return nil
}

// others are the errors of agents that are known by now.
func (f *fleet) others() (errs []error) {
	for {
		select {
		case p := <-f.reports:
			if p.err != nil {
				errs = append(errs, p.err)
			}
		default:
			return errs
		}
	}
}

// pour gives rank 0 its input.
func (f *fleet) pour(in io.Reader) {
	if in == nil {
		return
	}
	for _, r := range f.agents {
		if slices.Contains(r.ranks, 0) {
			go pour(r.link, in, f.credits, f.over)
		}
	}
}

func (f *fleet) order() uint64 { return f.ends.Add(1) }

// end, send and kill are those of the agents' crews.
func (f *fleet) end(sig unix.Signal) { f.signal(signalTo{sig, true, noRank}) }
func (f *fleet) kill(rank int)       { f.signal(signalTo{unix.SIGKILL, true, uint32(rank)}) }

func (f *fleet) send(sig unix.Signal) {
	f.signal(signalTo{sig, false, noRank})
	if sig == unix.SIGSTOP { // this process may be about to stop as well
		for _, r := range f.agents {
			r.link.flush(time.Second)
		}
	}
}

func (f *fleet) signal(s signalTo) {
	p := s.append(nil)
	for _, r := range f.agents {
		if s.rank == noRank || slices.Contains(r.ranks, int(s.rank)) {
			r.link.send(kindSignal, p)
		}
	}
}

// drop ends the connections to agents that have not ended their ranks.
func (f *fleet) drop() {
	for _, r := range f.agents {
		r.kill(errStays)
	}
}

// tell sends a frame to all agents but one.
func (f *fleet) tell(but *remote, kind frameKind, payload []byte) {
	for _, r := range f.agents {
		if r != but {
			r.link.send(kind, payload)
		}
	}
}

// close waits for the agents and joins the errors of the output to err. See
// remote.close.
func (f *fleet) close(ctx context.Context, err error, hurry bool) error {
	var agents sync.WaitGroup
	late := make([]error, len(f.agents))
	for i, r := range f.agents {
		agents.Go(func() { late[i] = r.close(hurry, ctx.Done()) })
	}
	agents.Wait()
	for _, s := range f.out {
		if e := s.drain(f.setup.grace, ctx.Done()); e != nil && !errors.Is(err, e) {
			late = append(late, e)
		}
	}
	if late := errors.Join(late...); late != nil {
		err = errors.Join(err, late)
	}
	return err
}

// errStays is the error of an agent that does not end its ranks.
var errStays = errors.New("its ranks were told to exit, and it has not said that they have: some may still run there")

// HostError says that a host of a Launch can't start ranks, or is lost with its ranks.
type HostError struct {
	Host   string
	Ranks  []int  // that have not exited, as far as is known
	Err    error  // the cause
	Said   string // the last that the command which has started the agent has written to its standard error
	Remedy string // what the user can do; may be empty
}

func (e *HostError) Error() string {
	s := fmt.Sprintf("launch: host %s: %v", e.Host, e.Err)
	if e.Said != "" {
		s += fmt.Sprintf(": %q", e.Said)
	}
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

func (e *HostError) Unwrap() error { return e.Err }
