package tcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/internal/greet"
	"github.com/weft-mpi/weft/internal/limits"
)

// dial tries the peer's addresses one after another, with the whole greeting:
// another host, or another job, may be at the same address. An address that says
// clearly that the peer is not there is not tried again. The others are, each round
// with more time for each: a packet may be lost, strangers may hold the places at
// the door, and a shared port may lead to a process that is stopped.
//
// Where both dial, the connection of the lower rank is used; the other rank goes on
// trying, since that one may fail. A rank that has reached no address in one round
// uses the peer's own connection if it comes.
func (d *Domain) dial(p fabric.Peer, u use, a card) {
	why := map[netip.AddrPort]error{} // by address
	all := order(a.doors(), d.doors, d.won(p))
	doors := all
	t := tries{left: d.set.dial, each: firstTry}
	for round := 0; len(doors) > 0 && (t.left > 0 || round < leastRounds); round++ {
		if round > 0 {
			d.redials.Add(1)
		}
		crossed := false
		var again []door
		for _, o := range doors {
			err := t.try(func(limit time.Duration) error { return d.greetAt(p, u, o.addr, a.Token, limit) })
			switch {
			case err == nil, d.ctx.Err() != nil:
				return
			case errors.Is(err, greet.ErrCrossed):
				crossed = true
			}
			if definite(err) || !full(why[o.addr]) { // a full peer may lack the descriptor to say it again
				why[o.addr] = fmt.Errorf("%v: %w", o.addr, err)
			}
			if !definite(err) {
				again = append(again, o)
			}
			if crossed {
				again = doors
				break
			}
		}
		doors = again
		if !crossed {
			d.despair(p, u)
		}
		if !d.pause(retryPause) || !d.dialing(p, u) {
			return
		}
		t.left -= retryPause
		t.each += t.each / 4
	}
	var errs []error
	for _, o := range all {
		errs = append(errs, why[o.addr])
	}
	d.unreachable(p, u, errs)
}

// tries is the time that a dial has. Time in which the process was stopped does not
// count: no attempt takes more of it than its limit.
type tries struct {
	left time.Duration
	each time.Duration // until the peer has proved that it is the one
}

func (t *tries) try(f func(limit time.Duration) error) error {
	begin, limit := time.Now(), min(t.each, max(t.left, firstTry))
	err := f(limit)
	t.left -= min(time.Since(begin), limit)
	return err
}

// definite reports whether the same address would say the same again.
func definite(err error) bool {
	var no *greet.RefusedError
	return errors.Is(err, unix.ECONNREFUSED) || limits.Refused(err) || errors.Is(err, greet.ErrStranger) ||
		errors.Is(err, greet.ErrAbsent) || errors.As(err, &no) && !full(err)
}

// full reports whether the peer refuses since it has no descriptor left.
func full(err error) bool {
	no, ok := errors.AsType[*greet.RefusedError](err)
	return ok && strings.HasPrefix(no.Reason, fullMark)
}

// unreachable ends a dial without a connection, unless the peer has made one.
func (d *Domain) unreachable(p fabric.Peer, u use, errs []error) {
	if !d.expect(p, u) || !d.pause(unreachedPause) {
		return
	}
	d.mu.Lock()
	late := d.links[p].state[u] != linkIdle
	if !late {
		d.links[p].wanted[u] = false
	}
	d.mu.Unlock()
	switch {
	case late:
		return // the peer has connected meanwhile
	case u == forBulk: // the other connection serves as well
		d.cfg.Log.Debug("tcp: no connection for bulk data", "rank", p, "err", errors.Join(errs...))
		return
	}
	mute := func(err error) bool { // the kernel has taken the connection, and the rank does not reply
		op, ok := errors.AsType[*net.OpError](err)
		return ok && op.Op == "read" && op.Timeout()
	}
	remedy := "check that the hosts reach each other over these addresses, or choose others with " + envInterfaces
	if slices.ContainsFunc(errs, func(err error) bool { return errors.Is(err, greet.ErrAbsent) }) {
		remedy = "its process has ended"
	} else if slices.ContainsFunc(errs, mute) {
		remedy += "; a process that does not reply may be stopped (a signal, a debugger), without a processor, or at its limit on open files (ulimit -n)"
	}
	d.post(event{peer: p, fd: -1, err: &fabric.Error{Op: "connect over TCP", Peer: p, HasPeer: true,
		Err: fmt.Errorf("%w: %w", fabric.ErrUnreachable, errors.Join(errs...)), Remedy: remedy}})
}

// pause returns false if the domain closes meanwhile.
func (d *Domain) pause(t time.Duration) bool {
	select {
	case <-d.ctx.Done():
		return false
	case <-time.After(t):
		return true
	}
}

// greetAt makes a connection with one address of a peer, which has to prove within
// limit that it is the one.
func (d *Domain) greetAt(p fabric.Peer, u use, addr netip.AddrPort, token greet.Token, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(d.ctx, limit)
	defer cancel()
	end, _ := ctx.Deadline()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", addr.String())
	if err != nil {
		return err
	}
	defer conn.Close()
	defer greet.Bound(d.ctx, conn, time.Until(end))()
	offer := []byte{byte(u), d.ways()}
	answer, err := d.self.Dial(conn, uint32(p), token, func() ([]byte, error) {
		greet.Bound(d.ctx, conn, min(d.set.dial, greet.Limit)) // it is the one, and may be busy
		return offer, nil
	})
	if err == nil && len(answer) != 1 {
		err = fmt.Errorf("an answer of %d bytes", len(answer))
	}
	if err != nil {
		return err
	}
	if err = d.sameTLS(p, answer[0]); err != nil {
		return err
	}
	ready := func() error { return greet.Ready(conn) }
	var seal *sealed
	if d.tls != nil {
		if seal, ready, err = d.sealDialled(conn, p, token, append(offer, answer...)); err != nil {
			return err
		}
	}
	fd, err := d.duplicate(conn)
	if err != nil {
		return err
	}
	if !d.made(p, u, linkDialing) {
		unix.Close(fd)
		return greet.ErrCrossed
	}
	if err = ready(); err != nil {
		unix.Close(fd)
		d.unmade(p, u)
		return err
	}
	d.win(p, addr)
	d.post(event{peer: p, use: u, mute: answer[0]&wayMute != 0, fd: fd, seal: seal})
	return nil
}
