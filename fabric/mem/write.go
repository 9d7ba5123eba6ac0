package mem

import (
	"fmt"

	"github.com/weft-mpi/weft/fabric"
)

// Write copies src to memory of the peer, in the caller's goroutine. What
// it uses of either domain is safe for concurrent use, and
// enter keeps it from ending.
func (e *endpoint) Write(dst fabric.Remote, src []byte) error {
	if e.d.ended[e.to].Load() { // pairs with End
		return e.gone()
	}
	b, err := e.enter("write", dst, len(src), fabric.RemoteWrite)
	if err == fabric.ErrAgain {
		return e.gone()
	}
	if err != nil {
		return err
	}
	copy(b.bytes, src)
	e.leave(b)
	return nil
}

// gone returns why nothing can be written to the peer any more. It may be that
// the peer has begun to end this rank and has not said so yet.
func (e *endpoint) gone() error {
	if !e.d.guard.live(0) {
		return fabric.ErrClosed
	}
	if err := e.peer.leftWhy(e.d.rank); err != nil {
		return err
	}
	return &fabric.Error{Op: "write between goroutines", Peer: e.to, HasPeer: true,
		Err: fmt.Errorf("%w: one of the two ranks has ended the other", fabric.ErrPeerDown)}
}

// Awake reports whether the peer's doorbell is not armed.
func (e *endpoint) Awake() bool { return e.peer.bell.level.Load() == 0 }
