package scrape

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/weft-mpi/weft/internal/peek"
	"github.com/weft-mpi/weft/metrics"
)

// Config says where the counters are shown, and by which command.
type Config struct {
	Command  string // that begins its messages: "weft"
	Addr     string // HOST:PORT or :PORT, or "" for none
	File     string // path, or "" for none
	Messages io.Writer
}

// fileTime is how often the file is written. The node exporter reads it less often.
const fileTime = 5 * time.Second

// Server shows the counters of a job, from Start to Close. Nil shows nothing.
type Server struct {
	cfg   Config
	ranks ranks

	ctx    context.Context
	cancel context.CancelFunc
	over   chan struct{} // closed by Close
	busy   sync.WaitGroup
	hears  *peek.Listener // nil before Begun
}

// Start begins to serve, and says where. It returns nil if there is nothing to show. An
// error is that of the address or of the file. Ranks have no counters before Begun.
func Start(cfg Config) (*Server, error) {
	if cfg.Addr == "" && cfg.File == "" {
		return nil, nil
	}
	s := &Server{cfg: cfg, over: make(chan struct{})}
	s.ranks.warn = s.warn
	s.ctx, s.cancel = context.WithCancel(context.Background())
	if cfg.File != "" {
		if err := metrics.WriteRanksFile(cfg.File, s.ranks.left); err != nil {
			s.cancel()
			return nil, err
		}
	}
	if cfg.Addr != "" {
		at, err := metrics.ServeRanks(s.ctx, cfg.Addr, s.ranks.snapshots)
		if err != nil {
			s.cancel()
			return nil, err
		}
		fmt.Fprintf(cfg.Messages, "%s: metrics at http://%v/metrics\n", cfg.Command, at)
	}
	return s, nil
}

func (s *Server) warn(err error) { fmt.Fprintf(s.cfg.Messages, "%s: %v\n", s.cfg.Command, err) }

// Begun names the job, of n ranks: see launch.Launch. It is called once at most.
func (s *Server) Begun(id string, key [32]byte, n int) {
	s.ranks.begin(id, key, n)
	var err error
	if s.hears, err = peek.Listen(key, id, s.ranks.leave); err != nil {
		s.warn(err)
	}
	if s.cfg.File != "" {
		s.busy.Go(s.write)
	}
}

// write writes the file again and again. It says once that it can't.
func (s *Server) write() {
	each := time.NewTicker(fileTime)
	defer each.Stop()
	for told := false; ; {
		select {
		case <-s.over:
			return
		case <-each.C:
		}
		if err := metrics.WriteRanksFile(s.cfg.File, s.ranks.snapshots); err != nil && !told {
			told = true
			s.warn(err)
		}
	}
}

// Close ends it, when all ranks have exited. The file stays, with what they have done in
// the end. For nil it does nothing.
func (s *Server) Close() error {
	if s == nil {
		return nil
	}
	close(s.over)
	s.busy.Wait()
	s.hears.Close()
	s.cancel()
	if s.cfg.File == "" {
		return nil
	}
	return metrics.WriteRanksFile(s.cfg.File, s.ranks.left)
}
