package mpi

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/weft-mpi/weft/boot"
	"github.com/weft-mpi/weft/wire"
)

// card is what every rank tells every other when they meet.
type card struct {
	Wire   int    `json:"wire"`
	Arch   string `json:"arch"`
	Fabric string `json:"fabric"`
	Addr   []byte `json:"addr"`
}

// meet exchanges addresses over the bootstrap and makes sure that all ranks
// speak the same protocol.
func meet(ctx context.Context, job *boot.Job, name string, addr []byte) ([][]byte, error) {
	mine := card{Wire: wire.Version, Arch: runtime.GOARCH, Fabric: name, Addr: addr}
	b, err := json.Marshal(mine)
	if err != nil {
		return nil, err
	}
	all, err := job.Exchange(ctx, b)
	if err != nil {
		return nil, err
	}
	addrs := make([][]byte, len(all))
	for i, b := range all {
		var c card
		if err := json.Unmarshal(b, &c); err != nil {
			return nil, fmt.Errorf("rank %d: what it says of itself can't be read: %w", i, err)
		}
		switch {
		case c.Wire != mine.Wire:
			return nil, fmt.Errorf("rank %d speaks wire version %d and this rank %d: run the same build of Weft on all ranks", i, c.Wire, mine.Wire)
		case c.Arch != mine.Arch:
			return nil, fmt.Errorf("rank %d runs on %s and this rank on %s: all ranks need one architecture", i, c.Arch, mine.Arch)
		case c.Fabric != mine.Fabric:
			return nil, fmt.Errorf("rank %d uses fabric %s and this rank %s: choose the same on all ranks", i, c.Fabric, mine.Fabric)
		}
		addrs[i] = c.Addr
	}
	return addrs, nil
}
