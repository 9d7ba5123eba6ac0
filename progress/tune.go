package progress

import (
	"math"
	"runtime"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// The knobs of waiting. Each says what it brings, and what shows it: a benchmark
// of osu-go (docs/performance.md) or a test. Figures are compared in turns, in one
// run, with ranks bound to cores.

const (
	// burst is how many messages one pass takes at most. More of them in a row
	// save looks at the queue and the backlogs (mbw_mr); fewer let what other
	// goroutines have queued begin sooner (latency_mt).
	burst = 64

	// A poller checks after so many passes in vain the clock, the contexts and the
	// other goroutines: seldom with a core to itself (latency), nearly at once
	// where the message it waits for may need the core to be sent (latency with
	// more ranks than cores). Powers of two.
	checkDedicated = 64
	checkShared    = 1
	// expiryPasses is after how many passes a poller looks at its contexts while
	// messages come: TestADeadlineEndsAWaitUnderTraffic.
	expiryPasses = 256

	// A wait spins for so many passes before anything is written down for it. Most
	// waits end within them (latency). Where ranks share cores each pass gives the
	// core away; over a domain that lingers a pass is many looks by itself.
	spinDedicated = 4 * checkDedicated
	spinShared    = 16 * checkShared
	spinLinger    = 8
	spinCrowded   = 1 // the message is a goroutine's to send, which needs the processor
	// maxSweep bounds the passes of a Waitall that spins: what comes may be for
	// others, and the contexts want a look (mbw_mr).
	maxSweep = 4096

	// pollDedicated is how long a waiter with a core to itself polls in vain before
	// it parks, pollShared the same where ranks share cores and it gives the core
	// away at every check. To park and be woken costs 5 to 50 µs (barrier, and
	// latency with a sender that is late); to poll costs the core, which matters
	// where something else would use it.
	pollDedicated = 250 * time.Microsecond
	pollShared    = 400 * time.Microsecond

	// yieldPasses is after how many passes, at most, a poller yields that is never
	// in vain for long, where a domain lingers; yieldAfter is how long that is to
	// take. The runtime's monitor interrupts a goroutine after ten milliseconds by
	// a signal: TestYieldsArePacedByTime, and latency over verbs.
	yieldPasses = 512
	yieldAfter  = 8 * time.Millisecond

	// Where one processor runs all goroutines a second waiter stays runnable for
	// so many rounds: to let it look when the poller yields costs less than to park
	// and ready it, and it polls on when the poller leaves (latency_mt with ranks
	// bound to one core). More waiters than one cost more than they save.
	bideRounds = 64
)

const (
	// tick is how long the application may stay away from the engine before the
	// progress thread stands in for it. Shorter ticks answer sooner a rank that
	// begins to compute (async), and cost a timer each (idle ranks in top).
	tick = time.Millisecond
	// tickRanks is how many ranks of one process a processor serves at that pace.
	// With more of them the threads look in less often, or their ticks alone would
	// keep the processors busy: BenchmarkBarrierOfMany in package mpi.
	tickRanks = 16
	// maxDry is how many passes that bring something the thread makes in a row
	// before others run.
	maxDry = 256
	// followUp is how long the thread polls on behind what it was woken for, and
	// maxFollow how often in a row: the next of it, such as the block of a helper
	// or the next message of a sender that has been answered, comes sooner than a
	// sleep takes (async with messages of 1 MB).
	followUp  = 20 * time.Microsecond
	maxFollow = 64
)

// Of the thread that sleeps in the kernel, see attend.go. async shows all of them.
const (
	// computing is the processor time that a process uses while nobody calls the
	// engine, from which on it is taken to compute.
	computing = 3 * time.Millisecond
	// Where calls take turns with computing, the looks, which come when the
	// application is interrupted, may never see it stay away from one to the next.
	// It computes, too, if so many looks in a row find it outside, each after that
	// time and fewer passes than it takes to communicate for so long.
	computingRow = 3
	fewPasses    = 512
	// spareProcs is how many processors are added: one for a thread that comes
	// back, one that is free when the runtime's own work has the other.
	spareProcs = 2
	// scheduleEvery is how often the attended thread goes through the runtime's
	// scheduler. One that goes from system call to system call for ten milliseconds
	// is taken to hold its processor for so long, and the runtime's monitor, which
	// takes that away from it, looks again every 20 µs, also at the application's
	// cost.
	scheduleEvery = 4 * time.Millisecond
	// threadSlice and threadNice are the time slice and the priority that the
	// thread asks the kernel for: see wakePromptly.
	threadSlice = 100 * time.Microsecond
	threadNice  = -10
)

// tune sets what a loop chooses from these by what its rank shares with others.
func (l *Loop) tune(cfg Config) {
	procs := runtime.GOMAXPROCS(0)
	l.oneProc = procs == 1
	l.crowded = cfg.Ranks > procs
	l.budget.init(cfg.Oversubscribed)
	l.tick = tick * time.Duration(1+max(cfg.Ranks-1, 0)/(tickRanks*procs))
	l.checkEvery, l.spins = checkDedicated, spinDedicated
	if cfg.Oversubscribed {
		l.checkEvery, l.spins = checkShared, spinShared
	}
	if l.crowded {
		l.spins = spinCrowded
	}
	l.yieldEvery = math.MaxUint64
	for _, d := range append([]fabric.Domain{l.dom}, l.more...) {
		if d.Linger() != nil {
			l.yieldEvery = yieldPasses
		}
	}
	if len(l.more) == 0 {
		if l.linger = l.dom.Linger(); l.linger != nil {
			l.spins = spinLinger
		}
	}
}
