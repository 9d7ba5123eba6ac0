package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/weft-mpi/weft/mpi"
)

// The plays that several states share, or that are long. Where the third party
// dies, every operation of the pair succeeds.

// ssend sends message id in synchronous mode.
func (p *player) ssend(want outcome, n, id int) {
	p.op("Ssend", want, func() error { return mpi.Ssend(p.c, pattern(n, id), p.partner(), tagWork) })
}

// held blocks the receiver in a call until the death: its partner's or, when
// release says so, the third party's.
func (p *player) held() {
	p.op("Recv of what holds it", fails, func() error {
		_, err := mpi.Recv(p.c, []byte{0}, 0, tagGo)
		return err
	})
}

// release ends the receiver's held once the third party is dead. A sender that
// is to die waits here for that.
func (p *player) release() {
	p.gone()
	if p.Role == third {
		p.op("Send of what it is held by", succeeds, func() error { return mpi.Send(p.c, []byte{0}, 1, tagGo) })
	}
}

// volley sends a burst of eager messages of several lengths.
func (p *player) volley() {
	for i := range burst {
		p.op(fmt.Sprint("Send ", i), either, func() error { return mpi.Send(p.c, pattern(volleyLength(i), i), 1, tagWork) })
	}
}

func volleyLength(i int) int { return 1 + i*i*60 } // up to 3 KB

// volleyed receives a volley: messages without a gap, and after the first
// failure no more.
func (p *player) volleyed(want outcome) {
	for i := range burst {
		if p.recv(want, volleyLength(i), i, tagWork) != nil {
			want = fails
		}
	}
}

// unanswered is a synchronous send that the receiver has no receive for while it
// is held.
func (p *player) unanswered(n int) {
	r, err := mpi.Issend(p.c, pattern(n, 1), 1, tagWork)
	p.release()
	p.wait("Issend", fails, r, err)
}

// transfer is a large message whose receive is posted, or soon will be.
func transfer(n int) [2]func(*player) {
	return [2]func(*player){
		func(p *player) { p.ssend(either, n, 1) },
		func(p *player) { p.recv(either, n, 1, tagWork) },
	}
}

// dialBoth: each sends to the other.
func dialBoth(p *player) {
	s, serr := mpi.Issend(p.c, pattern(short, p.me), p.partner(), tagWork)
	p.recv(either, short, p.partner(), tagWork)
	p.wait("Issend", either, s, serr)
}

// mprobed has the receiver match a message by Mprobe, and receive it after the
// death.
func (p *player) mprobed(n int, want outcome) {
	var m mpi.Message
	if p.op("Mprobe", succeeds, func() (err error) { m, _, err = mpi.Mprobe(p.c, 0, tagWork); return err }) != nil {
		return
	}
	p.at("matched")
	p.gone()
	b := make([]byte, n)
	var st mpi.Status
	if p.op("Mrecv", want, func() (err error) { st, err = mpi.Mrecv(&m, b); return err }) == nil {
		p.check("Mrecv", st, b, n, 1, 0)
	}
}

// anySource: a receive from any rank outlives the death of one, once that is
// acknowledged, and gets the message of another.
func anySource(p *player) {
	b := make([]byte, short)
	r, err := mpi.Irecv(p.c, b, mpi.AnySource, tagWork)
	p.at("posted")
	from := 0
	if p.Role == sender {
		from = 2
		p.told()
	}
	var st mpi.Status
	if p.op("Irecv from any source", succeeds, func() error {
		for err == nil {
			if st, err = mpi.Wait(&r); !errors.Is(err, mpi.ErrProcFailedPending) {
				break
			}
			_, err = p.c.AckFailed(1) // of which there is one
		}
		return err
	}) == nil {
		p.check("Irecv from any source", st, b, short, 1, from)
	}
}

// cancelling: a send is asked back.
func cancelling(p *player) {
	r, err := mpi.Issend(p.c, pattern(short, 1), 1, tagWork)
	if err == nil {
		err = mpi.Cancel(&r)
	}
	st, err := p.wait("cancelled Issend", either, r, err)
	if err == nil && !st.Cancelled {
		p.wrong("an Issend that no receive has taken was not cancelled")
	}
	p.release()
}

// persistent: a burst of rounds, one after another. A request that has failed
// can be started again, and fails again.
func persistent(n int) [2]func(*player) {
	rounds := func(p *player, r mpi.Request, err error, before, after func(i int, st mpi.Status)) {
		if err != nil {
			p.wrong("no persistent request: %v", err)
			return
		}
		again := func(want outcome) (st mpi.Status, err error) {
			err = p.op("Start and Wait", want, func() error {
				if err := mpi.Start(&r); err != nil {
					return err
				}
				st, err = mpi.Wait(&r)
				return err
			})
			return st, err
		}
		for i := range burst {
			before(i, mpi.Status{})
			st, err := again(either)
			if err != nil {
				again(fails)
				break
			}
			after(i, st)
		}
		p.op("RequestFree", succeeds, func() error { return mpi.RequestFree(&r) })
	}
	none := func(int, mpi.Status) {}
	return [2]func(*player){
		func(p *player) {
			b := make([]byte, n)
			r, err := mpi.SendInit(p.c, b, 1, tagWork)
			rounds(p, r, err, func(i int, _ mpi.Status) { copy(b, pattern(n, i)) }, none)
		},
		func(p *player) {
			b := make([]byte, n)
			r, err := mpi.RecvInit(p.c, b, 0, tagWork)
			rounds(p, r, err, none, func(i int, st mpi.Status) { p.check("persistent receive", st, b, n, i, 0) })
		},
	}
}

// buffered: copies of messages that are announced and not received are in the
// attached buffer, which comes back whatever becomes of them.
func buffered(p *player) {
	room := make([]byte, burst*(long+mpi.BsendOverhead))
	if err := p.w.BufferAttach(room); err != nil {
		p.wrong("BufferAttach: %v", err)
		return
	}
	for i := range burst {
		p.op("Bsend", either, func() error { return mpi.Bsend(p.c, pattern(long, i), 1, tagWork) })
	}
	p.release()
	back, err := p.w.BufferDetach(context.Background())
	if err != nil || len(back) != len(room) || &back[0] != &room[0] {
		p.wrong("BufferDetach: %d bytes, want the %d of BufferAttach: %v", len(back), len(room), err)
	}
}

// unentered is the outcome of a call that waits for all ranks: it fails unless the
// dead rank may have done its part before.
func (p *player) unentered() outcome {
	if p.victim() == 1 {
		return fails
	}
	return either
}

// outside keeps rank 1 out of a collective call until the death, which comes when
// the others are about to enter.
func (p *player) outside() {
	if p.me != 1 {
		p.try("Send to rank 1", succeeds, func() error { return mpi.Send(p.c, []byte{0}, 1, tagGo) })
		return
	}
	for _, i := range []int{0, 2, 3} {
		p.try("Recv", succeeds, func() error { _, err := mpi.Recv(p.c, []byte{0}, i, tagGo); return err })
	}
	p.at("outside")
	p.gone()
}

// enter is a collective call which rank 1 enters after the death, the others
// before or meanwhile.
func (p *player) enter(want outcome, call func() error) {
	p.outside()
	p.op("the collective call", want, call)
	p.gone() // the victim fails only if it is killed
	p.told()
	p.after()
}
