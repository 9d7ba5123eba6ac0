package launch

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/weft-mpi/weft/mpi/cause"
)

// report is the exit of a rank, or another event of the job.
type report struct {
	rank  int    // theJob for an event that no rank has caused
	order uint64 // among the job's events
	err   error  // nil if the rank exited in order or was told to exit
	ended bool   // the rank's process has exited
	// after is 1 + the rank that this one has called dead or failed before its own end, 0
	// if none: processes end in any order, and are waited for in any order, once the
	// sockets of one of them have closed.
	after int
}

const theJob = -1

// failures holds one report with an error for each rank: its abort, else the
// first.
type failures map[int]report

// add records a report. Reports may arrive out of order: the failure of a rank
// can overtake the failure that caused it.
func (f failures) add(r report) {
	old, again := f[r.rank]
	if !again {
		f[r.rank] = r
		return
	}
	// The abort says more than the exit that follows it, and the launcher may
	// read it later than it sees the exit.
	order, after := min(r.order, old.order), cmp.Or(r.after, old.after)
	_, aborts := errors.AsType[*cause.AbortError](r.err)
	_, aborted := errors.AsType[*cause.AbortError](old.err)
	if aborts && !aborted || aborts == aborted && r.order < old.order {
		old = r
	}
	old.order, old.after = order, after
	f[r.rank] = old
}

// join returns the errors, or nil: that of a rank which has called another one failed
// behind that one's, otherwise in their order.
func (f failures) join() error {
	var errs []error
	placed := map[int]bool{}
	var place func(report)
	place = func(r report) {
		if placed[r.rank] {
			return
		}
		placed[r.rank] = true
		if q, ok := f[r.after-1]; ok && r.after > 0 && !f.follows(q, r.rank) {
			place(q)
		}
		errs = append(errs, r.err)
	}
	for _, r := range slices.SortedFunc(maps.Values(f), func(a, b report) int { return cmp.Compare(a.order, b.order) }) {
		place(r)
	}
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
}

// follows reports whether a failure follows from that of a rank, by way of others or not:
// ranks that a network separates call each other dead.
func (f failures) follows(r report, rank int) bool {
	for range f {
		next, ok := f[r.after-1]
		if r.after == 0 || !ok {
			return false
		}
		if next.rank == rank {
			return true
		}
		r = next
	}
	return false
}
