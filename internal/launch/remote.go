package launch

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/weft-mpi/weft/mpi/cause"
)

// remote is the launcher's side of an agent. One goroutine reads and never blocks for
// long: what is to be waited for, the writer of the job's output say, has another one.
type remote struct {
	f      *fleet
	number int // of the host
	host   string
	ranks  []int
	cmd    *exec.Cmd
	how    Starter
	link   *link
	stderr tail
	ready  chan struct{} // closed when the agent can start its ranks
	done   chan struct{} // closed when the agent's command has been reaped

	mu    sync.Mutex
	alive map[int]bool // ranks that have not exited
	why   error        // why the launcher has ended the connection
	late  error        // what has gone wrong when all ranks had exited, such as output that is lost

	// The reader's.
	lines  [2]chan said
	seen   uint64            // the last report, by the agent's order
	orders map[uint64]uint64 // this process's order of reports that are not here yet
}

// errBye is the end of a connection in order.
var errBye = errors.New("all its ranks have exited")

func newRemote(f *fleet, number int, host string, ranks []int) *remote {
	r := &remote{f: f, number: number, host: host, ranks: ranks,
		ready: make(chan struct{}), done: make(chan struct{}), alive: map[int]bool{}, orders: map[uint64]uint64{}}
	for _, rank := range ranks {
		r.alive[rank] = true
	}
	for i := range r.lines {
		r.lines[i] = make(chan said, window/overhead+2)
		if o, ok := f.out[i].(*output); ok {
			o.copies.Go(func() { r.show(o, r.lines[i]) })
		}
	}
	return r
}

// start starts the agent's command on the calling thread and gives the agent its setup.
func (r *remote) start(how Starter) {
	r.how = how
	argv := how.Command(r.host)
	r.cmd = exec.Command(argv[0], argv[1:]...)
	// A signal of the terminal is for the launcher alone, which passes it on.
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	r.cmd.Stderr = &r.stderr
	r.cmd.WaitDelay = time.Second // a process that ssh leaves behind may hold its standard error
	in, err := r.cmd.StdinPipe()
	var out io.ReadCloser
	if err == nil {
		out, err = r.cmd.StdoutPipe()
	}
	if err == nil {
		err = r.cmd.Start()
	}
	if err != nil {
		r.cmd = nil
		r.link = newLink(strings.NewReader(""), nowhere{}, r.f.setup.size)
		go func() {
			r.end(&HostError{Host: r.host, Err: fmt.Errorf("start its agent: %w", err)})
			close(r.done)
		}()
		return
	}
	r.link = newLink(out, in, r.f.setup.size)
	s := r.f.setup
	s.ranks = r.ranks
	r.link.send(kindSetup, s.append(nil))
	go r.serve()
}

type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (nowhere) Close() error                { return nil }

// serve reads what the agent says until its connection ends, and reaps its command.
func (r *remote) serve() {
	defer close(r.done)
	err := r.link.skip()
	for err == nil {
		var kind frameKind
		var p []byte
		if kind, p, err = r.link.read(); err == nil {
			err = r.handle(kind, p)
		}
	}
	r.link.cut()
	patience := time.AfterFunc(r.f.setup.grace, func() { r.cmd.Process.Kill() })
	r.cmd.Wait()
	patience.Stop()
	if err == errBye {
		r.end(nil)
		return
	}
	r.end(r.fault(err))
}

// fault is what the user is told of a connection that has ended out of order.
func (r *remote) fault(err error) *HostError {
	e := &HostError{Host: r.host, Err: err}
	r.mu.Lock()
	why := r.why
	r.mu.Unlock()
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		return e
	case why != nil:
		e.Err = why
	case errors.Is(err, ErrProtocol):
		e.Said = r.stderr.String()
	default:
		state := r.cmd.ProcessState
		e.Err = fmt.Errorf("its agent has ended (%s: %v)", r.cmd.Args[0], state)
		if !errors.Is(err, io.EOF) {
			e.Err = fmt.Errorf("%w: %w", e.Err, err)
		}
		e.Said = r.stderr.String()
		if r.how.Remedy != nil && !r.isReady() {
			e.Remedy = r.how.Remedy(state.ExitCode(), e.Said)
		}
	}
	return e
}

func (r *remote) isReady() bool {
	select {
	case <-r.ready:
		return true
	default:
		return false
	}
}

// end takes leave of the ranks that have not exited, which are lost with their host.
func (r *remote) end(e *HostError) {
	for _, lines := range r.lines {
		close(lines)
	}
	r.mu.Lock()
	lost := slices.Sorted(maps.Keys(r.alive))
	clear(r.alive)
	r.mu.Unlock()
	if e == nil && len(lost) > 0 {
		e = &HostError{Host: r.host, Err: protocolError("its agent has left before its ranks")}
	}
	if e == nil {
		return
	}
	e.Ranks = lost
	r.report(report{rank: theJob - 1 - r.number, order: r.f.order(), err: e})
	for _, rank := range lost {
		reason := fmt.Sprintf("its host %s is lost", r.host)
		if from, first := r.f.meet.leave(rank, reason); first {
			r.f.tell(r, kindGone, gone{rank, from, reason}.append(nil))
		}
		r.f.tell(r, kindLost, appendLost(nil, &cause.LostError{Rank: rank, Reason: reason}))
		r.report(report{rank: rank, order: r.f.order(), ended: true})
	}
}

func (r *remote) report(p report) {
	select {
	case r.f.reports <- p:
	case <-r.f.over:
		r.mu.Lock()
		defer r.mu.Unlock()
		r.late = errors.Join(r.late, p.err)
	}
}

