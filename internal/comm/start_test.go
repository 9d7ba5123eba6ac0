package comm

import (
	"log/slog"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// A rank that waits in a collective call asks those that it waits for which call they are
// in, also one that is about to start: it has a World to answer for before it looks.
func TestARankIsAskedWhileItStarts(t *testing.T) {
	network := mem.NewNetwork(2)
	log := slog.New(slog.DiscardHandler)
	var domains []fabric.Domain
	var addrs [][]byte
	for i := range 2 {
		d, err := network.Provider().Open(fabric.Config{Rank: fabric.Peer(i), Size: 2, Job: "test", Log: log})
		if err != nil {
			t.Fatal(err)
		}
		domains, addrs = append(domains, d), append(addrs, d.Addr())
	}
	config := func(rank int) Config {
		return Config{Rank: rank, Limits: pt2pt.DefaultLimits, Progress: progress.Config{Domain: domains[rank], Addrs: addrs, Log: log}}
	}
	asks := New(config(0))
	asks.Loop.Exclusive(func() {
		var hdr [wire.CompareSize]byte
		asks.Loop.Conn(1).Post(wire.Compare, uint64(asks.World.Library()), wire.MakeCompare(hdr[:], 1))
	})
	starts := complete(config(1))
	starts.Loop.Exclusive(starts.Loop.Look)
	if err := asks.Close(); err != nil {
		t.Error(err)
	}
	if err := starts.Loop.Close(); err != nil {
		t.Error(err)
	}
}
