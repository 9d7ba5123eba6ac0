package metrics

import (
	"cmp"
	"context"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/weft-mpi/weft/internal/limits"
	"github.com/weft-mpi/weft/internal/strangers"
	"github.com/weft-mpi/weft/progress/counters"
)

// Serve serves the counters of one rank at http://ADDRESS/metrics, until ctx ends, and
// returns the address. addr is HOST:PORT; without a host it is the loopback
// interface's, and port 0 is any that is free. from is called at each scrape, by
// another goroutine. There is no authentication: who reaches the address reads the
// counters. A bounded number of connections may be open; one more closes the oldest.
func Serve(ctx context.Context, addr string, from func() counters.Snapshot) (net.Addr, error) {
	return serve(ctx, addr, Collector(from, nil))
}

// ServeRanks is Serve for several ranks, see RanksCollector.
func ServeRanks(ctx context.Context, addr string, from func() map[int]counters.Snapshot) (net.Addr, error) {
	return serve(ctx, addr, RanksCollector(from, nil))
}

// Times of the server: a client that is slower is cut off.
const (
	headerTime = 5 * time.Second
	wholeTime  = 30 * time.Second
	lastWords  = time.Second // to end the scrapes under way
)

func serve(ctx context.Context, addr string, c prometheus.Collector) (net.Addr, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("serve metrics at %q: %w: give HOST:PORT, or :PORT for the loopback interface", addr, err)
	}
	host = cmp.Or(host, "127.0.0.1")
	lc := net.ListenConfig{}
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("serve metrics: %w", limits.Named(err))
	}
	serveAt(ctx, l, c)
	return l.Addr(), nil
}

// serveAt serves until ctx ends, and returns at once.
func serveAt(ctx context.Context, l net.Listener, c prometheus.Collector) {
	reg := prometheus.NewRegistry()
	reg.MustRegister(c)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{MaxRequestsInFlight: 8}))
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: headerTime, ReadTimeout: wholeTime, WriteTimeout: wholeTime, IdleTimeout: wholeTime,
		ErrorLog: log.New(serverLog{strangers.NewLog(slog.Default())}, "", 0)}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		srv.Serve(&crowd{Listener: l, most: strangers.Connections(16, 64)}) // until Shutdown; a listener that fails ends it, too
	}()
	go func() {
		select {
		case <-ctx.Done():
		case <-ended:
		}
		wait, stop := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
		defer stop()
		if srv.Shutdown(wait) != nil {
			srv.Close()
		}
	}()
}
