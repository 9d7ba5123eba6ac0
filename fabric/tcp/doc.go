// Package tcp is the transport between hosts that need no more than Ethernet: a
// connection for messages with each peer, and another for bulk data once there is
// some.
//
// The owner reads and writes the sockets by itself, without Go's poller and
// without waiting. A message that goes alone is one system call; those of a
// window are gathered. Put, Get and Atomic are frames that the peer's Poll
// serves, out of the regions that it has registered; the bytes of a Get or a Put
// are written from the user's memory and read into it. A rank sleeps in an epoll
// that has all of its sockets.
//
// Connections begin with an authenticated greeting (fabric/internal/greet), and go on
// over TLS 1.3 if the user wants that.
//
// The package imports fabric, fabric/internal/greet and golang.org/x/sys/unix. It
// runs on Linux.
package tcp
