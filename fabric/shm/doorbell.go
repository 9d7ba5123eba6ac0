package shm

import (
	"errors"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// Membarrier commands, linux/membarrier.h.
const (
	membarrierQuery             = 0
	membarrierGlobalExpedited   = 1 << 1
	membarrierRegisterExpedited = 1 << 2
)

// registerMembarrier asks that expedited barriers of other processes reach
// this one. Without them senders publish with a full fence.
func registerMembarrier() bool {
	const both = membarrierGlobalExpedited | membarrierRegisterExpedited
	can, _, errno := unix.RawSyscall(unix.SYS_MEMBARRIER, membarrierQuery, 0, 0)
	if errno != 0 || can&both != both {
		return false
	}
	_, _, errno = unix.Syscall(unix.SYS_MEMBARRIER, membarrierRegisterExpedited, 0, 0)
	return errno == 0
}

func loadWake(w *uint32) fabric.Wake { return fabric.Wake(atomic.LoadUint32(w)) }

// Arm publishes in the wake word what peers are to ring for. The store is
// ordered before the caller's next Poll against every sender's publish and
// load by an expedited membarrier, so that senders need no fence; see
// endpoint.Send.
func (d *Domain) Arm(w fabric.Wake) error {
	if d.closed.Load() {
		return fabric.ErrClosed
	}
	own := word(d.control, 0)
	if d.armed == w && loadWake(own) == w {
		return nil
	}
	d.armed = w
	atomic.StoreUint32(own, uint32(w))
	if d.membarrier {
		if _, _, errno := unix.RawSyscall(unix.SYS_MEMBARRIER, membarrierGlobalExpedited, 0, 0); errno != 0 {
			return &fabric.Error{Op: "membarrier", Err: errno}
		}
	}
	return nil
}

// Disarm stops the ringing.
func (d *Domain) Disarm() {
	if d.armed != 0 {
		d.armed = 0
		atomic.StoreUint32(word(d.control, 0), 0)
	}
}

// Wait sleeps until the doorbell rings. It is a goroutine's wait on the Go
// poller, so it holds no thread and no processor.
func (d *Domain) Wait(timeout time.Duration) error {
	if timeout > 0 {
		d.bell.SetReadDeadline(time.Now().Add(timeout))
		d.deadline = true
	} else if d.deadline {
		d.bell.SetReadDeadline(time.Time{})
		d.deadline = false
	}
	err := d.bellConn.Read(drainBell)
	if d.closed.Load() {
		return fabric.ErrClosed
	}
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return err
}

// drainBell reports whether the doorbell has rung and takes the ring.
func drainBell(fd uintptr) bool {
	var b [8]byte
	_, err := unix.Read(int(fd), b[:])
	return err != unix.EAGAIN
}

// Wake rings our own doorbell.
func (d *Domain) Wake() {
	if d.bellConn != nil {
		d.bellConn.Control(ringBell)
	}
}

// ring wakes the peer if a message of this kind is what it sleeps for.
func (e *endpoint) ring(kind uint8) {
	w := loadWake(e.wake)
	if w == 0 || w == fabric.WakeUrgent && kind&fabric.Urgent == 0 && !e.tx.halfFull() {
		return
	}
	// One sender rings for all: the peer arms again before it sleeps again.
	if atomic.CompareAndSwapUint32(e.wake, uint32(w), 0) {
		ringBell(uintptr(e.info.bell))
	}
}

var oneRing = []byte{1, 0, 0, 0, 0, 0, 0, 0}

// ringBell adds a ring to an eventfd. It is non-blocking and would block only
// near 2⁶⁴ rings, when the sleeper has enough to wake up for.
func ringBell(fd uintptr) { unix.Write(int(fd), oneRing) }
