package greet

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/weft-mpi/weft/internal/limits"
	"github.com/weft-mpi/weft/internal/strangers"
)

// Limit is the time that a greeting may take. The peer's goroutines answer by
// themselves, however busy the application is.
const Limit = 20 * time.Second

// Most is how many greetings may be under way at a time: whoever has recorded an opening
// can say it again. The other descriptors are the job's.
func Most() int { return strangers.Connections(4, 1024) }

// Server accepts connections and has each greeted.
type Server struct {
	Listener net.Listener
	Limit    time.Duration // of one greeting
	Most     int           // greetings at a time: further connections are closed at once
	Name     string        // the transport's, for the log
	Log      *slog.Logger

	// Greet has a connection on a goroutine of its own, with a deadline of Limit. What
	// follows the greeting, if anything, is then: it is called when the connection
	// counts no more, behind an error too. The connection is closed after it.
	Greet func(net.Conn) (then func(), err error)
}

// Serve accepts until Listener is closed, and returns when all connections are. When
// ctx is done what they wait for fails.
func (s *Server) Serve(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	busy, log := make(chan struct{}, s.Most), strangers.NewLog(s.Log)
	accept(ctx, s.Listener, s.Name, log, func(conn net.Conn) {
		select {
		case busy <- struct{}{}:
		default:
			conn.Close()
			return
		}
		wg.Go(func() {
			defer conn.Close()
			defer Bound(ctx, conn, s.Limit)()
			then, err := s.Greet(conn)
			<-busy
			if err != nil && ctx.Err() == nil {
				log.Tell(slog.LevelDebug, s.Name+": a greeting failed", "from", conn.RemoteAddr(), "err", err)
			}
			if then != nil {
				then()
			}
		})
	})
}

// acceptPause is how long a listener rests that can't accept, because the process
// has no descriptor left, say. The kernel keeps the callers meanwhile.
const acceptPause = 50 * time.Millisecond

// accept has use called for each connection, until l is closed.
func accept(ctx context.Context, l net.Listener, name string, log *strangers.Log, use func(net.Conn)) {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			use(conn)
			continue
		}
		log.Tell(slog.LevelWarn, name+": connections can't be accepted; trying again until they can", "err", limits.Named(err))
		select {
		case <-ctx.Done():
			return
		case <-time.After(acceptPause):
		}
	}
}

// Bound gives a connection so much time from now, and none from when ctx is done,
// until stop.
func Bound(ctx context.Context, conn net.Conn, limit time.Duration) (stop func() bool) {
	conn.SetDeadline(time.Now().Add(limit))
	return context.AfterFunc(ctx, func() { conn.SetDeadline(past) })
}

// Unbound takes the limit of Bound away, as long as ctx is not done.
func Unbound(ctx context.Context, conn net.Conn) {
	conn.SetDeadline(time.Time{})
	if ctx.Err() != nil {
		conn.SetDeadline(past) // Bound may have set it before
	}
}

var past = time.Unix(1, 0)
