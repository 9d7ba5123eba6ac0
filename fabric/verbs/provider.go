package verbs

import (
	"fmt"

	"github.com/weft-mpi/weft/fabric"
)

// Provider opens the transport over verbs.
type Provider struct {
	Arena Arena // may be nil
}

// Name is "verbs".
func (Provider) Name() string { return "verbs" }

// Options is empty: the package reads its variables from the environment.
func (Provider) Options() []string { return nil }

// Available says why no RDMA device can be used, each one's reason and remedy,
// or nil.
func (Provider) Available() error {
	if _, err := find(); err != nil {
		return err
	}
	return lockable(queueMemory(2))
}

// Open makes the rank reachable over the port that the environment names, or
// the first usable one. It fails where the memory of the queues can't be
// pinned.
func (p Provider) Open(cfg fabric.Config) (fabric.Domain, error) {
	d, err := openDevice(cfg)
	if err != nil {
		return nil, fmt.Errorf("open verbs: %w", err)
	}
	if p.Arena != nil {
		d.regions.useArena(p.Arena, d.caps.Atomics)
	}
	return d, nil
}
