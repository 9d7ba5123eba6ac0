package transports

import (
	"fmt"
	"strings"

	"github.com/weft-mpi/weft/fabric"
)

// NameError reports that Name is no fabric. Names are the valid ones.
type NameError struct {
	Var   string // the environment variable that has the name, or ""
	Name  string
	Names []string
}

func (e *NameError) Error() string {
	where := ""
	if e.Var != "" {
		where = e.Var + ": "
	}
	return fmt.Sprintf("%sunknown fabric %q: use one of %s", where, e.Name, strings.Join(e.Names, ", "))
}

// UnsupportedError says why a fabric can't connect the ranks of this job, and
// the remedy. It is a fabric.ErrUnsupported.
type UnsupportedError struct{ Err error }

func (e *UnsupportedError) Error() string   { return e.Err.Error() }
func (e *UnsupportedError) Unwrap() []error { return []error{e.Err, fabric.ErrUnsupported} }

func unsupported(format string, args ...any) error {
	return &UnsupportedError{fmt.Errorf(format, args...)}
}
