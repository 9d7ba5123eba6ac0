package mpi

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-mpi/weft/internal/launch"
)

// Abort ends all ranks of the job with the exit code code, 0 to 255, whatever
// they are doing (MPI_Abort, MPI-4.0 §11.4.2). Any other code counts as 255. Under
// weft run, and under a launcher that speaks PMI-1, the launcher ends the
// processes and exits with the code. Where the ranks have met at WEFT_ROOT, the others
// are sent SIGTERM and this process exits. In a process without a launcher, or after
// Finalize, this process exits. Abort does not return.
//
// Ranks of Run that are goroutines can't be ended from outside. Their calls fail
// with ErrProcAborted from then on, those under way too, and Run returns an
// AbortError once all of them have returned. The calling goroutine ends, its
// deferred functions run. Local.
func (w *World) Abort(code int) {
	rank := 0
	if w != nil && w.comm != nil {
		rank = w.comm.rank
	}
	w.abort(code, fmt.Sprintf("rank %d called Abort(%d)", rank, code), false)
}

// abort is Abort with the reason. With aside the calling goroutine goes on where
// the process does.
func (w *World) abort(code int, why string, aside bool) {
	if code < 0 || code > 255 {
		code = 255
	}
	switch {
	case w == nil || w.instance == nil:
	case w.crew != nil:
		w.crew.end(&AbortError{Rank: w.comm.rank, Code: code, Why: why})
		if !aside {
			runtime.Goexit()
		}
		return
	case w.job != nil:
		if w.job.Launcher != launch.LauncherWeft { // which says why
			fmt.Fprintf(os.Stderr, "weft: rank %d ends the job with the exit code %d: %s\n", w.comm.rank, code, why)
		}
		if err := w.job.Abort(code, why); err == nil && w.job.Launcher != launch.LauncherNone && w.job.Launcher != launch.LauncherRoot {
			time.Sleep(abortTime) // for the launcher's signal, so that its code counts
		}
	}
	os.Exit(code)
}

// abortTime is how long a rank that aborts waits for the launcher to end it.
const abortTime = 5 * time.Second

// crews counts the jobs of this process whose ranks are goroutines.
var crews atomic.Int64 // added to by ranksOf and crew.run, loaded by NewSession

// crew is the ranks of a Run that are goroutines.
type crew struct {
	id    string // as those of a job
	key   launch.Key
	ranks []*instance
	abort atomic.Pointer[AbortError] // the first: stored by end, loaded by the errors of all ranks
	ended chan struct{}              // closed when an abort has ended all ranks
}

// outcome waits for the end of an abort, if there was one, and returns the errors
// of the call.
func (g *crew) outcome(call string, errs []error) []error {
	abort := g.abort.Load()
	if abort == nil {
		return errs
	}
	<-g.ended
	for i, err := range errs {
		if errors.Is(err, errGoexit) || isAborted(err) {
			errs[i] = nil
		}
	}
	return append(errs, fail(call, abort))
}

// end ends all ranks, unless an earlier Abort does. It does not wait:
// the caller may be a callback, for which the end of its rank waits.
func (g *crew) end(e *AbortError) {
	if !g.abort.CompareAndSwap(nil, e) {
		return
	}
	// All are marked before any operation fails, so that no rank makes another.
	var open []*instance
	for _, in := range g.ranks {
		if in.endAll() {
			open = append(open, in)
		}
	}
	go func() {
		defer close(g.ended)
		var closing sync.WaitGroup
		for _, in := range open {
			closing.Go(func() { in.release(false) })
		}
		closing.Wait()
	}()
}
