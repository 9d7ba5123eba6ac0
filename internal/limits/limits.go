// Package limits names the limit behind an error of the system, and who has it: for the
// errors themselves leave open whether a process, a user or the machine has reached it.
package limits

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// Remedy is what a user can do about an error that a limit on files or on ports causes, of
// this process or of this machine, and "" about any other.
func Remedy(err error) string {
	var l syscall.Rlimit
	var at *net.TCPAddr // where the process listens
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "listen" {
		at, _ = op.Addr.(*net.TCPAddr)
	}
	switch {
	case errors.Is(err, syscall.EMFILE):
		if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
			return "raise the process's limit on open files (ulimit -n)"
		}
		return fmt.Sprintf("raise the process's limit on open files, which is %d (ulimit -n)", l.Cur)
	case errors.Is(err, syscall.ENFILE):
		return "raise the machine's limit on open files (sysctl fs.file-max)"
	case errors.Is(err, syscall.EFBIG):
		return "raise the process's limit on the size of a file, which holds for shared memory too (ulimit -f)"
	case errors.Is(err, syscall.EADDRNOTAVAIL) && at == nil, errors.Is(err, syscall.EADDRINUSE) && at != nil && at.Port == 0:
		return "all ports that the kernel chooses from are in use: end what has them (ss -tan), or give it more (sysctl net.ipv4.ip_local_port_range)"
	}
	return ""
}

// Named is an error with its remedy behind it, if there is one.
func Named(err error) error {
	if remedy := Remedy(err); remedy != "" {
		return fmt.Errorf("%w; %s", err, remedy)
	}
	return err
}
