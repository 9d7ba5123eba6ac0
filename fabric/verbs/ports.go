package verbs

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
	"github.com/weft-mpi/weft/fabric/verbs/internal/pin"
)

// port is a port beside the first. It has a device context of its own, since it
// may be another device's, and carries stripes only.
type port struct {
	info        portInfo
	hca         hca
	ring        *ibv.Rings
	sends       int // work requests that wait to be posted
	outstanding int
	budget      int
	done        stash
	keysMR      ibv.MR // of the table of keys
}

// hcas are all ports, the first one first.
func (d *Domain) hcas() []hca {
	ns := []hca{d.hca}
	for _, p := range d.ports {
		ns = append(ns, p.hca)
	}
	return ns
}

// openPorts opens the ports beside the first.
func (d *Domain) openPorts(infos []portInfo, a ibv.Attr, openNIC func(ibv.Options) (hca, error)) error {
	for _, p := range infos {
		o := p.options(d.cfg.Size, a)
		n, err := openNIC(o)
		if err != nil {
			return fmt.Errorf("%s port %d: %w", p.device, p.number, explain(err))
		}
		d.ports = append(d.ports, &port{info: p, hca: n, ring: n.Rings(), budget: o.SendCQE - 2*ibv.MaxSends})
	}
	return nil
}

// shareKeys makes the table of keys known to the further ports, for fences.
func (d *Domain) shareKeys() error {
	for _, p := range d.ports {
		m, err := p.hca.RegMR(ibv.Addr(d.keysMem), len(d.keysMem), ibv.LocalWrite|ibv.RemoteRead)
		if err != nil {
			return pin.Explain("keys", len(d.keysMem), err)
		}
		p.keysMR = m
	}
	return nil
}

// next is a clear descriptor of the port.
func (p *port) next(d *Domain) *ibv.SendWR {
	if p.sends == ibv.MaxSends {
		d.flushPort(p)
	}
	return p.ring.Sends[p.sends].Reset()
}

// flushPort posts what waits.
func (d *Domain) flushPort(p *port) { d.turnPort(p, 0) }

func (d *Domain) turnPort(p *port, maxSend int) int {
	sends := p.sends
	got := p.hca.PostPoll(sends, 0, 0, maxSend, 1)
	p.sends = 0
	if got.Refused() > 0 {
		for i := range sends {
			if s := &p.ring.Sends[i]; s.Refused != 0 {
				d.refusedRail(s)
				s.Refused = 0
			}
		}
	}
	if err := got.Err(); err != nil {
		for i, x := range d.ports {
			if x == p {
				d.losePort(i+1, err)
			}
		}
	}
	return got.Sends()
}

// refusedRail takes the rail out of use whose work request the library would
// not take: it is never flushed.
func (d *Domain) refusedRail(s *ibv.SendWR) {
	e := d.peers[s.ID>>32&peerMask]
	r := e.rails[s.ID>>railShift-1]
	e.loseRail(r, fmt.Errorf("ibv_post_send: %w", syscall.Errno(s.Refused)))
	r.lostBy = r.lostBy.Add(-flushTime)
}

// pollPorts takes the ends of stripes on the further ports.
func (d *Domain) pollPorts(h fabric.Handler, max int) (n int) {
	for _, p := range d.ports {
		if p.outstanding == 0 {
			continue
		}
		if p.done.empty() {
			p.done = stash{0, d.turnPort(p, ibv.MaxWC)}
		}
		for n < max && !p.done.empty() {
			c := p.ring.SendWC[p.done.next]
			p.done.next++
			n += d.retireRail(h, &c)
		}
	}
	return n
}

// armPorts asks for an event at the next end of a stripe.
func (d *Domain) armPorts() error {
	for _, p := range d.ports {
		if err := p.hca.ReqNotify(true); err != nil {
			return err
		}
	}
	return nil
}

// closeKeys takes the table of keys from the further ports.
func (d *Domain) closeKeys() (err error) {
	for _, p := range d.ports {
		if p.keysMR.Handle == 0 {
			continue
		}
		if derr := p.hca.DeregMR(p.keysMR); derr != nil {
			d.keysMem = nil // it stays, since the device may still read and write there
			err = errors.Join(err, derr)
		}
	}
	return err
}

// closePorts gives the devices back.
func (d *Domain) closePorts() (err error) {
	for _, p := range d.ports {
		err = errors.Join(err, p.hca.Close())
		p.sends = 0
	}
	return err
}
