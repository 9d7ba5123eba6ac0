package boot

import (
	"cmp"
	"errors"
	"maps"
	"slices"
)

// report is the exit of a rank, or another event of the job.
type report struct {
	rank  int    // theJob for an event that no rank has caused
	order uint64 // among the job's events
	err   error  // nil if the rank exited in order or was told to exit
	ended bool   // the rank's process has exited
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
	order := min(r.order, old.order)
	_, aborts := errors.AsType[*AbortError](r.err)
	_, aborted := errors.AsType[*AbortError](old.err)
	if aborts && !aborted || aborts == aborted && r.order < old.order {
		old = r
	}
	old.order = order
	f[r.rank] = old
}

// join returns the errors in their order, or nil.
func (f failures) join() error {
	all := slices.SortedFunc(maps.Values(f), func(a, b report) int { return cmp.Compare(a.order, b.order) })
	errs := make([]error, len(all))
	for i, r := range all {
		errs[i] = r.err
	}
	if len(errs) == 1 {
		return errs[0]
	}
	return errors.Join(errs...)
}
