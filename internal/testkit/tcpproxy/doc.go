// Package tcpproxy has a relay for TCP connections that tests put between two ranks.
// It passes bytes on until a byte that the test names, or until the test says so,
// and then delays them, swallows them, resets the connection or ends one direction.
// It changes no byte and no order. What a connection has said can be said once more,
// on another connection.
//
// It imports the standard library. A Relay and its Conns are safe for concurrent
// use.
package tcpproxy