// kill ends the connection, and the agent with it.
func (r *remote) kill(why error) {
	r.mu.Lock()
	r.why = cmp.Or(r.why, why)
	r.mu.Unlock()
	r.link.cut()
	if r.cmd != nil {
		r.cmd.Process.Kill()
	}
}

// close waits until the agent, which has no ranks any more, has passed on what they have
// written, and its command has ended. With hurry the agent is ended: it has started no
// ranks, or their output is of no use. It returns what has gone wrong meanwhile.
func (r *remote) close(hurry bool, stopped <-chan struct{}) error {
	if hurry {
		if r.link.cut(); r.cmd != nil && !r.isReady() {
			r.cmd.Process.Kill()
		}
		stopped = closed
	}
	select {
	case <-r.done:
	case <-stopped:
		select {
		case <-r.done:
		case <-time.After(4 * r.f.setup.grace): // its own patience takes three
			r.kill(errStays)
			<-r.done
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if hurry {
		return nil // the first error is known
	}
	return r.late
}

// refusal is why an agent can't start its ranks, in its words.
type refusal struct{ text string }

func (e *refusal) Error() string { return e.text }

// handle does what a frame of the agent asks for.
func (r *remote) handle(kind frameKind, p []byte) error {
	size := r.f.setup.size
	switch kind {
	case kindPing:
	case kindReady:
		if r.isReady() {
			return protocolError("ready twice")
		}
		close(r.ready)
		silence := r.f.setup.silence
		go r.link.watch(silence, r.done, func() { r.kill(fmt.Errorf("%w for %v: the host or the network has failed", errSilent, silence)) })
	case kindFail:
		return &refusal{string(p[min(4, len(p)):])}
	case kindOffers:
		return r.offers(p)
	case kindGone:
		g, err := parseGone(p, size)
		if err == nil && !slices.Contains(r.ranks, g.rank) {
			err = protocolError("news of rank %d, which is elsewhere", g.rank)
		}
		if err == nil && r.f.meet.leaveFrom(g.rank, g.from, g.reason) {
			r.f.tell(r, kindGone, p)
		}
		return err
	case kindLost:
		lost, err := parseLost(p, size)
		if err == nil && !slices.Contains(r.ranks, lost.Rank) {
			err = protocolError("news of rank %d, which is elsewhere", lost.Rank)
		}
		if err == nil {
			r.f.tell(r, kindLost, p)
		}
		return err
	case kindReport:
		return r.onReport(p)
	case kindOutput:
		s, err := parseSaid(p)
		if err == nil && !slices.Contains(r.ranks, int(s.rank)) {
			err = protocolError("output of rank %d, which is elsewhere", s.rank)
		}
		if err != nil {
			return err
		}
		select {
		case r.lines[s.stream] <- s:
		default:
			return protocolError("more output than it has credit for")
		}
	case kindCredit:
		k, err := parseCredit(p)
		if err == nil && k.stream != creditIn {
			err = protocolError("credit for output")
		}
		if err != nil {
			return err
		}
		select {
		case r.f.credits <- int(k.bytes):
		default: // there is room for all credit: nobody waits for it any more
		}
	case kindBye:
		return errBye
	default:
		return protocolError("frame of kind %d from an agent", kind)
	}
	return nil
}

// offers joins the agent's ranks in a round, and sends it the table when there is one. A
// round that fails does so at each agent, by news of who is gone.
func (r *remote) offers(p []byte) error {
	number, b, err := parseOffer(p)
	if err != nil {
		return err
	}
	parts, err := parseParts(b, len(r.ranks))
	if err != nil {
		return err
	}
	var joined *round
	for i, rank := range r.ranks {
		if joined, err = r.f.meet.join(rank, number, parts[i]); err != nil {
			return err
		}
	}
	go func() {
		select {
		case <-joined.done:
			if joined.err == nil {
				r.link.send(kindTable, joined.table)
			}
		case <-r.f.over:
		}
	}()
	return nil
}

func (r *remote) onReport(p []byte) error {
	q, err := parseReport(p)
	if err == nil && q.rank != theJob && !slices.Contains(r.ranks, q.rank) {
		err = protocolError("report of rank %d, which is elsewhere", q.rank)
	}
	if err != nil {
		return err
	}
	// What an agent counts before this has happened before: it is on its way.
	for ; r.seen < q.order; r.seen++ {
		r.orders[r.seen+1] = r.f.order()
	}
	order, ok := r.orders[q.order]
	if !ok {
		return protocolError("two reports of one event")
	}
	delete(r.orders, q.order)
	q.order = order
	if q.rank == theJob {
		q.rank = theJob - 1 - r.number
	}
	if _, ok := q.err.(*told); ok {
		q.err = &HostError{Host: r.host, Ranks: r.ranks, Err: q.err}
	}
	if q.ended {
		r.mu.Lock()
		there := r.alive[q.rank]
		delete(r.alive, q.rank)
		r.mu.Unlock()
		if !there {
			return protocolError("rank %d exits twice", q.rank)
		}
	}
	r.report(q)
	return nil
}

// show passes on one stream of all ranks of the host, and gives the agent credit for it.
func (r *remote) show(o *output, lines <-chan said) {
	streams := map[uint32]*stream{}
	given := 0
	for s := range lines {
		from := streams[s.rank]
		if from == nil {
			from = o.stream(int(s.rank))
			streams[s.rank] = from
		}
		if s.ends {
			from.put(nil)
		} else {
			from.put(s.text)
		}
		if given += len(s.text) + overhead; given >= window/4 {
			r.link.send(kindCredit, credit{s.stream, uint32(given)}.append(nil))
			given = 0
		}
	}
}
