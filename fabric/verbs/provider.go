package verbs

import (
	"fmt"
	"os"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/pin"
)

// Arena is memory of the process that is registered once, each allocation when
// it is first used and until it is freed: that of mpi.Alloc. Its methods are
// called from any goroutine.
type Arena interface {
	// Allocation finds the allocation that addr lies in. No two have the same
	// serial.
	Allocation(addr uintptr) (start, size uintptr, serial uint64, ok bool)
	// OnFree has f called before an allocation is given back, until cancel is.
	OnFree(f func(start uintptr)) (cancel func())
}

// Provider opens the transport over verbs.
type Provider struct {
	Arena Arena // may be nil
}

// Name is "verbs".
func (Provider) Name() string { return "verbs" }

// Options are the names of the settings, see docs/infiniband.md.
func (Provider) Options() []string {
	return []string{envDevice, envGID, envCache, envRails, envRendezvous, envLevel, envClass}
}

// Available says why no RDMA device can be used, or not the one that the
// environment names, each one's reason and remedy, or nil.
func (Provider) Available() error {
	if _, err := find(os.Getenv); err != nil {
		return err
	}
	return pin.Lockable(queueMemory(2))
}

// Open makes the rank reachable over the ports that the options name, or the
// first usable one. It fails where the memory of the queues can't be
// pinned.
func (p Provider) Open(cfg fabric.Config) (fabric.Domain, error) {
	d, err := openDevice(cfg)
	if err != nil {
		return nil, fmt.Errorf("open verbs: %w", err)
	}
	if p.Arena != nil {
		d.regions.UseArena(p.Arena, d.caps.Atomics)
	}
	return d, nil
}
