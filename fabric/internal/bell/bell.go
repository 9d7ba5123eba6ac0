// Package bell is where a rank sleeps: an epoll over a transport's descriptors and
// an eventfd. A goroutine waits for it on Go's poller, a thread in the kernel. It
// serves transports below fabric.
package bell

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

// Bell is a doorbell. Ring may be called by any goroutine, Wait and Sleep by one
// at a time. The zero Bell has to be opened.
type Bell struct {
	take     func(fd int)
	epoll    int
	self     int // the eventfd
	file     *os.File
	raw      syscall.RawConn
	deadline bool
	waiting  sync.Mutex // held by Wait and Sleep; Close waits for it
	events   []unix.EpollEvent
	polled   []unix.PollFd // for Sleep: the epoll
	drained  func(uintptr) bool
	rung     func(uintptr)
}

// Watch is a descriptor that rings when it is readable.
type Watch struct {
	FD     int
	Events uint32 // of epoll(7) beside EPOLLIN
}

// Open makes the bell. take, called by Wait and Sleep, is told which of the
// watched descriptors has rung. After an error Close is still due.
func (b *Bell) Open(watched []Watch, take func(fd int)) (err error) {
	b.take, b.epoll, b.self = take, -1, -1
	b.drained, b.rung = b.drain, b.write // made once, since Wait and Ring allocate nothing
	if b.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	if b.self, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return err
	}
	for _, w := range append([]Watch{{FD: b.self}}, watched...) {
		ev := unix.EpollEvent{Events: unix.EPOLLIN | w.Events, Fd: int32(w.FD)}
		if err = unix.EpollCtl(b.epoll, unix.EPOLL_CTL_ADD, w.FD, &ev); err != nil {
			return err
		}
	}
	b.events = make([]unix.EpollEvent, 1+len(watched))
	b.polled = []unix.PollFd{{Fd: int32(b.epoll), Events: unix.POLLIN}}
	if err = unix.SetNonblock(b.epoll, true); err != nil {
		return err
	}
	b.file, b.raw, err = Pollable(b.epoll, "doorbell")
	return err
}

// Pollable returns a file of the same descriptor that Go's poller knows.
func Pollable(fd int, name string) (*os.File, syscall.RawConn, error) {
	dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	f := os.NewFile(uintptr(dup), name)
	raw, err := f.SyscallConn()
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, raw, nil
}

// Close waits for the return of Wait or Sleep, so that nobody sleeps on a
// descriptor that is closed and perhaps another's by then. The caller has rung
// since it decided that nobody is to sleep any more.
func (b *Bell) Close() {
	if b.file != nil {
		b.file.Close()
	}
	b.waiting.Lock()
	defer b.waiting.Unlock()
	if b.take == nil {
		return // was not opened
	}
	for _, fd := range []int{b.epoll, b.self} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
	b.epoll, b.self = -1, -1
}

// Modify changes what rings: Watch.Events of a descriptor, which arms one with
// EPOLLONESHOT again.
func (b *Bell) Modify(w Watch) error {
	return unix.EpollCtl(b.epoll, unix.EPOLL_CTL_MOD, w.FD, &unix.EpollEvent{Events: unix.EPOLLIN | w.Events, Fd: int32(w.FD)})
}

// drain takes what the bell has to tell and says whether it was anything.
func (b *Bell) drain(uintptr) bool {
	n, err := unix.EpollWait(b.epoll, b.events, 0)
	if n <= 0 {
		return err != nil && err != unix.EINTR
	}
	for _, ev := range b.events[:n] {
		if int(ev.Fd) == b.self {
			var count [8]byte
			unix.Read(b.self, count[:])
		} else {
			b.take(int(ev.Fd))
		}
	}
	return true
}

// Wait sleeps until the bell rings, the timeout (0: none) has passed or closed is
// true, which is fabric.ErrClosed. It is a goroutine's wait on the Go poller, so it
// holds no thread and no processor.
func (b *Bell) Wait(timeout time.Duration, closed *atomic.Bool) (err error) {
	b.waiting.Lock()
	defer b.waiting.Unlock()
	if !closed.Load() {
		err = b.wait(timeout)
	}
	return slept(closed, err)
}

func slept(closed *atomic.Bool, err error) error {
	if closed.Load() {
		return fabric.ErrClosed
	}
	return err
}

func (b *Bell) wait(timeout time.Duration) error {
	if timeout > 0 {
		b.file.SetReadDeadline(time.Now().Add(timeout))
		b.deadline = true
	} else if b.deadline {
		b.file.SetReadDeadline(time.Time{})
		b.deadline = false
	}
	err := b.raw.Read(b.drained)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return err
}

// Sleep is Wait by a thread: it blocks the one it is called on in the kernel
// (ppoll), which lets it run as soon as the bell rings, however busy Go's
// scheduler is. It is for a goroutine with a thread of its own, see
// runtime.LockOSThread. The timeout is the kernel's, in nanoseconds.
func (b *Bell) Sleep(timeout time.Duration, closed *atomic.Bool) (err error) {
	b.waiting.Lock()
	defer b.waiting.Unlock()
	if !closed.Load() {
		err = b.sleep(timeout)
	}
	return slept(closed, err)
}

func (b *Bell) sleep(timeout time.Duration) error {
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
		n, err := unix.Ppoll(b.polled, left, nil)
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
			if n > 0 {
				b.drain(0)
			}
			return nil
		}
	}
}

var oneRing = []byte{1, 0, 0, 0, 0, 0, 0, 0}

// Ring makes a Wait or Sleep return, the present one or the next. After Close it
// does nothing.
func (b *Bell) Ring() {
	if b.raw != nil {
		// Through the file, so that the eventfd is not another's after Close.
		b.raw.Control(b.rung)
	}
}

func (b *Bell) write(uintptr) { unix.Write(b.self, oneRing) }
