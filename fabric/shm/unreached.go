package shm

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// An address is the name of a rank's rendezvous socket, a blank, and the name of
// its network namespace: an abstract socket is reached from its own namespace
// only (unix(7), network_namespaces(7)).

// netNamespace is this process's, as the kernel names it, or "" without /proc.
var netNamespace = sync.OnceValue(func() string {
	name, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		return ""
	}
	return name
})

// socketOf splits an address.
func socketOf(addr string) (socket, namespace string) {
	socket, namespace, _ = strings.Cut(addr, " ")
	return socket, namespace
}

// unreached returns the error of a dial to a peer of the namespace theirs. If
// that is this one, there is no listener because the peer has left.
func unreached(err error, theirs string) error {
	const op = "reach the peer's socket"
	mine := netNamespace()
	if !errors.Is(err, unix.ECONNREFUSED) || theirs == mine && mine != "" {
		if errors.Is(err, unix.ECONNREFUSED) {
			err = fmt.Errorf("%w: %w", errAbsent, err)
		}
		return fmt.Errorf("%s: %w", op, err)
	}
	e := &fabric.Error{Op: op, Remedy: "the ranks of a machine need one network namespace: start them in one container, or with the network of the host, or choose the fabric verbs"}
	if theirs == "" || mine == "" {
		e.Err = fmt.Errorf("%w: the rank has ended, or is in another network namespace", err)
	} else {
		e.Err = fmt.Errorf("%w: the rank is in another network namespace (%s, this rank in %s)", err, theirs, mine)
	}
	return e
}

// errHungUp is the error of a connection that ended before its greeting did.
var errHungUp = errors.New("the peer hung up")

// errAbsent is the error of a dial to a rank that has closed its domain, and what it
// may say itself.
var errAbsent = errors.New("the rank listens no more")

// hasGone reports whether a handshake failed because the peer left before it, or in
// the middle of it. That is no fault: a rank that only receives has connected so as to
// learn of the sender's death, and may be done before the handshake is.
func hasGone(err error) bool {
	return errors.Is(err, errAbsent) || errors.Is(err, errHungUp) || errors.Is(err, io.EOF) ||
		errors.Is(err, unix.ECONNRESET) || errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ESRCH)
}
