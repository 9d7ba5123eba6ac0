package strangers

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// Name returns 128 bits in hex that nobody can tell who does not know the secret: with
// them in its name, nobody else takes the name of a socket before the socket is there,
// and the names of some sockets do not give away those of others.
func Name(secret []byte, purpose string) string {
	m := hmac.New(sha256.New, secret)
	m.Write([]byte(purpose))
	return hex.EncodeToString(m.Sum(nil)[:16])
}

// TakenError says that a process of another user listens at a socket of this name.
type TakenError struct {
	Name string
	UID  uint32
	PID  int
}

func (e *TakenError) Error() string {
	return fmt.Sprintf("the name is taken by a process of another user (%s, user %d, process %d): end that process, or have the job use another name", e.Name, e.UID, e.PID)
}

func (e *TakenError) Unwrap() error { return syscall.EADDRINUSE }

// Listen makes a Unix socket that listens at a name. If another user has taken it, the
// error is a *TakenError.
func Listen(network, name string) (*net.UnixListener, error) {
	at := &net.UnixAddr{Name: name, Net: network}
	l, err := net.ListenUnix(network, at)
	if !errors.Is(err, syscall.EADDRINUSE) {
		return l, err
	}
	if c, failed := net.DialUnix(network, nil, at); failed == nil {
		defer c.Close()
		if who, failed := Peer(c); failed == nil && who.Uid != uint32(os.Geteuid()) {
			err = &TakenError{name, who.Uid, int(who.Pid)}
		}
	}
	return nil, err
}

// Peer returns the credentials of the process at the other end: those at connect, or at
// listen.
func Peer(c *net.UnixConn) (who *syscall.Ucred, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	failed := raw.Control(func(fd uintptr) {
		who, err = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET, syscall.SO_PEERCRED)
	})
	return who, errors.Join(err, failed)
}
