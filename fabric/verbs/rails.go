package verbs

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

// rail is a further queue pair to a peer. Messages go over the first queue pair
// alone, which keeps their order; a rail carries stripes of large transfers.
// It is the owner's once the endpoint has adopted it.
type rail struct {
	port, theirs int    // the port on this side and on the peer's; 0 is the first
	keysKey      uint32 // of the peer's table of keys there
	psn          uint32
	qp           ibv.QP // id 0 once it is destroyed
	lost         error
	lostBy       time.Time // when it is destroyed though not all is flushed
	gone         bool      // the peer has destroyed its end: nothing lands there any more
	wrote        bool      // since its last fence
	head, tail   uint32
	reserved     int      // places in the ring for parts that wait for keys
	ring         []stripe // that are outstanding
}

// room says whether n work requests more may be outstanding on the rail.
func (r *rail) room(d *Domain, n int) bool {
	if int(r.tail-r.head)+r.reserved+n > queueDepth {
		return false
	}
	return r.port == 0 || d.ports[r.port-1].outstanding+n <= d.ports[r.port-1].budget
}

// nicAt is the device of a port.
func (d *Domain) hcaAt(port int) hca {
	if port == 0 {
		return d.hca
	}
	return d.ports[port-1].hca
}

// infoAt is what is known of a port.
func (d *Domain) infoAt(port int) *portInfo {
	if port == 0 {
		return &d.port
	}
	return &d.ports[port-1].info
}

// makeRails makes the queue pairs of a connection beside its first: those of
// all ports in turn, so that two ranks with as many ports pair equal ones.
func (d *Domain) makeRails() (rs []*rail, err error) {
	n := min(d.queues*(1+len(d.ports)), maxRails)
	for k := 1; k < n; k++ {
		r := &rail{port: k % (1 + len(d.ports)), ring: make([]stripe, queueDepth), psn: newPSN()}
		if r.qp, _, err = d.hcaAt(r.port).CreateQP(); err != nil {
			d.discard(rs)
			return nil, fmt.Errorf("make queue pair %d: %w", k+1, err)
		}
		rs = append(rs, r)
	}
	return rs, nil
}

func newPSN() uint32 {
	var b [4]byte
	rand.Read(b[:])
	return binary.LittleEndian.Uint32(b[:]) & 0xffffff
}

// discard destroys rails that no endpoint has.
func (d *Domain) discard(rs []*rail) (err error) {
	for _, r := range rs {
		err = errors.Join(err, d.destroyRail(r))
	}
	return err
}

// destroyRail ends the device's use of memory over a rail, see destroyQP.
func (d *Domain) destroyRail(r *rail) error {
	q := r.qp
	r.qp = ibv.QP{}
	return d.destroyQP(r.port, q)
}

// railCards describe our rails for the peer.
func (d *Domain) railCards(rs []*rail) (cs []railCard) {
	for _, r := range rs {
		p, key := d.infoAt(r.port), d.keysMR.RKey
		if r.port > 0 {
			key = d.ports[r.port-1].keysMR.RKey
		}
		cs = append(cs, railCard{qpn: r.qp.Num, psn: r.psn, lid: p.lid, mtu: p.mtu, ethernet: p.ethernet,
			answers: p.answers, port: uint8(r.port), gid: p.gid, keysKey: key})
	}
	return cs
}

// joinRails connects our rails with the peer's, one by one in their order, and
// returns those that have a counterpart. The others are destroyed.
func (d *Domain) joinRails(mine []*rail, yours []railCard) ([]*rail, error) {
	n := min(len(mine), len(yours))
	err := d.discard(mine[n:])
	for k := 0; k < n && err == nil; k++ {
		r, c, p := mine[k], &yours[k], d.infoAt(mine[k].port)
		if p.ethernet != c.ethernet {
			err = errors.New("an InfiniBand port meets a RoCE port")
			break
		}
		r.theirs, r.keysKey = int(c.port), c.keysKey
		err = d.hcaAt(r.port).ConnectQP(r.qp, ibv.Path{
			QPNum: c.qpn, PSN: c.psn, MyPSN: r.psn, GID: c.gid, LID: c.lid,
			MTU: min(p.mtu, c.mtu), Reads: min(p.reads, c.answers), Answers: p.answers,
		})
		if err != nil {
			err = fmt.Errorf("%w (queue pair %d, port %d of %s)", err, k+2, p.number, p.device)
		}
	}
	if err != nil {
		return mine, fmt.Errorf("%w: list ports of the same networks in the same order on all ranks with %s", err, envDevice)
	}
	return mine[:n], nil
}

// railsBusy says whether anything is outstanding on the rails.
func (e *endpoint) railsBusy() bool {
	return slices.ContainsFunc(e.rails, func(r *rail) bool { return r.head != r.tail && r.qp.Handle != 0 })
}

// failRails makes the device flush all rails.
func (e *endpoint) failRails(err error) {
	for _, r := range e.rails {
		e.loseRail(r, err)
	}
}

// destroy ends the devices' use of memory for the peer, over all queue pairs.
func (e *endpoint) destroy() {
	q := e.qp
	e.qp = ibv.QP{}
	e.d.destroyQP(0, q)
	e.d.discard(e.rails)
}
