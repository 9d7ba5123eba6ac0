package cause

import "fmt"

// LengthError says that a rank's message in a collective call is not as long as this
// rank's arguments say.
type LengthError struct {
	Call      string // "Bcast"
	Rank      int    // in the communicator
	Remote    bool   // Rank is one of the remote group of an intercommunicator
	Got, Want uint64 // bytes
}

func (e *LengthError) Error() string {
	of := ""
	if e.Remote {
		of = " of the remote group"
	}
	return fmt.Sprintf("rank %d%s sends %d bytes where this rank expects %d: the counts of %s differ", e.Rank, of, e.Got, e.Want, e.Call)
}

// MismatchError is the error of a collective call that does not match that of another
// rank: another call, another root, another length or another operator, or with
// WithChecks elements of another type.
type MismatchError struct {
	Rank, Here   int    // in the communicator: the other rank, and the one that has found out
	Theirs, Mine string // their calls, "Bcast of 8 bytes from root 0"
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("rank %d is in %s where rank %d is in %s: all ranks of a communicator make its collective calls in the same order, with the same root, length, operator and type of elements",
		e.Rank, e.Theirs, e.Here, e.Mine)
}

// CallError is the error of collective calls after one has failed at another rank.
type CallError struct {
	Rank   int    // that has failed, in the communicator
	Remote bool   // Rank is one of the remote group of an intercommunicator
	InJob  bool   // there is no communicator yet, or Rank is none of it: it is that in the job
	World  int    // the rank in the job
	Code   int32  // its error class
	Text   string // what it says
}

func (e *CallError) Error() string {
	of := ""
	switch {
	case e.InJob:
		of = " of the job"
	case e.Remote:
		of = " of the remote group"
	}
	return fmt.Sprintf("rank %d%s has failed in a collective call on this communicator: %s", e.Rank, of, e.Text)
}

// BrokenError is the error of collective calls on a communicator on which one has
// failed.
type BrokenError struct{ Err error }

func (e *BrokenError) Error() string {
	return fmt.Sprintf("an earlier collective call has failed, so that the ranks are not in step: %v", e.Err)
}

func (e *BrokenError) Unwrap() error { return e.Err }

// OperatorError is the error of a collective call whose operator, a function of the
// program's, has not returned.
type OperatorError struct {
	Value any // of the panic, or an error that says that the goroutine has ended
	Stack []byte
}

func (e *OperatorError) Error() string {
	return fmt.Sprintf("the program's operator has panicked: %v", e.Value)
}

// Unwrap returns the panic's value if that is an error.
func (e *OperatorError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
