package tcp

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/weft-mpi/weft/fabric/internal/greet"
)

// welcomed is a connection whose dialer decides whether it stays: until it says that
// it is ready, or hangs up, no other is made. One that is stopped, or whose host is
// gone, does neither, and no heartbeat looks after it yet. So it has the time of a
// dial. Time in which this process was stopped does not count: the dialer may have
// said it meanwhile, and use the connection.
type welcomed struct {
	*greet.Guest
	ctx  context.Context
	each time.Duration // a beat; 0: a read has the time that the greeting has
}

func (w *welcomed) Read(b []byte) (n int, err error) {
	if w.each == 0 {
		return w.Guest.Read(b)
	}
	for range beats {
		stop := greet.Bound(w.ctx, w.Guest, w.each)
		n, err = w.Guest.Read(b)
		if stop(); !errors.Is(err, os.ErrDeadlineExceeded) || w.ctx.Err() != nil {
			break
		}
	}
	return n, err
}

// Write has no limit: what is written here fits into the socket.
func (w *welcomed) Write(b []byte) (int, error) {
	greet.Unbound(w.ctx, w.Guest)
	return w.Guest.Write(b)
}
