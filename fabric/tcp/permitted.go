package tcp

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/limits"
)

// permitted makes a connection with itself, and returns an error if the kernel refuses one of
// the calls: that is an error of Open then, and not of the first message, or a dial without
// an end. It does not wait, and other failures, such as that of a host without a loopback
// interface, are Open's.
func permitted() error {
	var fds []int
	defer func() {
		for _, fd := range fds {
			unix.Close(fd)
		}
	}()
	var why error
	check := func(call string, err error) {
		if why == nil && limits.Refused(err) {
			why = limits.Call(call, err)
		}
	}
	open := func(call string, fd int, err error) int {
		if check(call, err); err == nil {
			fds = append(fds, fd)
		}
		return fd
	}
	_, err := unix.Ppoll(nil, new(unix.Timespec), nil) // of the doorbell
	check("ppoll", err)
	socket := func() int {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		return open("socket", fd, err)
	}
	listener, out := socket(), socket()
	// The port is not to stay taken after the connection.
	check("setsockopt", unix.SetsockoptLinger(out, unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1}))
	check("bind", unix.Bind(listener, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}))
	check("listen", unix.Listen(listener, 1))
	at, err := unix.Getsockname(listener)
	if check("getsockname", err); err == nil {
		if err = unix.Connect(out, at); err == nil || errors.Is(err, unix.EINPROGRESS) {
			fd, _, err := unix.Accept4(listener, unix.SOCK_CLOEXEC)
			in := open("accept4", fd, err)
			check("getpeername", errOf(unix.Getpeername(out)))
			check("getsockopt", errOf(unix.GetsockoptInt(out, unix.SOL_SOCKET, unix.SO_ERROR)))
			var v vector
			parts := [3][]byte{make([]byte, 1)}
			_, errno := v.send(out, &parts)
			check("sendmsg", errno)
			_, errno = v.receive(in, &parts)
			check("recvmsg", errno)
			_, errno = sendOne(out, parts[0])
			check("sendto", errno)
			_, errno = receiveOne(in, parts[0])
			check("recvfrom", errno)
		}
		check("connect", err)
	}
	if why != nil {
		return &fabric.Error{Op: "make a connection with itself", Err: why}
	}
	return nil
}

func errOf[T any](_ T, err error) error { return err }
