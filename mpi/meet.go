package mpi

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"

	"github.com/weft-mpi/weft/boot"
	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/shm"
	"github.com/weft-mpi/weft/wire"
)

// WireVersion is the version of the packets that ranks exchange. Init fails where
// ranks of a job have different ones.
const WireVersion = wire.Version

// card is what every rank tells every other when they meet.
type card struct {
	Wire   int      `json:"wire"`
	Arch   string   `json:"arch"`
	Fabric string   `json:"fabric"`
	Node   string   `json:"node,omitempty"`
	Addrs  [][]byte `json:"addrs"` // one for each transport

	// GetMin is, of the first rank of a host, from how many bytes on messages of
	// the host are read from their sender's memory.
	GetMin int `json:"getmin,omitempty"`
}

// routes are how the ranks are reached.
type routes struct {
	addrs [][]byte
	via   []int // which of the transports
}

// meet exchanges addresses over the bootstrap and makes sure that all ranks
// speak the same protocol. WEFT_NODE divides the ranks of one machine as if they
// were on several.
func meet(ctx context.Context, job *boot.Job, name string, ts []transport, doms []fabric.Domain, log *slog.Logger) (to routes, err error) {
	mine := card{Wire: wire.Version, Arch: runtime.GOARCH, Fabric: name, Node: os.Getenv("WEFT_NODE")}
	for _, d := range doms {
		mine.Addrs = append(mine.Addrs, d.Addr())
	}
	near, shared := doms[0].(*shm.Domain)
	if first := job.LocalRanks[0]; shared && first == job.Rank && len(job.LocalRanks) > 1 {
		if mine.GetMin, err = shm.GetMin(os.Getenv); err == nil && mine.GetMin == 0 {
			if mine.GetMin, err = weigh(); err != nil {
				log.Debug(unweighed, "err", err)
				err = nil
			}
		}
		if err != nil {
			return to, err
		}
	}
	b, err := json.Marshal(mine)
	if err != nil {
		return to, err
	}
	all, err := job.Exchange(ctx, b)
	if err != nil {
		return to, err
	}
	to.addrs = make([][]byte, len(all))
	to.via = make([]int, len(all))
	for i, b := range all {
		var c card
		if err := json.Unmarshal(b, &c); err != nil {
			return to, fmt.Errorf("rank %d: what it says of itself can't be read: %w", i, err)
		}
		if err := mine.fits(i, c); err != nil {
			return to, err
		}
		if shared && i == job.LocalRanks[0] && c.GetMin > 0 {
			near.SetGetMin(c.GetMin)
		}
		k := slices.IndexFunc(ts, func(t transport) bool { return t.reaches(job, i, mine.Node, c.Node) })
		if k < 0 {
			return to, fmt.Errorf("rank %d is on node %q and this rank on %q, which %s does not join: choose another fabric", i, c.Node, mine.Node, name)
		}
		to.via[i], to.addrs[i] = k, c.Addrs[k]
	}
	return to, nil
}

// fits reports what rank i has otherwise than this rank, if it matters.
func (mine card) fits(i int, c card) error {
	switch {
	case c.Wire != mine.Wire:
		return fmt.Errorf("rank %d speaks wire version %d and this rank %d: run the same build of Weft on all ranks", i, c.Wire, mine.Wire)
	case c.Arch != mine.Arch:
		return fmt.Errorf("rank %d runs on %s and this rank on %s: all ranks need one architecture", i, c.Arch, mine.Arch)
	case c.Fabric != mine.Fabric:
		return fmt.Errorf("rank %d uses fabric %s and this rank %s: choose the same on all ranks", i, c.Fabric, mine.Fabric)
	case len(c.Addrs) != len(mine.Addrs):
		return fmt.Errorf("rank %d tells %d addresses, this rank has %d: run the same build of Weft on all ranks", i, len(c.Addrs), len(mine.Addrs))
	}
	return nil
}
