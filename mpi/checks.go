package mpi

import (
	"errors"
	"os"

	"github.com/weft-mpi/weft/boot"
)

// WithChecks has ranks compare every collective call before it begins (MPI-4.0 §6.1
// asks that they make the same calls): a call that does not match those of the other
// ranks fails at all of them with a MismatchError, before it has moved any data. It
// adds an exchange of some bytes among all ranks to each call. Without it only calls
// that wait for about a second are compared. All ranks give it, or none. WEFT_CHECK=coll
// is the same from outside.
func WithChecks() Option { return func(o *options) { o.checks = true } }

// checkVar turns checks on.
const checkVar = "WEFT_CHECK"

// lookUpChecks turns the checks on that the environment asks for.
func (o *options) lookUpChecks() error {
	switch v := os.Getenv(checkVar); v {
	case "", "0":
	case "coll":
		o.checks = true
	default:
		return &boot.EnvError{Var: checkVar, Value: v, Err: errors.New("unknown value"), Remedy: `set it to "coll", which compares collective calls, or not at all`}
	}
	return nil
}
