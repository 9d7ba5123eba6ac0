package pin

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// Remedy is what to do where memory can't be pinned.
const Remedy = "raise the limit on locked memory: ulimit -l unlimited in the shell, memlock in /etc/security/limits.conf, LimitMEMLOCK=infinity in a systemd unit, --ulimit memlock=-1 for a container"

// Explain says why n bytes for what could not be registered, and what to do.
func Explain(what string, n int, err error) error {
	e := &fabric.Error{Op: fmt.Sprintf("register %d bytes for %s", n, what), Err: err}
	var l unix.Rlimit
	if errors.Is(err, unix.ENOMEM) || errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EPERM) {
		if unix.Getrlimit(unix.RLIMIT_MEMLOCK, &l) == nil && l.Cur != unix.RLIM_INFINITY {
			e.Err = fmt.Errorf("%w; RLIMIT_MEMLOCK is %d bytes", err, l.Cur)
		}
		e.Remedy = Remedy
	}
	return e
}

// Lockable says why this process may not pin n bytes, or nil.
func Lockable(n uint64) error {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &l); err != nil || l.Cur >= n {
		return nil
	}
	h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var d [2]unix.CapUserData
	if unix.Capget(&h, &d[0]) == nil && d[0].Effective&(1<<unix.CAP_IPC_LOCK) != 0 {
		return nil
	}
	return &fabric.Error{Op: "pin memory", Remedy: Remedy,
		Err: fmt.Errorf("RLIMIT_MEMLOCK is %d bytes and the queues alone need %d", l.Cur, n)}
}
