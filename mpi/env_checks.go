package mpi

import (
	"errors"
	"os"
	"strings"

	"github.com/weft-mpi/weft/mpi/cause"
)

// WithChecks has ranks compare every collective call before it begins (MPI-4.0 §6.1
// asks that they make the same calls): a call that does not match those of the other
// ranks fails at all of them with a MismatchError, before it has moved any data. One of
// elements of another type does not match, as many bytes as they may have; elements of
// several types are not compared, nor those of an Alltoallv or Alltoallw in which a rank
// has none for another, nor those of calls of neighborhoods. On an intercommunicator it compares nothing, WithTypeChecks does.
// It adds an exchange of some bytes among all ranks to each call. Without it only calls
// that wait for about a second are compared. All ranks give it, or none. WEFT_CHECK=coll
// is the same from outside. Local.
func WithChecks() Option { return func(o *options) { o.checks = true } }

// WithWindowChecks gives the windows of the World separate memory, in which accesses that
// conflict are reported (MPI-4.0 §12.7): those whose WinOptions.Model is 0, which says
// more, except windows of WinAllocateShared. It makes operations slower. All ranks give
// it, or none. WEFT_CHECK=win is the same from outside, and WEFT_CHECK=coll,win asks for
// WithChecks, too. Local.
func WithWindowChecks() Option { return func(o *options) { o.separate = true } }

// WithTypeChecks has point-to-point messages begin with their signature, the sequence of
// their basic elements, which the receiver compares with that of its datatype (MPI-4.0
// §3.3.1). If they differ the receive fails with ErrType and a SignatureError, which has
// the elements of both sides and the lines of the program that sent and received them, and
// nothing is written to its memory; of a message that is longer than the receive only the
// length is told. TypeByte matches itself alone, TypePacked everything. Messages take 192
// bytes more, which counters count, and no longer go without copies. All ranks give it, or
// none.
//
// Before a collective call moves any data each rank tells each other one what MPI has it
// send there, and in a reduction its whole vector. If that is not just what a rank takes,
// also if it is longer or shorter, the call fails at all ranks with ErrType, and with a
// SignatureError at those that have seen it. That takes an exchange of 192 bytes between all
// pairs of ranks, and a barrier. Operations on a window with Bufs compare them with the
// elements at the target, before anything is sent. Partitioned messages are not compared
// so, nor are the elements of a window's memory. WEFT_CHECK=types is the same from outside,
// and takes others with a comma between. Local.
func WithTypeChecks() Option { return func(o *options) { o.signs = true } }

// checkVar turns checks on.
const checkVar = "WEFT_CHECK"

// lookUpChecks turns the checks on that the environment asks for.
func (o *options) lookUpChecks() error {
	v := os.Getenv(checkVar)
	if v == "" || v == "0" {
		return nil
	}
	for one := range strings.SplitSeq(v, ",") {
		switch one {
		case "coll":
			o.checks = true
		case "win":
			o.separate = true
		case "types":
			o.signs = true
		default:
			return &cause.EnvError{Var: checkVar, Value: v, Err: errors.New("unknown value"),
				Remedy: `set it to "coll", which compares collective calls, to "win", which checks accesses to windows, to "types", which compares the elements of messages with those of their receives, to several with commas between, or not at all`}
		}
	}
	return nil
}
