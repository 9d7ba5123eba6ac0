package shm

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"golang.org/x/sys/unix"
)

// later schedules another try of a call.
func (g *greeter) later(c *handshake) {
	c.due = time.Now().Add(c.pause)
	c.pause = min(2*c.pause, pauseMax)
	g.due(c.due)
}

// more is called when the other side has been silent for handshakeTime. The end
// of a process also closes its connections, which epoll reports at once. The
// process is checked for the case that a child of it has inherited the socket.
func (g *greeter) more(c *handshake) {
	c.due = time.Now().Add(g.d.slow)
	g.due(c.due)
	pid := c.pid
	if pid == 0 {
		pid, _ = trusted(c.fd)
	}
	if hasEnded(pid) {
		if c.state == settling { // it may have settled
			g.settle(c)
			return
		}
		g.drop(c, fmt.Errorf("process %d has ended", pid))
		return
	}
	g.say(c, "shm: a process that lives does not answer; waiting for it. It may be stopped (a signal, a debugger), without a processor, or at its limit on open files (ulimit -n)",
		"pid", pid)
}

// say warns, once, about a connection that takes long.
func (g *greeter) say(c *handshake, what string, more ...any) {
	if c.said || time.Since(c.begun) < g.d.slow {
		return
	}
	c.said = true
	more = append(more, "since", c.begun.Format(time.TimeOnly))
	if c.known {
		g.d.cfg.Log.Warn(what, append(more, "rank", c.peer)...)
	} else {
		g.log.Tell(slog.LevelWarn, what, more...)
	}
}

// hasEnded reports whether it is certain that a process has ended.
func hasEnded(pid int) bool {
	if pid <= 0 {
		return false // of another PID namespace
	}
	fd, err := pidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if err != nil {
		return errors.Is(err, unix.ESRCH)
	}
	defer unix.Close(fd)
	over, err := hasExited(fd)
	return over && err == nil
}
