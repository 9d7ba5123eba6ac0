package launch

import (
	"errors"
	"fmt"
	"net"
)

// resting is a bootstrap whose launcher can be told that the rank may leave, and
// that it may not yet.
type resting interface{ rest(on bool) error }

// Rest tells the launcher that this rank may exit with code 0 from now on, as if it
// had closed the Job, which stays open: its events go on, and Resume takes it back.
// A PMI-1 process manager lets a rank leave once, and Rest is Close there. Rest
// blocks for a few seconds at most. It is not called during an Exchange.
func (j *Job) Rest() error {
	b, can := j.boot.(resting)
	if !can {
		return j.Close()
	}
	return j.tell(b, true)
}

// Resume ends Rest: the launcher takes the rank's exit for a failure again, until
// the next Rest or Close. After a Close it does nothing.
func (j *Job) Resume() error {
	b, can := j.boot.(resting)
	if !can {
		return nil
	}
	return j.tell(b, false)
}

func (j *Job) tell(b resting, rests bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.closed {
		return nil
	}
	if err := b.rest(rests); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("launch: tell the launcher whether the rank may leave: %w", err)
	}
	return nil
}

func appendRest(b []byte, on bool) []byte {
	if on {
		return append(b, 1)
	}
	return append(b, 0)
}

func parseRest(p []byte) (on bool, err error) {
	if len(p) != 1 || p[0] > 1 {
		return false, protocolError("rest with %q, want 0 or 1", p)
	}
	return p[0] == 1, nil
}
