package comm

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/coarseclock"
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/partitioned"
	"github.com/weft-mpi/weft/progress"
	"github.com/weft-mpi/weft/rma"
)

// Config configures a rank's engine.
type Config struct {
	Rank     int             // of this rank in the job
	Progress progress.Config // Addrs has an entry for each rank of the job
	Limits   pt2pt.Limits
	// Informed means that Lost or Fail reports every death to this rank, so it
	// need not tell other ranks of those it learns of.
	Informed bool
	// Classify returns the error class that other ranks are told of an error; nil
	// for none.
	Classify func(error) int
	// Operator names an operator by its number in Operands.
	Operator func(uint16) string
	// Named names a communicator by its context, "" if it has no name; nil for none has.
	Named func(context uint32) string
	// Check has ranks compare all collective calls, see check.go. It is the same at all.
	Check bool
	// Header is for pt2pt.Engine.Head. It is the same at all.
	Header int
	// Unexpected is for pt2pt.Engine.Watch, nil for nobody wants to know.
	Unexpected *atomic.Uint32
	// Beat has look called about once a second until stop is called: look is when the
	// rank compares collective calls that wait, see compare.go. nil for
	// coarseclock.EverySecond.
	Beat func(look func()) (stop func())
	// Draw draws the numbers of which context ids are made, nil for a generator with
	// a seed of its own. Draws of an Instance come one at a time.
	Draw func() uint32
	// Alloc gives zeroed memory that ranks of the machine reach, for the words of
	// windows; nil for memory of the heap.
	Alloc func(n int) ([]byte, error)
}

// Instance is a rank's engine, from New to End and Close. It is safe for
// concurrent use.
type Instance struct {
	Loop  *progress.Loop
	P2P   *pt2pt.Engine
	Parts *partitioned.Engine
	Wins  *rma.Engine
	World *Comm // of all ranks
	Self  *Comm // of this rank alone (MPI_COMM_SELF, MPI-4.0 §7.2.4), see Announce

	flags   flagPool
	echoes  echoes
	clocks  clocks
	ids     *ids
	letters *letters

	questions questions
	named     func(context uint32) string // see Config

	ended   atomic.Bool // stored by End, under mu; loaded by Ended
	mu      sync.Mutex
	live    map[*Comm]struct{}      // communicators that are not over
	made    callSums                // by those that are; under mu
	early   map[uint32]abort        // aborts of communicators that are not made here yet, by context; under mu
	heard   map[fabric.Peer][]heard // Aborts, by who has sent them; the owner's
	running map[uint32]*Comm        // communicators with nonblocking collective calls under way, by id; the owner's

	// See failures.go; the owner's.
	fallen        []fabric.Peer        // ranks that are down, in the order of the news
	failed        map[uint32]*failures // by context
	resting       []*Comm              // freed ones, the oldest first, see restFailures
	earlyFailures map[uint32][]early   // messages for communicators that are not made here yet, by context
	earlyFailing  int                  // their number
	dying         bool                 // see Die

	comparisons *comparisons
	looking     atomic.Int64 // since when look waits for the owner, in nanoseconds since 1970; 0: it does not
	check       bool         // see Config
	unbeat      func()       // stops the Beat
	classify    func(error) int
}

// New starts the engine. The domains of cfg.Progress are the Instance's from then
// on: Close closes them. Local.
func New(cfg Config) *Instance {
	in := complete(cfg)
	in.Loop.Go()
	if cfg.Beat == nil {
		cfg.Beat = coarseclock.EverySecond
	}
	in.unbeat = cfg.Beat(in.look)
	return in
}

// complete makes an Instance whose loop has not begun: other ranks may ask about the World
// as soon as it has.
func complete(cfg Config) *Instance {
	in := &Instance{Loop: progress.New(cfg.Progress), live: map[*Comm]struct{}{}, running: map[uint32]*Comm{}, heard: map[fabric.Peer][]heard{}, failed: map[uint32]*failures{}, earlyFailures: map[uint32][]early{}, ids: newIDs(cfg.Draw, cfg.Rank), classify: cfg.Classify, named: cfg.Named, check: cfg.Check}
	size := len(cfg.Progress.Addrs)
	in.P2P = pt2pt.New(in.Loop, cfg.Rank, size)
	in.P2P.Limit(cfg.Limits)
	in.P2P.Head(cfg.Header)
	in.P2P.Watch(cfg.Unexpected)
	in.Parts = partitioned.New(in.Loop, cfg.Rank)
	in.Wins = rma.New(in.Loop, cfg.Rank, cfg.Alloc)
	in.letters = newLetters(in, size)
	in.P2P.HandleEnds(in.Parts.Closed, in.Parts.Ended, in.refuses)
	in.Parts.HandleFreed(in.P2P.Freed, in.P2P.Forbidden, ErrRevoked)
	in.Loop.Handle(failing{aborts{in: in}}, wire.Revoke, wire.Agree)
	in.Loop.Handle(aborts{in: in}, wire.Abort)
	in.echoes.in = in
	in.Loop.Handle(&in.echoes, wire.Echo)
	in.clocks.in = in
	in.Loop.Handle(&in.clocks, wire.Clock)
	in.Loop.Handle(in.letters, wire.Letter)
	in.questions.in, in.questions.open = in, map[uint64]*question{}
	in.Loop.Handle(&in.questions, wire.Ask, wire.Tell)
	in.comparisons = &comparisons{aborts: aborts{in: in}, operator: cfg.Operator}
	in.Loop.Handle(in.comparisons, wire.Compare, wire.Compared)
	in.Loop.Handle(tallies{aborts{in: in}})
	in.World = in.add(&Comm{P2P: in.P2P, Rank: cfg.Rank, Size: size, in: in})
	in.Self = in.newSelf(cfg.Rank, size)
	if cfg.Informed {
		in.P2P.Informed()
	}
	return in
}

// Lost is news of a rank's death from outside, the launcher's: what needs that
// rank ends with err, which becomes a fabric.ErrPeerDown. A rank that is connected
// is left to its fabric, which hands over first what the rank had sent. Local.
func (in *Instance) Lost(rank int, err error) {
	in.Loop.Exclusive(func() {
		in.Loop.Lost(fabric.Peer(rank), fmt.Errorf("%w: %w", fabric.ErrPeerDown, err))
	})
}

// Fail ends a rank of this process that has failed, after everything it has
// sent: from then on it counts as dead. Local.
func (in *Instance) Fail(rank int) {
	in.Loop.Fail(fabric.Peer(rank), &fabric.Error{Op: "talk", Peer: fabric.Peer(rank), HasPeer: true,
		Err: fmt.Errorf("%w: it has failed", fabric.ErrPeerDown)})
}

// Die has this rank take no part any more in what ranks agree on about those that have
// failed: it is one itself, and the others are about to hear so. As they end their
// connections it would take them for dead. Local.
func (in *Instance) Die() { in.Loop.Exclusive(func() { in.dying = true }) }

// Close stops the progress thread, closes the domains and ends the operations
// that have not completed, in this order. It is called once, behind End. The
// errors are those of the domains. Non-local, as fabric.Domain.Close.
func (in *Instance) Close() error {
	in.unbeat()
	return in.Loop.Close()
}
