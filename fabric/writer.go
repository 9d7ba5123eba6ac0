package fabric

// Writer is an Endpoint through which any goroutine writes to memory of the peer,
// without Poll and without a completion. A transport offers it for all endpoints
// of a domain or for none. A wrapper that embeds an Endpoint does not offer it.
type Writer interface {
	Endpoint

	// Write copies src to the first len(src) bytes of dst, memory that the peer
	// has registered for RemoteWrite. When it returns nil the bytes are there: a
	// message that this endpoint sends afterwards arrives behind them. For other
	// ranks they are there after a Flush, as those of a Put are. src needs no
	// registration. It is the caller's, and does not change until Write returns.
	//
	// Write is for any goroutine, for several at once and beside the owner, once
	// an operation with the peer was accepted. It takes as long as the copy and
	// waits for nothing. It does not allocate unless it fails.
	//
	// It never returns ErrAgain. A Write that fails may have written a part of
	// src. The errors:
	//
	//   - ErrBadRemote as for Put.
	//   - ErrUnsupported: only Put and Send reach that memory, or no operation
	//     with the peer was accepted yet. The peer is not down.
	//   - ErrPeerDown: the peer is down, or has closed or ended this rank, so that
	//     PeerDown follows; or this rank has ended the peer.
	//   - ErrClosed: the own domain is closed, or closes.
	//
	// When Close of the peer has returned, or its End has returned false, or its
	// PeerDown for this rank was called, every Write to its memory is over, and
	// later ones fail. Deregister does the same only in a transport that checks
	// each key: elsewhere the two ranks agree on when the last Write is over.
	//
	// Close of the own domain makes Writes under way fail and waits until they
	// have returned.
	Write(dst Remote, src []byte) error

	// Awake reports whether the peer polls at present, as far as is known: it does
	// not wait for its doorbell, so it can take part in a transfer. For any
	// goroutine; it costs a load or two.
	Awake() bool
}
