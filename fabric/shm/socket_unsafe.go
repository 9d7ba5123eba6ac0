package shm

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// The calls of a greeting bypass the Go scheduler. None of them blocks, but to
// the scheduler one looks as if it did as soon as the kernel runs another
// process meanwhile. Its monitor would then take the processor away and check
// again every 20 µs from then on, in each of the greeting ranks.

// sockName is the address of an abstract socket.
type sockName struct {
	raw unix.RawSockaddrUnix
	len uintptr
}

// set returns n as the address of name. A name that is too long is cut, and has
// no listener.
func (n *sockName) set(name string) *sockName {
	n.raw.Family = unix.AF_UNIX
	path := unsafe.Slice((*byte)(unsafe.Pointer(&n.raw.Path[1])), len(n.raw.Path)-1)
	n.len = unsafe.Offsetof(n.raw.Path) + 1 + uintptr(copy(path, name))
	return n
}

func connect(fd int, to *sockName) error {
	_, _, errno := unix.RawSyscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(&to.raw)), to.len)
	return failed(errno)
}

func accept(fd int) (int, error) {
	got, _, errno := unix.RawSyscall6(unix.SYS_ACCEPT4, uintptr(fd), 0, 0, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0, 0)
	return int(got), failed(errno)
}

func rawSend(fd int, b, oob []byte) error {
	iov := unix.Iovec{Base: unsafe.SliceData(b)}
	iov.SetLen(len(b))
	msg := unix.Msghdr{Iov: &iov, Control: unsafe.SliceData(oob)}
	msg.SetIovlen(1)
	msg.SetControllen(len(oob))
	_, _, errno := unix.RawSyscall(unix.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(&msg)), unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
	return failed(errno)
}

func rawReceive(fd int, b, oob []byte) (n, oobn, flags int, err error) {
	iov := unix.Iovec{Base: unsafe.SliceData(b)}
	iov.SetLen(len(b))
	msg := unix.Msghdr{Iov: &iov, Control: unsafe.SliceData(oob)}
	msg.SetIovlen(1)
	msg.SetControllen(len(oob))
	got, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&msg)), unix.MSG_CMSG_CLOEXEC|unix.MSG_DONTWAIT)
	if errno != 0 {
		return 0, 0, 0, errno
	}
	return int(got), int(msg.Controllen), int(msg.Flags), nil
}

// epollReady takes the events that there are.
func epollReady(epoll int, events []unix.EpollEvent) (int, error) {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epoll), uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), 0, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// failed is the error of a number, nil for 0.
func failed(errno unix.Errno) error {
	if errno != 0 {
		return errno
	}
	return nil
}
