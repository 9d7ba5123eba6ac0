package boot

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// outbox is a rank's side of the stream to its launcher. What a write leaves
// unwritten the next one writes first, so that an Abort fits behind an Exchange
// that was interrupted in the middle of a frame. It is safe for concurrent use.
type outbox struct {
	conn net.Conn
	mu   sync.Mutex
	rest []byte // has to be written first
}

// send writes b. It blocks until the launcher reads or the connection's
// deadline has passed. b is the caller's again on return.
func (o *outbox) send(b []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.rest = append(o.rest, b...)
	return o.flush()
}

// urgent is send for last words: it interrupts a send that blocks, and blocks
// for leaveTimeout at most, whatever deadlines others set meanwhile.
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
	n, err := o.conn.Write(o.rest)
	if o.rest = o.rest[n:]; len(o.rest) == 0 {
		o.rest = nil // an Exchange is up to MaxExchange bytes
	}
	return err
}
