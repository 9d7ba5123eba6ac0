// Package killpoint wraps transports so that something happens at a named point of
// a rank's traffic: a message of some kind is about to be sent, has been sent, is
// about to be delivered, a Get is under way. The kill matrix (internal/testkit/faults)
// kills a rank there.
//
// Package transports wraps its transports in a build with the tag faults, and in no
// other. Without a trap (Set) and without Ways (Choose) the wrapped transport
// does what it would do alone.
//
// It imports fabric.
package killpoint
