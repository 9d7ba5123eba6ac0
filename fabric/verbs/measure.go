package verbs

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// Rendezvous says how a port moves large messages, and why.
type Rendezvous struct {
	// Write: the sender writes the message (RDMA WRITE); else the receiver
	// reads it (RDMA READ).
	Write bool
	// Both: of messages that come together every second is read, the others are
	// written. So it is where a processor moves the bytes when it posts the work
	// request: both sides' do then.
	Both bool
	// Forced: the environment has chosen, and nothing was measured.
	Forced bool
	// What measureSize bytes took, in loopback on the port: a READ, and a WRITE
	// together with the registration of what it writes to. 0 if not measured.
	ReadTime, WriteTime time.Duration
	// PostTime is the part of WriteTime in which the library was called.
	PostTime time.Duration
}

const (
	// measureSize is what is moved at a time, in measureDepth work requests that
	// are under way at once, as those of several messages are.
	measureSize  = 1 << 20
	measureDepth = 4
	// measureRounds is how many there are of each, of which the fastest counts:
	// others use the machine meanwhile, the other ranks at the same time.
	measureRounds = 5
	// measureMargin is by how many percent WRITE has to be faster: READ needs
	// one message less, and its registrations are cached.
	measureMargin = 10
	measureLimit  = 2 * time.Second
)

// measured keeps what was found, by device, port and GID: a device does not
// change while the process lives.
var measured struct {
	sync.Mutex
	known map[portKey]Rendezvous
}

type portKey struct {
	device      string
	number, gid int
}

// Rendezvous says how large messages go over the port of the device, which is
// measured at first use: some milliseconds in which the device is busy.
func (p *Port) Rendezvous(device string) (Rendezvous, error) {
	if p.Problem != nil || p.Chosen < 0 {
		return Rendezvous{}, fmt.Errorf("port %d can't be used", p.Number)
	}
	s := selection{dev: Device{Name: device}, port: *p}
	return s.rendezvous(os.Getenv)
}

func (s *selection) rendezvous(getenv func(string) string) (Rendezvous, error) {
	switch v := getenv(envRendezvous); v {
	case "read", "write", "both":
		return Rendezvous{Write: v == "write", Both: v == "both", Forced: true}, nil
	case "":
	default:
		return Rendezvous{}, fmt.Errorf("%s=%s: write read, write or both, or nothing to have it measured", envRendezvous, v)
	}
	a, g := s.port.attr, s.gid()
	p := portInfo{device: s.dev.Name, number: s.port.Number, gidIndex: g.Index, gid: g.Address.As16(), lid: a.lid, mtu: a.mtu,
		ethernet: s.port.ethernet(), reads: uint8(min(a.reads, 16)), answers: uint8(min(a.answers, 16)), maxMessage: a.maxMessage}
	measured.Lock()
	defer measured.Unlock()
	k := portKey{p.device, p.number, p.gidIndex}
	if r, ok := measured.known[k]; ok {
		return r, nil
	}
	r, err := measure(p, openLibrary)
	if err != nil {
		return r, fmt.Errorf("measure %s: %w", p.device, err)
	}
	if measured.known == nil {
		measured.known = map[portKey]Rendezvous{}
	}
	measured.known[k] = r
	return r, nil
}

// rendezvous says how large messages go. Over several ports they are read: each
// receive that is to be written to would be registered with all of them.
func rendezvous(cfg fabric.Config, ss []selection) (Rendezvous, error) {
	if forced := os.Getenv(envRendezvous) != ""; !forced && (len(ss) > 1 || cfg.Size == 1) {
		return Rendezvous{}, nil
	}
	r, err := ss[0].rendezvous(os.Getenv)
	if err != nil && os.Getenv(envRendezvous) == "" {
		cfg.Log.Warn("verbs: large messages are read by their receiver", "err", err)
		return Rendezvous{}, nil
	}
	if err == nil && !r.Forced {
		cfg.Log.Debug("verbs: measured", "read", r.ReadTime, "write", r.WriteTime, "post", r.PostTime)
	}
	return r, err
}

