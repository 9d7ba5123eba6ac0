package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/weft-mpi/weft/internal/scrape"
	"github.com/weft-mpi/weft/metrics"
	"github.com/weft-mpi/weft/mpi"
)

// serveProcesses serves the counters of ranks that this process starts, if addr is not
// empty.
func serveProcesses(addr string, stderr io.Writer) (*scrape.Server, error) {
	if addr != "" && os.Getenv("WEFT_PEEK") == "0" {
		return nil, usagef("--metrics asks the ranks at their sockets, which WEFT_PEEK=0 keeps them from opening: unset it, or add --fabric mem")
	}
	s, err := scrape.Start(scrape.Config{Command: "osu-go", Addr: addr, Messages: stderr})
	if err != nil {
		return nil, usageError{err}
	}
	return s, nil
}

// worlds are the ranks of this process. It is safe for concurrent use.
type worlds struct {
	mu  sync.Mutex
	all []*mpi.World
}

func (s *worlds) add(w *mpi.World) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, w)
}

// snapshots copies the counters of the ranks that have begun.
func (s *worlds) snapshots() map[int]mpi.Snapshot {
	s.mu.Lock()
	all := s.all
	s.mu.Unlock()
	out := make(map[int]mpi.Snapshot, len(all))
	for _, w := range all {
		out[w.Comm().Rank()] = w.Snapshot()
	}
	return out
}

// serve serves the counters of the ranks until stop is called, and says where.
func (s *worlds) serve(addr string, stderr io.Writer) (stop func(), err error) {
	ctx, stop := context.WithCancel(context.Background())
	at, err := metrics.ServeRanks(ctx, addr, s.snapshots)
	if err != nil {
		stop()
		return nil, usageError{err}
	}
	fmt.Fprintf(stderr, "osu-go: metrics at http://%v/metrics\n", at)
	return stop, nil
}
