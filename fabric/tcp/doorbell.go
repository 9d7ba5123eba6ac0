package tcp

import (
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/internal/bell"
)

// doorbell is where a rank sleeps. It watches the epoll of the sockets, for one
// event after each Arm. The kernel can't tell urgent messages from others, so a
// rank that is armed for those wakes for all.
type doorbell struct {
	bell.Bell
	sockets int // the epoll
	armed   bool
	// fired says that the sockets have rung and have to be armed again. Its store
	// in Wait and Sleep pairs with the load in Arm: an Arm that misses it is
	// followed by the return of the Wait or Sleep that stored it.
	fired atomic.Bool
}

func (b *doorbell) open() (err error) {
	b.sockets = -1
	if b.sockets, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return err
	}
	return b.Open([]bell.Watch{{FD: b.sockets, Events: unix.EPOLLONESHOT}}, func(int) { b.fired.Store(true) })
}

// close waits until nobody sleeps any more.
func (b *doorbell) close() {
	b.Close()
	if b.sockets >= 0 {
		unix.Close(b.sockets)
		b.sockets = -1
	}
}

// Arm has the sockets ring once. What has come before rings too, unless a Poll
// reads it.
func (d *Domain) Arm(fabric.Wake) error {
	if d.closed.Load() {
		return fabric.ErrClosed
	}
	b := &d.bell
	d.sweep = true
	if b.armed && !b.fired.Load() {
		return nil
	}
	b.fired.Store(false)
	if err := b.Modify(bell.Watch{FD: b.sockets, Events: unix.EPOLLONESHOT}); err != nil {
		return &fabric.Error{Op: "arm the sockets", Err: err}
	}
	b.armed = true
	return nil
}

// Disarm leaves the kernel alone: at most one ring is in vain.
func (d *Domain) Disarm() { d.bell.armed = false }

// Wait sleeps until the doorbell rings, on Go's poller.
func (d *Domain) Wait(timeout time.Duration) error { return d.bell.Wait(timeout, &d.closed) }

// Sleep is Wait by a thread, which it blocks.
func (d *Domain) Sleep(timeout time.Duration) error { return d.bell.Sleep(timeout, &d.closed) }

// Wake rings the rank's own doorbell.
func (d *Domain) Wake() { d.bell.Ring() }

// rouse wakes the sleeping thread of this rank, so that what is staged leaves
// though the application does not call again. A thread that does not sleep polls
// within its tick.
func (d *Domain) rouse() {
	if d.bell.armed && !d.roused {
		d.roused = true
		d.bell.Ring()
	}
}

// add takes a connection into the epoll.
func (d *Domain) add(c *conn) error {
	place := int32(len(d.conns))
	if k := len(d.places); k > 0 {
		place, d.places = d.places[k-1], d.places[:k-1]
		d.conns[place] = c
	} else {
		d.conns = append(d.conns, c)
	}
	c.place = place
	return unix.EpollCtl(d.bell.sockets, unix.EPOLL_CTL_ADD, c.fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: place})
}

// watch has the epoll tell of room too, or no more.
func (d *Domain) watch(c *conn, room bool) {
	ev := unix.EpollEvent{Events: unix.EPOLLIN, Fd: c.place}
	if room {
		ev.Events |= unix.EPOLLOUT
	}
	unix.EpollCtl(d.bell.sockets, unix.EPOLL_CTL_MOD, c.fd, &ev)
}

// remove closes a connection.
func (d *Domain) remove(c *conn) {
	unix.EpollCtl(d.bell.sockets, unix.EPOLL_CTL_DEL, c.fd, nil)
	unix.Close(c.fd)
	c.fd = -1
	d.conns[c.place] = nil
	c.unstage()
	if c.seal != nil {
		c.seal.forget()
	}
	c.in, c.r, c.w = nil, 0, 0 // a handler may still have a message that lies there
	d.places = append(d.places, c.place)
	d.sending = without(d.sending, c, &c.sending)
	d.cool(c)
}

func without(list []*conn, c *conn, in *bool) []*conn {
	if !*in {
		return list
	}
	*in = false
	i, last := slices.Index(list, c), len(list)-1
	list[i], list[last] = list[last], nil
	return list[:last]
}
