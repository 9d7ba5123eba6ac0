package shm

import (
	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/internal/limits"
)

// try sleeps for no time, and makes a connection of the rank with itself: a system call that
// the kernel refuses is an error of Open then, where another transport can take the place of
// this one, and not of the first message.
func (g *greeter) try() error {
	if _, err := unix.Ppoll(nil, new(unix.Timespec), nil); err != nil { // of the doorbell
		return limits.Call("ppoll", err)
	}
	fd, err := socket()
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err = connect(fd, g.name.set(g.d.addr)); err != nil {
		return limits.Call("connect", err)
	}
	in, err := accept(g.listener)
	if err != nil {
		return limits.Call("accept4", err)
	}
	defer unix.Close(in)
	c := &handshake{}
	if c.pid, err = trusted(in); err != nil {
		return err
	}
	me := g.d.greeting()
	if err = sendHello(fd, &me, g.d.controlFD, g.d.bellFD, g.d.arena.fd()); err != nil {
		return err
	}
	you, fds, err := g.receive(in)
	defer closeAll(fds)
	if err != nil {
		return err
	}
	p, err := g.meet(c, &you, fds)
	if err == nil {
		p.close()
	}
	return err
}
