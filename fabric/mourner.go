package fabric

// Mourner is implemented by a Domain that may try for a while to connect with a peer
// that is gone. Lost, for the owner, is news from outside, of the launcher say, that
// the peer's process has ended; err wraps ErrPeerDown. A peer that is not connected,
// and is not about to be, goes down with err at a later Poll, and is not dialled any
// more. A connection that stands ends by itself, behind what the peer had sent, or when
// it has been silent for a second. Local.
type Mourner interface {
	Lost(p Peer, err error)
}
