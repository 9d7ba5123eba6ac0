package launch

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/weft-mpi/weft/mpi/cause"
)

// Sentinel errors; compare with errors.Is.
var (
	// ErrNoBootstrap is in the EnvError about an environment that describes
	// several ranks but no way for them to find each other.
	ErrNoBootstrap = errors.New("the environment speaks of several ranks but offers no bootstrap that works")
	// ErrProtocol is in every error about bytes that break a bootstrap protocol.
	ErrProtocol = errors.New("bootstrap protocol broken")
	// ErrClosed is returned by Exchange and Abort on a closed Job.
	ErrClosed = errors.New("launch: job is closed")
	// ErrTooLong is returned by an Exchange of more than MaxExchange bytes.
	ErrTooLong = fmt.Errorf("launch: exchange of more than %d bytes by one rank", MaxExchange)
	// ErrNotFinalized is in the ExitError of a rank that joined the job and
	// exited with code 0 without Job.Close (MPI-4.0 §11.2.2: a process calls
	// MPI_Finalize before it exits).
	ErrNotFinalized = errors.New("exited without MPI_Finalize")
)

// LimitError says that the requested number of ranks can't be started.
type LimitError struct {
	N     int
	Limit uint64
	What  string // where the limit comes from
}

func (e *LimitError) Error() string {
	if e.N < 1 {
		return fmt.Sprintf("launch: %d ranks: the least is %d (%s)", e.N, e.Limit, e.What)
	}
	return fmt.Sprintf("launch: %d ranks: the limit is %d (%s)", e.N, e.Limit, e.What)
}

// ExitError names a rank of a launched job that failed, and how.
type ExitError struct {
	Rank   int
	Code   int            // exit code; -1 if a signal killed the rank, or if it still ran
	Signal syscall.Signal // the signal that killed it, or 0
	Err    error          // what else was wrong: ErrNotFinalized, ErrProtocol, or nil
}

func (e *ExitError) Error() string { return fmt.Sprintf("launch: rank %d %s", e.Rank, e.how()) }

func (e *ExitError) how() string {
	s := "failed"
	switch {
	case e.Signal != 0:
		s = fmt.Sprintf("was killed by signal %d (%v)", int(e.Signal), e.Signal)
	case e.Code >= 0:
		s = fmt.Sprintf("exited with code %d", e.Code)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *ExitError) Unwrap() error { return e.Err }

// ExitCode returns the exit code of a launcher's program after an error of Run,
// by the rules of shells. The first of these that err contains decides:
//   - *Interrupted by signal n: 128+n, so 130 for Ctrl-C;
//   - *AbortError: its Code;
//   - *ExitError, that of the first rank that failed: its Code, 128+n if signal
//     n has killed the rank, and 1 if its Code is 0 or there is none;
//   - any other error: 1.
//
// It is 0 if err is nil.
func ExitCode(err error) int {
	if err == nil {
		return 0
	}
	if by, ok := errors.AsType[*Interrupted](err); ok {
		return 128 + int(by.Signal)
	}
	if abort, ok := errors.AsType[*cause.AbortError](err); ok {
		return abort.Code
	}
	if exit, ok := errors.AsType[*ExitError](err); ok {
		switch {
		case exit.Signal != 0:
			return 128 + int(exit.Signal)
		case exit.Code > 0:
			return exit.Code
		}
	}
	return 1
}

// Interrupted is the cause of a context cancelled by a signal; see WithSignals.
type Interrupted struct{ Signal syscall.Signal }

func (e *Interrupted) Error() string { return fmt.Sprintf("stopped by signal: %v", e.Signal) }

// Is makes an Interrupted a context.Canceled for errors.Is.
func (e *Interrupted) Is(target error) bool { return target == context.Canceled }

// ended returns the error of a context that has ended: its Err and, where it
// says more, its Cause.
func ended(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if errors.Is(cause, err) {
		return cause
	}
	return fmt.Errorf("%w: %w", err, cause)
}
