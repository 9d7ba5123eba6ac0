package verbs

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/weft-mpi/weft/fabric"
)

// port is a port beside the first. It has a device context of its own, since it
// may be another device's, and carries stripes only.
type port struct {
	info        portInfo
	nic         nic
	ring        *rings
	sends       int // descriptors that wait for the next turn
	outstanding int
	budget      int
	done        stash
	keysMR      mr // of the table of keys
}

// nics are the devices of all ports, that of the first first.
func (d *Domain) nics() []nic {
	ns := []nic{d.nic}
	for _, p := range d.ports {
		ns = append(ns, p.nic)
	}
	return ns
}

// openPorts opens the ports beside the first.
func (d *Domain) openPorts(infos []portInfo, a attributes, openNIC func(nicOptions) (nic, error)) error {
	for _, p := range infos {
		o := nicOptions{device: p.device, port: p.number, gidIndex: p.gidIndex, global: p.ethernet || p.lid == 0,
			srqDepth: 16, recvCQE: 32, sendCQE: 1024 + 64*d.cfg.Size}
		if a.maxCQE > 0 {
			o.sendCQE = min(o.sendCQE, a.maxCQE)
		}
		n, err := openNIC(o)
		if err != nil {
			return fmt.Errorf("%s port %d: %w", p.device, p.number, explain(err))
		}
		d.ports = append(d.ports, &port{info: p, nic: n, ring: n.rings(), budget: o.sendCQE - 2*sendRing})
	}
	return nil
}

// shareKeys makes the table of keys known to the further ports, for fences.
func (d *Domain) shareKeys() error {
	for _, p := range d.ports {
		m, err := p.nic.register(addressOf(d.keysMem), len(d.keysMem), accessLocalWrite|accessRemoteRead)
		if err != nil {
			return pinError("keys", len(d.keysMem), err)
		}
		p.keysMR = m
	}
	return nil
}

// next is a clear descriptor of the port.
func (p *port) next(d *Domain) *sendDesc {
	if p.sends == sendRing {
		d.flushPort(p)
	}
	return p.ring.sends[p.sends].reset()
}

// flushPort posts what waits.
func (d *Domain) flushPort(p *port) { d.turnPort(p, 0) }

func (d *Domain) turnPort(p *port, maxSend int) int {
	sends := p.sends
	got := p.nic.turn(sends, 0, 0, maxSend, 1)
	p.sends = 0
	if got.refused() > 0 {
		for i := range sends {
			if s := &p.ring.sends[i]; s.refused != 0 {
				d.refusedRail(s)
				s.refused = 0
			}
		}
	}
	if err := got.err(); err != nil {
		for i, x := range d.ports {
			if x == p {
				d.losePort(i+1, err)
			}
		}
	}
	return got.sends()
}

// refusedRail takes the rail out of use whose work request the library would
// not take: it is never flushed.
func (d *Domain) refusedRail(s *sendDesc) {
	e := d.peers[s.id>>32&peerMask]
	r := e.rails[s.id>>railShift-1]
	e.loseRail(r, fmt.Errorf("ibv_post_send: %w", syscall.Errno(s.refused)))
	r.lostBy = r.lostBy.Add(-flushTime)
}

// pollPorts takes the ends of stripes on the further ports.
func (d *Domain) pollPorts(h fabric.Handler, max int) (n int) {
	for _, p := range d.ports {
		if p.outstanding == 0 {
			continue
		}
		if p.done.empty() {
			p.done = stash{0, d.turnPort(p, doneRing)}
		}
		for n < max && !p.done.empty() {
			c := p.ring.sdone[p.done.next]
			p.done.next++
			n += d.retireRail(h, &c)
		}
	}
	return n
}

// armPorts asks for an event at the next end of a stripe.
func (d *Domain) armPorts() error {
	for _, p := range d.ports {
		if err := p.nic.arm(true); err != nil {
			return err
		}
	}
	return nil
}

// closeKeys takes the table of keys from the further ports.
func (d *Domain) closeKeys() (err error) {
	for _, p := range d.ports {
		if p.keysMR.id == 0 {
			continue
		}
		if derr := p.nic.deregister(p.keysMR); derr != nil {
			d.keysMem = nil // it stays, since the device may still read and write there
			err = errors.Join(err, derr)
		}
	}
	return err
}

// closePorts gives the devices back.
func (d *Domain) closePorts() (err error) {
	for _, p := range d.ports {
		err = errors.Join(err, p.nic.close())
		p.sends = 0
	}
	return err
}
