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

// An address is the name of a rank's rendezvous socket and, behind a blank, that
// of its network namespace: an abstract socket is reached from its own only
// (unix(7), network_namespaces(7)).

// netNamespace is this process's, as the kernel names it, or "" if /proc does
// not tell.
var netNamespace = sync.OnceValue(func() string {
	name, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		return ""
	}
	return name
})

// socketOf takes an address apart.
func socketOf(addr string) (socket, namespace string) {
	socket, namespace, _ = strings.Cut(addr, " ")
	return socket, namespace
}

// unreached is the error of a dial to a peer of the namespace theirs. Where that
// is this one, nobody listens because the peer has left.
func unreached(err error, theirs string) error {
	const op = "reach the peer's socket"
	mine := netNamespace()
	if !errors.Is(err, unix.ECONNREFUSED) || theirs == mine && mine != "" {
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

// errHungUp is a connection that ended before its greeting did.
var errHungUp = errors.New("the peer hung up")

// hasGone reports that a handshake failed because the peer has left in the midst
// of it. Ranks do, without a fault of anyone: who only receives has connected so
// as to hear of the sender's death, and may be done before that is.
func hasGone(err error) bool {
	return errors.Is(err, errHungUp) || errors.Is(err, io.EOF) ||
		errors.Is(err, unix.ECONNRESET) || errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ESRCH)
}
