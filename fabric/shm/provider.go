package shm

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// Provider opens the shared-memory transport.
type Provider struct{}

func (Provider) Name() string { return "shm" }

// Options are those of getmin.go.
func (Provider) Options() []string { return []string{GetMinVar} }

// Available tries what Open and its connections need: a sealed memfd, an
// eventfd, a pidfd.
func (Provider) Available() error {
	fd, mem, err := newSegment("weft-probe", shape{offShare, offShare, offShare})
	if err != nil {
		return err
	}
	unix.Munmap(mem)
	unix.Close(fd)
	fd, err = newEventFD()
	if err != nil {
		return err
	}
	unix.Close(fd)
	return tryPidfd()
}

// tryPidfd finds out before the first connection that none could be made.
func tryPidfd() error {
	fd, err := newPidfd(os.Getpid())
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// Open makes the rank reachable by the other ranks of this machine.
func (Provider) Open(cfg fabric.Config) (fabric.Domain, error) {
	d, err := open(cfg)
	if err != nil {
		return nil, fmt.Errorf("open shared memory: %w", err)
	}
	return d, nil
}

func newEventFD() (int, error) {
	fd, err := eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return -1, &fabric.Error{Op: "create doorbell", Err: err,
			Remedy: "allow eventfd2 (a seccomp profile may refuse it) and check the limit on open files"}
	}
	return fd, nil
}

// eventfd is a variable so that tests can refuse it.
var eventfd = unix.Eventfd
