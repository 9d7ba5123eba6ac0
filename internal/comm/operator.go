package comm

import (
	"errors"

	"github.com/weft-mpi/weft/mpi/cause"
	"github.com/weft-mpi/weft/progress"
)

// operatorError is the error of an operator that has run Aside, or nil.
func operatorError(err error) error {
	if failed, ok := errors.AsType[*progress.Panic](err); ok {
		return &cause.OperatorError{Value: failed.Value, Stack: failed.Stack}
	}
	return err
}
