package shm

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/limits"
)

// The descriptors that travel with a greeting, in this order; the rings only
// from the side that dials.
const (
	fdControl = iota
	fdBell
	fdArena
	fdRings
	maxFDs
)

// oobSize is the room for them. The kernel closes what has none, and says so.
var oobSize = unix.CmsgSpace(4 * maxFDs)

// reserveDescriptors makes the process's descriptor table large enough for a job
// of so many ranks, at once and before there is anything to wait for. To enlarge
// it, the kernel waits for each processor (RCU) if the process has several
// threads. Where hundreds of ranks that poll share the processors, that has
// taken a minute each time. fd is any descriptor. A table that can't be so large
// stays as it is.
func reserveDescriptors(fd, ranks int) {
	const others, kept, passing = 24, 3, 2 * (maxFDs + 1)
	last := others + kept*ranks + passing*min(ranks, dialsAtOnce)
	if n, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, last); err == nil {
		unix.Close(n)
	}
}

// A greeting is a packet of a SOCK_SEQPACKET socket, whole or not there.
func socket() (int, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	return fd, limits.Call("socket", err)
}

// listen makes the abstract socket of a name.
func listen(name string) (fd int, err error) {
	if fd, err = socket(); err != nil {
		return -1, err
	}
	if err = limits.Call("bind", unix.Bind(fd, &unix.SockaddrUnix{Name: "@" + name})); err == nil {
		err = limits.Call("listen", unix.Listen(fd, backlog))
	}
	if err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// sendHello sends a greeting and descriptors.
func sendHello(fd int, h *hello, fds ...int) error {
	b := h.encode()
	if len(b) > maxHello {
		return fmt.Errorf("greeting of %d bytes is longer than %d: shorten the job id", len(b), maxHello)
	}
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	if err := sendMsg(fd, b, oob); err != nil {
		return fmt.Errorf("send greeting: %w", limits.Call("sendmsg", err))
	}
	return nil
}

// sendMsg is a variable so that tests can make it fail.
var sendMsg = rawSend

// receive receives a greeting and at most maxFDs descriptors, which are the
// caller's to close, also after an error. It does not wait: EAGAIN.
func (g *greeter) receive(fd int) (h hello, fds []int, err error) {
	n, oobn, flags, err := rawReceive(fd, g.buf[:], g.oob)
	if errors.Is(err, unix.EAGAIN) {
		return hello{}, nil, unix.EAGAIN
	}
	err = limits.Call("recvmsg", err)
	if oobn > 0 {
		var perr error
		fds, perr = parseFDs(g.oob[:oobn])
		err = errors.Join(err, perr)
	}
	switch {
	case err != nil:
	case flags&unix.MSG_CTRUNC != 0 && len(fds) < maxFDs: // there was room for more
		err = &fabric.Error{Op: "take descriptors over", Err: unix.EMFILE}
	case flags&unix.MSG_CTRUNC != 0:
		err = errors.New("descriptors were cut off: more were sent than belong to a greeting")
	case len(fds) > maxFDs:
		err = errors.New("too many descriptors")
	case n == 0:
		err = errHungUp
	case n > maxHello:
		err = fmt.Errorf("greeting of more than %d bytes is too long", maxHello)
	default:
		h, err = decodeHello(g.buf[:n])
	}
	if err != nil {
		return hello{}, fds, fmt.Errorf("receive greeting: %w", err)
	}
	return h, fds, nil
}

func parseFDs(oob []byte) (fds []int, err error) {
	msgs, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	for i := range msgs {
		got, err := unix.ParseUnixRights(&msgs[i])
		if err != nil {
			return fds, err
		}
		fds = append(fds, got...)
	}
	return fds, nil
}

func closeAll(fds []int) {
	for _, fd := range fds {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}
