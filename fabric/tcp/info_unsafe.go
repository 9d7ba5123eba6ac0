package tcp

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// tcpInfo asks the kernel how a connection fares. It allocates nothing.
func tcpInfo(fd int, info *unix.TCPInfo) bool {
	size := uint32(unix.SizeofTCPInfo)
	_, _, errno := unix.RawSyscall6(unix.SYS_GETSOCKOPT, uintptr(fd), unix.IPPROTO_TCP, unix.TCP_INFO,
		uintptr(unsafe.Pointer(info)), uintptr(unsafe.Pointer(&size)), 0)
	return errno == 0
}
