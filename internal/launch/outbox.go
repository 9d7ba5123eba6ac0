package launch

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// outbox is a rank's side of the stream to its launcher. The next write begins
// with the bytes that an interrupted one has left, so that an Abort can follow
// an Exchange that was interrupted in the middle of a frame. It is safe for
// concurrent use.
type outbox struct {
	conn net.Conn
	mu   sync.Mutex
	rest []byte // left by an interrupted write, to be written first
	over bool   // see close
}

// close has later writes fail with net.ErrClosed, and leaves the connection open.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.over = true
}

// send writes b. It blocks until the launcher reads or the connection's
// deadline has passed. b is the caller's again on return.
func (o *outbox) send(b []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rest = append(o.rest, b...)
	return o.flush()
}

// urgent is send for bye and abort: it interrupts a send that blocks, and
// blocks for leaveTimeout at most, whatever deadlines other calls set
// meanwhile.
func (o *outbox) urgent(b []byte) error {
	o.conn.SetWriteDeadline(time.Unix(1, 0))
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rest = append(o.rest, b...)
	until := time.Now().Add(leaveTimeout)
	for {
		o.conn.SetWriteDeadline(until)
		if err := o.flush(); !errors.Is(err, os.ErrDeadlineExceeded) || time.Now().After(until) {
			return err
		}
	}
}

// flush writes what is left. Precondition: o is locked.
func (o *outbox) flush() error {
	if o.over {
		return net.ErrClosed
	}
	n, err := o.conn.Write(o.rest)
	if o.rest = o.rest[n:]; len(o.rest) == 0 {
		o.rest = nil // an Exchange may have left a large buffer
	}
	return err
}
