package shm

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// Sleep blocks the calling thread on the doorbell.
func (d *Domain) Sleep(timeout time.Duration) error {
	if d.closed.Load() {
		return fabric.ErrClosed
	}
	var at *unix.Timespec
	if timeout > 0 {
		ts := unix.NsecToTimespec(int64(timeout))
		at = &ts
	}
	fds := []unix.PollFd{{Fd: int32(d.bellFD), Events: unix.POLLIN}}
	n, err := unix.Ppoll(fds, at, nil)
	if d.closed.Load() {
		return fabric.ErrClosed
	}
	switch {
	case err == unix.EINTR:
		return nil
	case err != nil:
		return err
	case n > 0:
		drainBell(uintptr(d.bellFD))
	}
	return nil
}