// measure compares READ and WRITE between two queue pairs of the port.
func measure(p portInfo, openNIC func(nicOptions) (nic, error)) (r Rendezvous, err error) {
	n, err := openNIC(nicOptions{device: p.device, port: p.number, gidIndex: p.gidIndex, global: p.ethernet || p.lid == 0,
		srqDepth: 16, recvCQE: 32, sendCQE: 2 * doneRing})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, n.close()) }()
	size := measureSize
	if p.maxMessage > 0 {
		size = min(size, p.maxMessage*measureDepth)
	}
	var mem [2][]byte // local, remote
	for i := range mem {
		if mem[i], err = mapMemory(size); err != nil {
			return r, err
		}
		defer unmap(mem[i])
	}
	local, err := n.register(addressOf(mem[0]), size, accessLocalWrite)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, n.deregister(local)) }()
	source, err := n.register(addressOf(mem[1]), size, accessLocalWrite|accessRemoteRead)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, n.deregister(source)) }()
	// Made last, so that they are destroyed before their memory is nobody's.
	var qs [2]qp
	for i := range qs {
		if qs[i], _, err = n.createQP(); err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, n.destroyQP(qs[i])) }()
	}
	for i := range qs {
		err = n.connectQP(qs[i], path{qpn: qs[1-i].number, psn: uint32(1 + i), myPSN: uint32(2 - i), gid: p.gid, lid: p.lid,
			mtu: p.mtu, reads: min(p.reads, p.answers), answers: p.answers})
		if err != nil {
			return r, err
		}
	}
	s := sendDesc{qp: qs[0].id, request: request{remote: addressOf(mem[1]), work: work{segments: 1, flags: flagSignaled}}}
	s.seg[0] = segment{addressOf(mem[0]), uint32(size / measureDepth), local.lkey}
	var reads, writes, posts []time.Duration
	for i := range 1 + measureRounds {
		start := time.Now()
		s.op, s.rkey = opRead, source.rkey
		if _, err = once(n, s); err != nil {
			return r, err
		}
		read := time.Since(start)
		start = time.Now()
		target, err := n.register(addressOf(mem[1]), size, accessLocalWrite|accessRemoteWrite)
		if err != nil {
			return r, err
		}
		s.op, s.rkey = opWrite, target.rkey
		post, err := once(n, s)
		if err = errors.Join(err, n.deregister(target)); err != nil {
			return r, err
		}
		if i > 0 { // the first of each warms up
			reads, writes, posts = append(reads, read), append(writes, time.Since(start)), append(posts, post)
		}
	}
	r.ReadTime, r.WriteTime, r.PostTime = slices.Min(reads), slices.Min(writes), slices.Min(posts)
	r.choose()
	return r, nil
}

// choose goes by the times. A device that carries a WRITE out by itself has
// taken it within a small part of the time. One in software that leaves the work
// to another thread is taken for such a device.
func (r *Rendezvous) choose() {
	r.Both = 2*r.PostTime > r.WriteTime
	r.Write = !r.Both && r.WriteTime*(100+measureMargin) < r.ReadTime*100
}

// once carries out a work request, and those behind it, and waits for their end.
// post is how long it took to post them.
func once(n nic, s sendDesc) (post time.Duration, err error) {
	sends, left := measureDepth, measureDepth
	for i := range sends {
		r := &n.rings().sends[i]
		r.work, r.remote, r.rkey, r.seg, r.qp = s.work, s.remote, s.rkey, s.seg, s.qp
		s.seg[0].addr += uint64(s.seg[0].length)
		s.remote += uint64(s.seg[0].length)
	}
	for start := time.Now(); ; {
		got := n.turn(sends, 0, 0, doneRing, 1)
		if sends > 0 {
			post = time.Since(start)
		}
		switch {
		case got.err() != nil:
			return post, got.err()
		case got.refused() > 0:
			i := slices.IndexFunc(n.rings().sends, func(s sendDesc) bool { return s.refused != 0 })
			return post, fmt.Errorf("ibv_post_send: %w", syscall.Errno(n.rings().sends[i].refused))
		case got.sends() > 0:
			for _, c := range n.rings().sdone[:got.sends()] {
				if c.status != 0 {
					return post, errors.New(statuses[min(int(c.status), len(statuses)-1)].what)
				}
			}
			if left -= got.sends(); left == 0 {
				return post, nil
			}
		case time.Since(start) > measureLimit:
			return post, fmt.Errorf("no answer of the device within %v", measureLimit)
		}
		sends = 0
		runtime.Gosched()
	}
}
