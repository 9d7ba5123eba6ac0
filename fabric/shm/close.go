package shm

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Close ends the transport. Connected peers get PeerDown, after everything that
// was sent to them. See fabric.Domain.
func (d *Domain) Close() error {
	if d.closed.Swap(true) {
		return nil
	}
	d.Wake()
	d.release()
	return nil
}

func (d *Domain) release() {
	if d.greeter != nil {
		d.greeter.stop()
	}
	unpark()
	d.mu.Lock()
	d.closed.Store(true) // from here on new connections are rejected
	events := d.events
	d.events = nil
	d.mu.Unlock()
	for i := range events {
		d.take(&events[i])
	}
	for _, e := range d.peers {
		if e != nil {
			e.writers.Lock() // for good, see Write
		}
	}
	d.stopHelping(nil) // no peer needs to wait for a rank that leaves
	for _, e := range d.peers {
		if e != nil {
			e.leave(leftClosed)
		}
	}
	d.stopTransfers(nil)
	d.wg.Wait()
	for _, e := range d.peers {
		if e != nil {
			e.awaitQuiet()
		}
	}
	for _, e := range d.peers {
		if e != nil {
			e.close()
		}
	}
	d.left, d.leftSeen = new(uint32), 0
	d.rx, d.parting = nil, nil
	if d.bell != nil {
		d.bell.Close()
	} else if d.bellFD >= 0 {
		unix.Close(d.bellFD)
	}
	if d.controlFD >= 0 {
		unix.Munmap(d.control)
		unix.Close(d.controlFD)
	}
}

// awaitQuiet waits until no peer can write to memory here any more. The peer is
// in the middle of one block, and does not wait for anything there: unless it
// was stopped that takes microseconds. Only the peer's end bounds the wait.
// Memory freed while a peer writes to it is worse than a rank that waits and
// logs which peer it waits for.
func (e *endpoint) awaitQuiet() {
	began, said := time.Now(), false
	for k := 0; !e.quiet(); k++ {
		if k < 64 {
			runtime.Gosched()
			continue
		}
		if e.info.ended() {
			return
		}
		if !said && time.Since(began) >= sayAfter {
			said = true
			e.d.cfg.Log.Warn("shm: Close waits for a rank that is in the middle of a copy into memory of this one",
				"rank", e.peer, "process", e.info.pid,
				"remedy", "let the process go on if it is stopped (kill -CONT), or end it")
		}
		time.Sleep(min(time.Duration(k), 1000) * time.Microsecond)
	}
}

func (e *endpoint) close() {
	e.up = false
	if e.seg != nil {
		unix.Munmap(e.seg)
		e.seg, e.tx, e.rx = nil, producer{}, nil
	}
	if e.info != nil {
		e.info.close()
		e.info = nil
	}
	e.stopped = nil
}
