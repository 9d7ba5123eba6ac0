package shm

import (
	"fmt"
	"log/slog"
	"os"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// Provider opens the shared-memory transport.
type Provider struct{}

func (Provider) Name() string { return "shm" }

// Options are those of getmin.go.
func (Provider) Options() []string { return []string{GetMinVar} }

// Available opens the transport for a rank of its own, and closes it.
func (Provider) Available() error {
	d, err := open(fabric.Config{Size: 1, Job: "available", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	return d.Close()
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
		return -1, denied("create doorbell", "eventfd2", err)
	}
	return fd, nil
}

// eventfd is a variable so that tests can refuse it.
var eventfd = unix.Eventfd
