// Package limits names what a process is denied, and by which limit or call: the errors of
// the system leave open whether a process, a user or the machine has reached a limit, and
// that a call is refused whatever its arguments are.
package limits

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
)

// Remedy is what a user can do about an error that a limit on files or on ports causes, of
// this process or of this machine, or a system call that is refused; "" about any other, and
// if an error in the chain says it, which has a method SaysRemedy.
func Remedy(err error) string {
	var l syscall.Rlimit
	var at *net.TCPAddr // where the process listens
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "listen" {
		at, _ = op.Addr.(*net.TCPAddr)
	}
	const ports = "all ports that the kernel chooses from are in use: end what has them (ss -tan), or give it more (sysctl net.ipv4.ip_local_port_range)"
	switch {
	case errors.As(err, new(interface{ SaysRemedy() })):
	case errors.Is(err, syscall.EMFILE):
		if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
			return "raise the process's limit on open files (ulimit -n)"
		}
		return fmt.Sprintf("raise the process's limit on open files, which is %d (ulimit -n)", l.Cur)
	case errors.Is(err, syscall.ENFILE):
		return "raise the machine's limit on open files (sysctl fs.file-max)"
	case errors.Is(err, syscall.EFBIG):
		return "raise the process's limit on the size of a file, which holds for shared memory too (ulimit -f)"
	case errors.Is(err, syscall.EADDRINUSE) && at != nil && at.Port == 0:
		return ports
	case errors.Is(err, syscall.EADDRNOTAVAIL) && at == nil:
		return ports + "; or the address is one of IPv6, which this machine does not have: use one of IPv4"
	case Refused(err):
		if call, ok := errors.AsType[*os.SyscallError](err); ok {
			return Allow(call.Syscall)
		}
		if path, ok := errors.AsType[*fs.PathError](err); ok {
			return Allow(path.Op)
		}
	}
	return ""
}

// Refused reports whether err says that a system call is refused to this process whatever
// its arguments are. EOPNOTSUPP says the same of a kind of file.
func Refused(err error) bool {
	return errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) || errors.Is(err, syscall.EOPNOTSUPP)
}

// Allow is the remedy for a call that is refused.
func Allow(call string) string {
	return fmt.Sprintf("allow %s (a seccomp profile, a firewall or the file system may refuse it, or the kernel is too old)", call)
}

// named is an error with its remedy.
type named struct {
	error
	remedy string
}

func (n *named) Error() string { return n.error.Error() + "; " + n.remedy }
func (n *named) Unwrap() error { return n.error }
func (n *named) SaysRemedy()   {}

// Named is an error with its remedy behind it, if there is one.
func Named(err error) error {
	if remedy := Remedy(err); remedy != "" {
		return &named{err, remedy}
	}
	return err
}

// Call is an error with the name of its system call before it, and its remedy behind it. nil
// is nil.
func Call(name string, err error) error { return Named(os.NewSyscallError(name, err)) }
