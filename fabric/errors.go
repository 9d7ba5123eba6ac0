package fabric

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/weft-mpi/weft/internal/limits"
)

// Sentinel errors of the contract; compare with errors.Is.
var (
	// ErrAgain is flow control, not failure: nothing was accepted. It is
	// returned bare.
	ErrAgain = errors.New("fabric: try again")
	// ErrUnsupported is returned for an operation that Caps does not offer or
	// that this peer does not permit.
	ErrUnsupported = errors.New("fabric: operation not supported")
	// ErrPeerDown is in every error about a peer that has died or broken the
	// protocol.
	ErrPeerDown = errors.New("fabric: peer is down")
	// ErrPeerLeft is in the errors about a peer that has closed its domain in
	// order, which is no failure of its process. It is an ErrPeerDown.
	ErrPeerLeft = fmt.Errorf("%w: it has closed the transport", ErrPeerDown)
	// ErrUnreachable is in the errors about a peer that no connection could be made to.
	// It is an ErrPeerDown, but no death: the peer may have closed its domain in order, or
	// may be connected to others.
	ErrUnreachable = fmt.Errorf("%w: there is no connection to it", ErrPeerDown)
	// ErrClosed is returned by calls on a closed domain.
	ErrClosed = errors.New("fabric: domain is closed")
	// ErrTooLong is returned for a header or body above the limits in Caps.
	ErrTooLong = errors.New("fabric: message too long for this transport")
	// ErrBadRemote is returned for a Remote outside registered memory.
	ErrBadRemote = errors.New("fabric: remote memory is not registered or out of range")
)

// Error names the operation that failed, its peer, and what the user can do.
type Error struct {
	Op      string // what was being done: "open segment"
	Peer    Peer
	HasPeer bool // Peer is meaningful
	// Remedy is what the user can do; it may be empty. Where a limit of the process or of
	// the machine is the reason, the text has what raises that instead.
	Remedy string
	Err    error
}

func (e *Error) Error() string {
	if !e.HasPeer {
		return e.Unnumbered()
	}
	return fmt.Sprintf("%s (rank %d)%s", e.Op, e.Peer, e.Unnumbered()[len(e.Op):])
}

// Unnumbered is the error without the peer's rank, for the errors of operations on
// communicators, which number ranks otherwise.
func (e *Error) Unnumbered() string {
	s := fmt.Sprintf("%s: %v", e.Op, e.Err)
	if remedy := cmp.Or(limits.Remedy(e.Err), e.Remedy); remedy != "" {
		s += "; " + remedy
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// SaysRemedy marks an error that has what package limits would say of it in its text.
func (e *Error) SaysRemedy() {}
