package tcp

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// vector is what a socket is read into or written from. It belongs to one
// connection, so that no call allocates.
type vector struct {
	msg unix.Msghdr
	iov [3]unix.Iovec
}

// The calls do not wait, so Go's scheduler is not told of them.

// send writes the parts, which may be empty, and returns how much was accepted.
func (v *vector) send(fd int, parts *[3][]byte) (int, unix.Errno) {
	if v.fill(parts) == 0 {
		return 0, 0
	}
	n, _, errno := unix.RawSyscall(unix.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(&v.msg)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
	v.forget()
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

// receive reads into the parts.
func (v *vector) receive(fd int, parts *[3][]byte) (int, unix.Errno) {
	if v.fill(parts) == 0 {
		return 0, unix.EAGAIN
	}
	n, _, errno := unix.RawSyscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&v.msg)), unix.MSG_DONTWAIT)
	v.forget()
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

func (v *vector) fill(parts *[3][]byte) int {
	n := 0
	for _, b := range parts {
		if len(b) > 0 {
			v.iov[n].Base = unsafe.SliceData(b)
			v.iov[n].SetLen(len(b))
			n++
		}
	}
	v.msg = unix.Msghdr{Iov: &v.iov[0]}
	v.msg.SetIovlen(n)
	return n
}

// forget lets the memory go.
func (v *vector) forget() { v.iov = [3]unix.Iovec{} }

// sendOne and receiveOne are for one part.
func sendOne(fd int, b []byte) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

func receiveOne(fd int, b []byte) (int, unix.Errno) {
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_DONTWAIT, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}

// ready returns the connections that an epoll has something for, without waiting.
func ready(epoll int, events []unix.EpollEvent) int {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epoll), uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), 0, 0, 0)
	if errno != 0 {
		return 0
	}
	return int(n)
}

// word is 8 aligned bytes, for atomic operations; nil if they are not aligned.
func word(b []byte) *uint64 {
	p := unsafe.Pointer(unsafe.SliceData(b))
	if uintptr(p)%8 != 0 || len(b) < 8 {
		return nil
	}
	return (*uint64)(p)
}

// fetchAdd and compareSwap act with the processor's atomics, so that the owner's
// own sync/atomic operations on the word are atomic with them.
func fetchAdd(w *uint64, n uint64) (old uint64) { return atomic.AddUint64(w, n) - n }

func compareSwap(w *uint64, compare, value uint64) (old uint64) {
	for {
		old = atomic.LoadUint64(w)
		if old != compare || atomic.CompareAndSwapUint64(w, old, value) {
			return old
		}
	}
}
