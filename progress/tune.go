package progress

import (
	"math"
	"runtime"
	"time"
)

// The knobs of waiting. Each comment gives its effect, and what shows it: a
// benchmark of osu-go (docs/performance.md) or a test. Compare figures in turns,
// in one run, with ranks bound to cores.

const (
	// burst bounds the messages of one pass. More of them in a row save checks
	// of the queue and the backlogs (mbw_mr); fewer let operations that other
	// goroutines have queued begin sooner (latency_mt).
	burst = 64

	// After so many passes that find nothing, a poller checks the clock and lets
	// other goroutines run: seldom with a core of its own
	// (latency), nearly at once where the sender of its message may need the
	// core (latency with more ranks than cores). Powers of two.
	checkDedicated = 64
	checkShared    = 1

	// A wait spins for so many passes before it has a state. Most waits end
	// within them (latency). Where ranks share cores each pass gives the core
	// away; over a domain that lingers one pass polls many times.
	spinDedicated = 4 * checkDedicated
	spinShared    = 16 * checkShared
	spinLinger    = 8
	spinCrowded   = 1 // the message is a goroutine's to send, which needs the processor
	// maxSweep bounds the passes of a Waitall that spins: the arriving messages
	// may be for others, and a context may be done (mbw_mr).
	maxSweep = 4096

	// pollDedicated is how long a waiter with a core of its own polls without
	// result before it parks; pollShared the same where ranks share cores and
	// each check gives the core away. Parking and waking costs 5 to 50 µs
	// (barrier, and latency with a late sender). Polling costs the core, which
	// matters if something else would use it.
	pollDedicated = 250 * time.Microsecond
	pollShared    = 400 * time.Microsecond

	// yieldPasses bounds the passes between two yields of a poller that always
	// finds something, where a domain lingers; yieldAfter is the time they
	// should take. The runtime's monitor interrupts a goroutine after ten
	// milliseconds by a signal: TestYieldsArePacedByTime, and latency over
	// verbs.
	yieldPasses = 512
	yieldAfter  = 8 * time.Millisecond
	// lockedEvery is how much time passes between two yields of goroutines that are locked
	// to their threads: each is two switches of threads (MPI_Test in a loop, in C).
	lockedEvery = 200 * time.Microsecond
)

const (
	// tick is how long the application may stay away from the engine before the
	// progress thread stands in for it. With shorter ticks a rank that begins to
	// compute replies sooner (async), at the cost of a timer each (idle ranks in
	// top).
	tick = time.Millisecond
	// A backlog that finds no room is tried again after a part of the time for
	// which it has found none, at most mostPause: room rings no doorbell. With a
	// larger part a sender continues later; with a smaller one, or at each tick,
	// the ranks of a crowded machine that wait for their connections keep each
	// other from answering (TestTheThreadPausesForRoom).
	roomPart  = 8
	mostPause = 50 * time.Millisecond
	// tickRanks is how many ranks of one process a processor serves at that
	// pace. With more of them the threads tick less often, or their ticks alone
	// would keep the processors busy: BenchmarkBarrierOfMany in package mpi.
	tickRanks = 16
	// maxDry bounds the passes with results that the thread makes in a row
	// before others run.
	maxDry = 256
	// followUp is how long the thread polls on after the event it was woken for,
	// and maxFollow how often in a row. The next event, such as a helper's block
	// or the next message of a sender that got its reply, comes sooner than a
	// sleep takes (async with messages of 1 MB).
	followUp  = 20 * time.Microsecond
	maxFollow = 64
)

// Of the thread that sleeps in the kernel, see attend.go. async shows all of them.
const (
	// computing is the processor time a process must use without a call of the
	// engine to be taken to compute.
	computing = 3 * time.Millisecond
	// If calls alternate with computing, the looks, which come when the
	// application is interrupted, may find a call between any two of them. A
	// rank also computes if so many looks in a row find it outside, each after
	// that time and with fewer passes than communication of that length takes; or if
	// so many looks come that time later than they should, with fewer than forgetLate
	// in time between two of them.
	computingRow = 3
	fewPasses    = 512
	forgetLate   = 100
	// spareProcs is the number of processors added: one for a thread that
	// returns, one that is free while the runtime's own work has the other.
	spareProcs = 2
	// scheduleEvery is how often the attended thread passes through the
	// runtime's scheduler. A thread that goes from system call to system call
	// for ten milliseconds is taken to hold its processor. The runtime's monitor
	// takes that away and then checks every 20 µs, also at the application's
	// cost.
	scheduleEvery = 4 * time.Millisecond
	// threadSlice and threadNice are the time slice and the priority that the
	// thread asks the kernel for: see procs.WakePromptly.
	threadSlice = 100 * time.Microsecond
	threadNice  = -10
)

// roomPause is how long the thread sleeps at most, while a backlog has found no
// room for so long. It is longer than a tick, so that Rouse ends it.
func roomPause(stuck, tick time.Duration) time.Duration {
	return max(min(stuck/roomPart, mostPause), tick+1)
}

// choices are how a loop waits, by what its rank shares with others.
type choices struct {
	linger         *bool // of the domain, if it lingers and is the only one
	checkEvery     int   // empty passes between two checks of a poller, see poll.go
	spins          int   // passes of a wait that spins, see Await
	oneProc        bool  // one processor runs all goroutines
	oversubscribed bool  // more ranks than cores
	crowded        bool  // this process has more ranks than processors
	threaded       bool
	tick           time.Duration // of the thread
}

// tune makes the choices.
func (l *Loop) tune(cfg Config) {
	procs := runtime.GOMAXPROCS(0)
	l.oversubscribed, l.threaded = cfg.Oversubscribed, !cfg.NoThread
	l.oneProc = procs == 1
	l.crowded = cfg.Ranks > procs
	l.tick = tick * time.Duration(1+max(cfg.Ranks-1, 0)/(tickRanks*procs))
	l.checkEvery, l.spins, l.budget.whole = checkDedicated, spinDedicated, pollDedicated
	if cfg.Oversubscribed {
		l.checkEvery, l.spins, l.budget.whole = checkShared, spinShared, pollShared
	}
	if l.crowded {
		l.spins = spinCrowded
	}
	l.yieldEvery = math.MaxUint64
	for _, d := range l.doms {
		if linger := d.Linger(); linger != nil {
			l.yieldEvery = yieldPasses
			if len(l.doms) == 1 {
				l.linger, l.spins = linger, spinLinger
			}
		}
	}
}
