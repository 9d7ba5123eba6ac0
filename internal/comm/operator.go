package comm

import (
	"errors"
	"fmt"

	"github.com/weft-mpi/weft/progress"
)

// OperatorError is the error of a collective call whose operator, a function of the
// program's, has not returned.
type OperatorError struct {
	Value any // of the panic, or progress.ErrExit
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

// operatorError is the error of an operator that has run Aside, or nil.
func operatorError(err error) error {
	if failed, ok := errors.AsType[*progress.Panic](err); ok {
		return &OperatorError{failed.Value, failed.Stack}
	}
	return err
}
