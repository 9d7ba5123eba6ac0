package shm

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// addressOf is where b starts, for a peer's CMA. The caller keeps b alive.
func addressOf(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }

// readPeer copies len(dst) bytes at addr of the process of a thread.
func readPeer(thread int, dst []byte, addr uint64) error {
	return moveCMA(unix.SYS_PROCESS_VM_READV, thread, addressOf(dst), addr, len(dst))
}

// writePeer copies n bytes at our address src to dst of a thread's process. The
// kernel checks both addresses.
func writePeer(thread int, src, dst uint64, n int) error {
	return moveCMA(unix.SYS_PROCESS_VM_WRITEV, thread, src, dst, n)
}

// moveCMA is process_vm_readv(2) or process_vm_writev(2) on one range, which may
// move less than requested where a page is missing. The calls take tens of
// microseconds and bypass the Go scheduler: otherwise it would wake another
// thread for the processor, and its monitor, which then checks every 20 µs,
// would interrupt the copies.
func moveCMA(call uintptr, thread int, local, remote uint64, n int) error {
	for n > 0 {
		l := [2]uint64{local, uint64(min(n, soloBlock))}
		r := [2]uint64{remote, l[1]}
		got := rawCMA(call, uintptr(thread), &l, &r)
		switch errno := unix.Errno(-got); {
		case got > 0:
		case errno == unix.EINTR:
			continue
		case got == 0:
			return unix.EFAULT
		default:
			return errno
		}
		local, remote, n = local+uint64(got), remote+uint64(got), n-got
	}
	return nil
}

// probeAddr is the address of the value by which peers check that CMA works.
func (d *Domain) probeAddr() uint64 { return uint64(uintptr(unsafe.Pointer(&d.probe[0]))) }

// probeCMA reads the peer's probe value: the permission depends on namespaces,
// capabilities, yama and seccomp, so only the call itself shows it.
func probeCMA(thread int, addr, value uint64) error {
	var got [8]byte
	if err := cmaRead(thread, got[:], addr); err != nil {
		return fmt.Errorf("read process %d: %w", thread, err)
	}
	if v := *(*uint64)(unsafe.Pointer(&got)); v != value {
		return fmt.Errorf("process %d is another than the peer says", thread)
	}
	return nil
}

// cmaRead is a variable so that tests can fail CMA as a container does.
var cmaRead = readPeer

func probeSeed(id [16]byte) uint64 { return *(*uint64)(unsafe.Pointer(&id)) }
