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

// registerMembarrier permits other processes' expedited barriers to reach this
// one. Without them senders publish with a full fence.
func registerMembarrier() bool {
	const both = membarrierGlobalExpedited | membarrierRegisterExpedited
	can, _, errno := unix.RawSyscall(unix.SYS_MEMBARRIER, membarrierQuery, 0, 0)
	if errno != 0 || can&both != both {
		return false
	}
	_, _, errno = unix.Syscall(unix.SYS_MEMBARRIER, membarrierRegisterExpedited, 0, 0)
	return errno == 0
}

// The wake word lies in a rank's control segment, which its peers map. Its low
// bits are the fabric.Wake that the rank has armed, the bits above them the
// number of the arming, so that no value recurs. It is 0 while no peer is to
// ring.
//
// A sender first rings and then clears the word, by a compare-and-swap that
// fails if the word has changed. So the word of the present arming is cleared
// only after the bell has been rung for it; until then all senders ring. A
// sender that is stopped in between, for however long, keeps no other from
// ringing, and clears no later arming when it continues. The word of a ring
// already consumed may still be uncleared, so the next Arm makes a new word.
const (
	offWake   = 0
	wakeBits  = 8
	wakeLevel = 1<<wakeBits - 1
)

func loadWake(w *uint64) uint64 { return atomic.LoadUint64(w) }

// Arm publishes in the wake word the events that peers are to ring for. An
// expedited membarrier orders the store before the caller's next Poll against
// every sender's publish and load, so that senders need no fence; see
// endpoint.Send. If an Arm misses a ring that another goroutine's Wait is
// consuming, that Wait returns afterwards.
func (d *Domain) Arm(w fabric.Wake) error {
	if d.closed.Load() {
		return fabric.ErrClosed
	}
	own := word64(d.control, offWake)
	if d.armed != 0 && fabric.Wake(d.armed&wakeLevel) == w && loadWake(own) == d.armed && !d.rung.Load() {
		return nil
	}
	d.rung.Store(false)
	d.armings++
	d.armed = d.armings<<wakeBits | uint64(w)
	atomic.StoreUint64(own, d.armed)
	if d.membarrier {
		if errno := membarrier(); errno != 0 {
			return &fabric.Error{Op: "membarrier", Err: errno}
		}
	}
	return nil
}

// membarrier orders what this thread has stored before what it loads next, against
// the stores and loads of all threads that have registered. It is a variable so
// that tests can see what is stored by then.
var membarrier = func() unix.Errno {
	_, _, errno := unix.RawSyscall(unix.SYS_MEMBARRIER, membarrierGlobalExpedited, 0, 0)
	return errno
}

// Disarm stops the ringing.
func (d *Domain) Disarm() {
	if d.armed != 0 {
		d.armed = 0
		atomic.StoreUint64(word64(d.control, offWake), 0)
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
	if err == nil {
		d.rung.Store(true)
	}
	if d.closed.Load() {
		return fabric.ErrClosed
	}
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return err
}

// Sleep is Wait by a thread, which it blocks on the doorbell.
func (d *Domain) Sleep(timeout time.Duration) error {
	if d.closed.Load() {
		return fabric.ErrClosed
	}
	var until *unix.Timespec
	if timeout > 0 {
		ts := unix.NsecToTimespec(int64(timeout))
		until = &ts
	}
	n, err := unix.Ppoll([]unix.PollFd{{Fd: int32(d.bellFD), Events: unix.POLLIN}}, until, nil)
	if n > 0 && drainBell(uintptr(d.bellFD)) {
		d.rung.Store(true)
	}
	if d.closed.Load() {
		return fabric.ErrClosed
	}
	if err == unix.EINTR {
		return nil
	}
	return err
}

// drainBell reports whether the doorbell has rung, and consumes the ring.
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

// ring wakes the peer if it sleeps for a message of this kind. All senders that
// see one word may ring for it, each once; see wakeLevel.
func (e *endpoint) ring(kind uint8) {
	w := loadWake(e.wake)
	if w == 0 || fabric.Wake(w&wakeLevel) == fabric.WakeUrgent && kind&fabric.Urgent == 0 && !e.tx.halfFull() {
		return
	}
	e.wakeUp(w)
}

// wakeUp rings for the arming w.
func (e *endpoint) wakeUp(w uint64) {
	ringBell(uintptr(e.info.bell))
	// The peer arms again before it sleeps again.
	atomic.CompareAndSwapUint64(e.wake, w, 0)
}

var oneRing = []byte{1, 0, 0, 0, 0, 0, 0, 0}

// ringBell adds a ring to an eventfd. The eventfd is non-blocking and would
// block only near 2⁶⁴ rings, when the sleeper has enough to wake up for. It is a
// variable so that tests can stop a sender there.
var ringBell = func(fd uintptr) { unix.Write(int(fd), oneRing) }
