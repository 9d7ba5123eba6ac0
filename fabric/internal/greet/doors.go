package greet

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weft-mpi/weft/internal/strangers"
)

// StrangeLimit is how long a connection may take for its opening. A peer sends it with the
// connection's first packet.
const StrangeLimit = 2 * time.Second

// MostStrange is how many connections may be open that have sent no opening yet.
func MostStrange() int { return strangers.Connections(16, 64) }

// Doors accept connections for a rank, at several addresses. Until a connection has
// shown an opening that Vet takes, nothing is kept of it but its place among few,
// and nothing is allocated by what it says. Those that are refused are counted.
//
// A Doors is made by NewDoors.
type Doors struct {
	name string
	log  *strangers.Log
	vet  func(*Guest) (greet func() error, err error)

	strangers, known places
	refused          atomic.Uint64
}

// NewDoors returns the doors of a transport with a name. vet reads a connection's
// opening, for which it has StrangeLimit, and judges it. greet is the greeting: it
// has Limit, and its place among Most, until it calls Keep. Both are called on a
// goroutine of the connection, which is closed behind them.
func NewDoors(name string, log *slog.Logger, vet func(*Guest) (greet func() error, err error)) *Doors {
	return &Doors{name: name, log: strangers.NewLog(log), vet: vet, strangers: places{most: MostStrange()}, known: places{most: Most()}}
}

// Refused is how many connections have shown no opening that was taken, or were
// closed before in favour of others.
func (d *Doors) Refused() uint64 { return d.refused.Load() }

// Serve accepts until l is closed, and returns when all connections are. When ctx is
// done what they wait for fails.
func (d *Doors) Serve(ctx context.Context, l net.Listener) {
	var wg sync.WaitGroup
	defer wg.Wait()
	accept(ctx, l, d.name, d.log, func(conn net.Conn) {
		g := &Guest{Conn: conn, known: &d.known}
		d.strangers.take(g)
		wg.Go(func() { d.receive(ctx, g) })
	})
}

func (d *Doors) receive(ctx context.Context, g *Guest) {
	defer g.Close()
	stop := Bound(ctx, g, StrangeLimit)
	greet, err := d.vet(g)
	stop()
	if !d.strangers.leave(g) || err != nil {
		if ctx.Err() == nil {
			d.refused.Add(1)
		}
		return
	}
	d.known.take(g)
	defer d.known.leave(g)
	defer Bound(ctx, g, Limit)()
	if err := greet(); err != nil && ctx.Err() == nil {
		d.log.Tell(slog.LevelDebug, d.name+": a greeting failed", "from", g.RemoteAddr(), "err", err)
	}
}

// Keep is called once the connection is going to stay: it counts no more, its limit
// of time is over, and nobody takes its place. It returns false if another has it
// already, and the connection is closed.
func (g *Guest) Keep(ctx context.Context) bool {
	if !g.known.leave(g) {
		return false
	}
	Unbound(ctx, g)
	return true
}
