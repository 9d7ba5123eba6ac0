package tcp

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// The kernel acknowledges for a process that is stopped, and does not for a host
// that is gone, but that takes it a quarter of an hour to say. So ranks ask each
// other: a connection that has been silent for two beats gets a Ping, and the peer
// of one that is silent for all beats of the deadline is down. Each connection has
// its own: one may be cut where the other is not.
//
// Beats are counted while this rank runs: one for any number that have passed since
// its last Poll. What was silent while this process was stopped is asked anew. So a
// job that is stopped as a whole, and goes on, loses nobody.
//
// Silence means nothing as long as
//   - the kernel has bytes of the peer that this rank has not read,
//   - the Ping waits behind other bytes and the peer takes these, however slowly,
//   - the peer polls in its own calls only, and its kernel acknowledges. Such a peer
//     is not asked: keepalive and the bytes under way are questions to its kernel.

// beats is how many make a deadline, and pingAfter how many a connection is silent
// before its peer is asked. A beat that comes lateAfter beats after the one before
// finds that the process was stopped.
const (
	beats     = 10
	pingAfter = 2
	lateAfter = beats
)

// What a beat tells the owner.
const (
	noBeat uint32 = iota
	oneBeat
	lateBeat // the process has been stopped
)

// pulse is how long a connection has been silent.
type pulse struct {
	silent int    // beats in a row; Poll sets it to 0 when it has read something
	asked  bool   // a Ping was staged in this silence
	ping   uint64 // the Ping has arrived when the peer's host has acknowledged so many bytes
	acked  uint64 // at the last beat
}

// beat rings the doorbell for each beat, until the domain closes.
func (d *Domain) beat() {
	each := d.set.deadline / beats
	t := time.NewTicker(each)
	defer t.Stop()
	for last := time.Now(); ; {
		select {
		case <-d.ctx.Done():
			return
		case <-t.C:
			now := time.Now()
			if now.Sub(last) > lateAfter*each {
				d.beaten.Store(lateBeat)
			} else {
				d.beaten.CompareAndSwap(noBeat, oneBeat)
			}
			last = now
			d.Wake()
		}
	}
}

// listenForSilence is called by Poll for a beat.
func (d *Domain) listenForSilence() {
	late := d.beaten.Swap(noBeat) == lateBeat
	for _, e := range d.eps {
		if e == nil || e.down != nil || e.doomed {
			continue
		}
		for _, c := range [...]*conn{e.msg, e.bulk} {
			switch {
			case c == nil:
			case late:
				c.pulse = pulse{}
			case !e.doomed && c.beat():
				d.lose(e, &fabric.Error{Op: "talk over TCP", Peer: e.peer, HasPeer: true,
					Err:    fmt.Errorf("%w: it has not answered for %v", fabric.ErrPeerDown, d.set.deadline),
					Remedy: "its process may be stopped, its host down or the network cut; " + envDeadline + " sets the limit"})
			}
		}
	}
}

// beat counts a beat, and reports whether the peer has been silent for all of the
// deadline.
func (c *conn) beat() (dead bool) {
	p, d := &c.pulse, c.e.d
	if p.silent++; p.silent < pingAfter {
		p.asked = false
		return false
	}
	if n, err := unix.IoctlGetInt(c.fd, unix.SIOCINQ); err == nil && n > 0 {
		p.silent, d.sweep = 0, true
		return false
	}
	known := tcpInfo(c.fd, &d.info)
	if c.e.mute {
		if known && d.info.Retransmits == 0 && d.info.Probes == 0 {
			p.silent = 0
		}
		return p.silent > beats
	}
	acked := d.info.Bytes_acked
	if !p.asked && c.room(headerSize) {
		c.stage(header{form: formPing}, nil, nil)
		sent, _ := unix.IoctlGetInt(c.fd, unix.SIOCOUTQ)
		p.asked, p.ping = true, acked+uint64(sent+c.waiting())
	}
	if known && acked != p.acked && (!p.asked || acked < p.ping) {
		p.silent = pingAfter
	}
	p.acked = acked
	return p.silent > beats
}
