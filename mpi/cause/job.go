package cause

import (
	"errors"
	"fmt"
)

// ErrDiscovered is the error of a second way into a launched job of a process that has
// already taken, or failed to take, its place there.
var ErrDiscovered = errors.New("launch: this process has already used up its way into the job; call Discover once")

// EnvError says which environment variable keeps this process from its job.
type EnvError struct {
	Var, Value string
	Err        error
	Remedy     string // what the user can do; may be empty
}

func (e *EnvError) Error() string {
	s := fmt.Sprintf("launch: %s=%q: %v", e.Var, e.Value, e.Err)
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

func (e *EnvError) Unwrap() error { return e.Err }

// LostError says that a rank is gone: the job can't be joined without it, even if it has
// left in order.
type LostError struct {
	Rank   int
	Reason string // "exited with code 3"
}

func (e *LostError) Error() string {
	return fmt.Sprintf("launch: rank %d is gone: %s", e.Rank, e.Reason)
}

// AbortError says that a rank has aborted the job.
type AbortError struct {
	Rank int
	Code int    // 0 to 255: the exit code of the job
	Why  string // in the rank's words; may be empty
}

func (e *AbortError) Error() string {
	s := fmt.Sprintf("launch: rank %d has aborted the job with code %d", e.Rank, e.Code)
	if e.Why != "" {
		s += fmt.Sprintf(": %q", e.Why)
	}
	return s
}
