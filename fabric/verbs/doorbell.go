package verbs

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// doorbell is where a rank sleeps: an epoll over the completion channel and an
// eventfd, which Go's poller waits on.
type doorbell struct {
	hcas  []hca
	epoll int
	self  int // the eventfd
	file  *os.File
	raw   syscall.RawConn
	armed fabric.Wake
	// fired says that the channel has told of a completion and has to be armed
	// again. Its store in take pairs with the load in Arm: an Arm that misses it
	// is followed by the return of the Wait or Sleep that stored it.
	fired    atomic.Bool
	deadline bool
	polled   []unix.PollFd // for Sleep: what the epoll is over
	waiting  sync.Mutex    // held by Wait and Sleep; close waits for it
	drained  func(uintptr) bool
	rung     func(uintptr)
}

func (b *doorbell) open(hcas []hca) (err error) {
	b.hcas, b.epoll, b.self = hcas, -1, -1
	b.drained, b.rung = b.drain, b.write // made once, since Wait and Wake allocate nothing
	if b.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	if b.self, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return err
	}
	fds := []int{b.self}
	for _, n := range hcas {
		fds = append(fds, n.EventFD())
	}
	for _, fd := range fds {
		ev := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)}
		if err = unix.EpollCtl(b.epoll, unix.EPOLL_CTL_ADD, fd, &ev); err != nil {
			return err
		}
		b.polled = append(b.polled, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
	}
	if err = unix.SetNonblock(b.epoll, true); err != nil {
		return err
	}
	b.file, b.raw, err = pollable(b.epoll, "doorbell")
	return err
}

// close waits for the return of Wait or Sleep, so that nobody sleeps on a
// descriptor that is closed and perhaps another's by then. The domain is closed
// and has rung since: who sleeps returns, who comes later does not begin.
func (b *doorbell) close() {
	if b.file != nil {
		b.file.Close()
	}
	b.waiting.Lock()
	defer b.waiting.Unlock()
	for _, fd := range []int{b.epoll, b.self} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
	b.epoll, b.self = -1, -1
}

// drain takes what the doorbell has to tell and says whether it was anything.
func (b *doorbell) drain(uintptr) bool {
	var evs [1 + maxPorts]unix.EpollEvent
	n, err := unix.EpollWait(b.epoll, evs[:], 0)
	if n <= 0 {
		return err != nil && err != unix.EINTR
	}
	for _, ev := range evs[:n] {
		b.take(ev.Fd)
	}
	return true
}

// take takes what one of the descriptors has to tell.
func (b *doorbell) take(fd int32) {
	if fd == int32(b.self) {
		var count [8]byte
		unix.Read(b.self, count[:])
		return
	}
	for _, n := range b.hcas {
		if fd == int32(n.EventFD()) && n.AckEvents() > 0 {
			b.fired.Store(true)
		}
	}
}

// block holds the thread in the kernel until a descriptor has something to tell
// or the timeout (0: none) has passed, and takes what there is.
func (b *doorbell) block(timeout time.Duration) error {
	var by time.Time
	if timeout > 0 {
		by = time.Now().Add(timeout)
	}
	for {
		var left *unix.Timespec
		if timeout > 0 {
			ts := unix.NsecToTimespec(timeout.Nanoseconds())
			left = &ts
		}
		_, err := unix.Ppoll(b.polled, left, nil)
		switch {
		case err == unix.EINTR: // one of the runtime's signals, say
			if timeout > 0 {
				if timeout = time.Until(by); timeout <= 0 {
					return nil
				}
			}
		case err != nil:
			return fmt.Errorf("ppoll: %w", err)
		default:
			for i := range b.polled {
				if b.polled[i].Revents != 0 {
					b.take(b.polled[i].Fd)
				}
			}
			return nil
		}
	}
}

// Arm asks the device for an event of its completion channel: for the next
// message, or the next that is sent as solicited, which are the Urgent ones,
// notes, and those that fill the last quarter of the sender's credit. A plain
// message that came before the level was lowered may still ring.
func (d *Domain) Arm(w fabric.Wake) error {
	if d.closed.Load() {
		return fabric.ErrClosed
	}
	b := &d.bell
	if b.armed == w && !b.fired.Load() {
		return nil
	}
	b.fired.Store(false)
	b.armed = w
	err := d.hca.ReqNotify(w == fabric.WakeUrgent)
	if err == nil {
		err = d.armPorts()
	}
	if err != nil {
		b.armed = 0
		return &fabric.Error{Op: "arm the completion queue", Err: err}
	}
	return nil
}

// Disarm takes nothing back from the device: at most one ring is in vain.
func (d *Domain) Disarm() { d.bell.armed = 0 }

// Wait sleeps until the doorbell rings. It is a goroutine's wait on the Go
// poller, so it holds no thread and no processor.
func (d *Domain) Wait(timeout time.Duration) error {
	b := &d.bell
	b.waiting.Lock()
	defer b.waiting.Unlock()
	if d.closed.Load() {
		return fabric.ErrClosed
	}
	if timeout > 0 {
		b.file.SetReadDeadline(time.Now().Add(timeout))
		b.deadline = true
	} else if b.deadline {
		b.file.SetReadDeadline(time.Time{})
		b.deadline = false
	}
	err := b.raw.Read(b.drained)
	if d.closed.Load() {
		return fabric.ErrClosed
	}
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return err
}

// Sleep is Wait by a thread: it blocks the one it is called on in the kernel
// (ppoll), which lets it run as soon as the doorbell rings, however busy Go's
// scheduler is. It is for a goroutine with a thread of its own, see
// runtime.LockOSThread. The timeout is the kernel's, in nanoseconds. One caller at
// a time, of Wait and Sleep together.
func (d *Domain) Sleep(timeout time.Duration) error {
	b := &d.bell
	b.waiting.Lock()
	defer b.waiting.Unlock()
	if d.closed.Load() {
		return fabric.ErrClosed
	}
	err := b.block(timeout)
	if d.closed.Load() {
		return fabric.ErrClosed
	}
	return err
}

var oneRing = []byte{1, 0, 0, 0, 0, 0, 0, 0}

// Wake rings the rank's own doorbell.
func (d *Domain) Wake() {
	if !d.closed.Load() {
		d.bell.ring()
	}
}

func (b *doorbell) ring() {
	if b.raw == nil {
		return
	}
	// Through the file, so that the eventfd is not another's after close.
	b.raw.Control(b.rung)
}

func (b *doorbell) write(uintptr) { unix.Write(b.self, oneRing) }
