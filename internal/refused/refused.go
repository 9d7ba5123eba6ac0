// Package refused puts into words that the kernel refuses a system call to this process: by
// a seccomp profile, as of a container, or since it is older than the call.
package refused

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// Error is a system call that is refused.
type Error struct {
	Call string // "accept4"
	Err  error
}

func (e *Error) Error() string {
	return fmt.Sprintf("%v; %s", e.Err, Remedy(e.Call))
}

func (e *Error) Unwrap() error { return e.Err }

// Remedy is what to do about it.
func Remedy(call string) string {
	return fmt.Sprintf("allow %s (a seccomp profile may refuse it, or the kernel is too old)", call)
}

// Is reports whether err, of a system call, says that it is refused to this process whatever
// its arguments are. EOPNOTSUPP is the same of a kind of file.
func Is(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EOPNOTSUPP)
}

// Call is err with the name of its system call, and with the remedy if that is refused.
// nil is nil.
func Call(name string, err error) error {
	return Explain(os.NewSyscallError(name, err))
}

// Explain adds the remedy to an error of the standard library or of Call that names a system
// call, if that is refused. Other errors stay as they are.
func Explain(err error) error {
	var said *Error
	if err == nil || !Is(err) || errors.As(err, &said) {
		return err
	}
	var call *os.SyscallError
	var path *fs.PathError
	switch {
	case errors.As(err, &call):
		return &Error{call.Syscall, err}
	case errors.As(err, &path):
		return &Error{path.Op, err}
	}
	return err
}
