package mpi

import (
	"strconv"
	"strings"
)

// winHints are the keys that a window takes (MPI-4.0 §12.2), with what their values are
// and whether one of them is.
var winHints = map[string]struct {
	words string
	takes func(value string) bool
}{
	"no_locks":                   {"true or false", isBool},
	"same_size":                  {"true or false", isBool},
	"same_disp_unit":             {"true or false", isBool},
	"alloc_shared_noncontig":     {"true or false", isBool},
	"accumulate_ops":             {"same_op or same_op_no_op", func(v string) bool { return v == "same_op" || v == "same_op_no_op" }},
	"accumulate_ordering":        {"none, or some of rar, war, raw and waw with commas between them", isOrdering},
	"mpi_accumulate_granularity": {"a number of bytes", func(v string) bool { n, err := strconv.Atoi(v); return err == nil && n >= 0 }},
}

func isBool(v string) bool { return v == "true" || v == "false" }

func isOrdering(v string) bool {
	for one := range strings.SplitSeq(v, ",") {
		switch one {
		case "rar", "war", "raw", "waw":
		default:
			return v == "none"
		}
	}
	return true
}

// SetInfo gives the window hints (MPI_Win_set_info, MPI-4.0 §12.2.7), the same on all
// ranks. Keys that windows do not know are ignored; a value that a key does not take is
// ErrInfoValue, and then no hint is changed. Local.
//
// With no_locks set to true, which promises that no rank is locked, Lock and LockAll fail
// with ErrRMASync. alloc_shared_noncontig is for the call that makes the window (see
// WinOptions) and ignored here. accumulate_ordering, accumulate_ops,
// mpi_accumulate_granularity, same_size and same_disp_unit are promises that the library
// does not use: accumulates are ordered and may mix operators whatever they say. It
// stores them, and in a window with separate memory (WinOptions.Model) checks that
// accumulate_ops is kept.
func (w *Win) SetInfo(info *Info) error {
	const call = "Win.SetInfo"
	if w.gone() {
		return w.explain(call)
	}
	known, err := winHintsOf(call, info)
	if err != nil {
		return w.raise(err)
	}
	if _, given := known.Get(noncontiguous); given {
		known.Delete(noncontiguous) // which is there
	}
	w.hint(known)
	return nil
}

const noncontiguous = "alloc_shared_noncontig"

// hint takes hints that are checked.
func (w *Win) hint(known *Info) {
	if ops, given := known.Get("accumulate_ops"); given {
		w.core.Restrict(ops)
	}
	w.c.st.mu.Lock()
	defer w.c.st.mu.Unlock()
	for key, value := range known.All() {
		w.c.st.hints.Set(key, value)
		if key == "no_locks" {
			w.noLocks.Store(value == "true")
		}
	}
}

// Info returns the hints of the window that it knows (MPI_Win_get_info, MPI-4.0
// §12.2.7). The caller owns the result. It has no errors but the general ones. Local.
func (w *Win) Info() (*Info, error) {
	if w.gone() {
		return nil, w.explain("Win.Info")
	}
	w.c.st.mu.Lock()
	defer w.c.st.mu.Unlock()
	return w.c.st.hints.Dup(), nil
}

// winHintsOf takes from an Info what a window knows.
func winHintsOf(call string, info *Info) (*Info, error) {
	known := &Info{}
	for key, value := range info.All() {
		switch hint, is := winHints[key]; {
		case !is:
		case !hint.takes(value):
			return nil, badArg(call, ErrInfoValue, "%s is %q: it is %s", key, value, hint.words)
		default:
			known.Set(key, value)
		}
	}
	return known, nil
}

// mayLock raises the error of a lock in a window without locks.
func (w *Win) mayLock(call string) error {
	if w.noLocks.Load() {
		return w.raise(badArg(call, ErrRMASync, "the hint no_locks promises that nobody calls Lock or LockAll: leave it out, or take it back with SetInfo at all ranks"))
	}
	return nil
}
