package fabric

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/weft-mpi/weft/internal/limits"
)

// An error says its remedy once, however often it is named and wrapped: a limit's instead of
// its own.
func TestARemedyIsSaidOnce(t *testing.T) {
	const own = "use another"
	for err, want := range map[error]string{
		syscall.EFBIG: "(ulimit -f)", syscall.EMFILE: "(ulimit -n)", syscall.EINVAL: own,
		os.NewSyscallError("accept4", syscall.ENOSYS): "allow accept4",
		limits.Named(syscall.ENFILE):                  "(sysctl fs.file-max)",
	} {
		inner := &Error{Op: "grow", Err: err, Remedy: own}
		outer := &Error{Op: "open", Err: fmt.Errorf("%w: %w", ErrUnsupported, inner)}
		for _, err := range []error{inner, limits.Named(inner), limits.Named(fmt.Errorf("open: %w", errors.Join(inner, nil))), outer, limits.Named(outer)} {
			if strings.Count(err.Error(), want) != 1 {
				t.Errorf("%v: want %q once", err, want)
			}
		}
	}
}
