package mpi_test

import (
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// Every call on a freed communicator answers ErrComm, by whichever copy of it; its
// parent and other duplicates go on.
func TestAFreedCommunicatorAnswersErrComm(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			d := get(c.Dup())
			kept := get(d.Dup())
			copied := d.WithContext(t.Context())
			ok(d.BufferAttach(room(1)))
			get(d.BufferDetach())
			ok(d.Free())
			b := make([]byte, 8)
			for _, freed := range []*mpi.Comm{d, copied} {
				want(t, "Send", mpi.Send(freed, b, 1, 1), mpi.ErrComm)
				want(t, "Bsend", mpi.Bsend(freed, b, 1, 1), mpi.ErrComm)
				_, err := mpi.Recv(freed, b, 1, 1)
				want(t, "Recv", err, mpi.ErrComm)
				_, err = mpi.Irecv(freed, b, mpi.ProcNull, 1)
				want(t, "Irecv", err, mpi.ErrComm)
				_, err = mpi.SendInit(freed, b, 1, 1)
				want(t, "SendInit", err, mpi.ErrComm)
				_, _, err = mpi.Iprobe(freed, mpi.AnySource, mpi.AnyTag)
				want(t, "Iprobe", err, mpi.ErrComm)
				_, err = mpi.Sendrecv(freed, b, 1, 1, b, 1, 1)
				want(t, "Sendrecv", err, mpi.ErrComm)
				want(t, "Barrier", freed.Barrier(), mpi.ErrComm)
				_, err = freed.Dup()
				want(t, "Dup", err, mpi.ErrComm)
				want(t, "BufferAttach", freed.BufferAttach(b), mpi.ErrComm)
				_, err = freed.BufferDetach()
				want(t, "BufferDetach", err, mpi.ErrComm)
				want(t, "BufferFlush", freed.BufferFlush(), mpi.ErrComm)
				_, err = freed.BufferIflush()
				want(t, "BufferIflush", err, mpi.ErrComm)
				want(t, "Free", freed.Free(), mpi.ErrComm)
				if freed.Rank() != c.Rank() || freed.Size() != 2 {
					t.Errorf("a freed communicator has the rank %d of %d", freed.Rank(), freed.Size())
				}
			}
			want(t, "Free of the World's own", c.Free(), mpi.ErrComm)
			want(t, "Free of the World's own", w.Comm().Free(), mpi.ErrComm)
			for _, live := range []*mpi.Comm{c, kept, get(c.Dup())} {
				pingpong(live, 1)
				ok(live.Barrier())
			}
			ok(w.Finalize())
			want(t, "Free after Finalize", kept.Free(), mpi.ErrComm)
		}, opts...)
	})
}

// What is under way when a communicator is freed goes on to its end, matched
// messages and persistent operations too.
func TestOperationsOutliveTheirCommunicator(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		for _, n := range sizes {
			act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
				d := get(c.Dup())
				ok(d.BufferAttach(make([]byte, n+mpi.BsendOverhead)))
				other := 1 - c.Rank()
				in, again, last := make([]byte, n), make([]byte, n), make([]byte, n)
				rs := []mpi.Request{get(mpi.Irecv(d, in, other, 1)), get(mpi.RecvInit(d, again, other, 2)), get(mpi.Isend(d, pattern(n, 1), other, 1))}
				ok(mpi.Start(&rs[1]))
				rs = append(rs, get(mpi.Isend(d, pattern(n, 3), other, 3)))
				m, _, err := mpi.Mprobe(d, other, 3)
				ok(err)
				ok(mpi.Bsend(d, pattern(n, 2), other, 2))
				ok(d.Free())
				rs = append(rs, get(mpi.Imrecv(&m, last)))
				persistent := rs[1]
				ok(mpi.Waitall(rs, nil))
				if differs(in, 1) >= 0 || differs(again, 2) >= 0 || differs(last, 3) >= 0 {
					t.Errorf("messages of %d bytes have others", n)
				}
				ok(mpi.RequestFree(&persistent))
			}, opts...)
		}
	})
}

// A goroutine that is blocked in a call on a communicator is not disturbed when
// another frees it.
func TestAFreedCommunicatorLeavesItsWaitersAlone(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			d := get(c.Dup())
			other := 1 - c.Rank()
			in := make([]byte, 8)
			join := aside(func() { get(mpi.Recv(d, in, other, 1)) })
			for blocked := false; !blocked; {
				for _, p := range w.Pending() {
					blocked = blocked || p.Blocked && p.Tag == 1
				}
			}
			ok(c.Barrier())
			s := get(mpi.Issend(d, pattern(8, 5), other, 1))
			ok(d.Free())
			join()
			get(mpi.Wait(&s))
			if differs(in, 5) >= 0 {
				t.Error("other bytes have come")
			}
		})
	})
}
