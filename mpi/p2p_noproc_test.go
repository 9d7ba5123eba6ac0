package mpi_test

import (
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// The request of a receive of MessageNoProc ends, alone and beside others, of
// whichever World, with the status of a receive from ProcNull.
func TestARequestOfMessageNoProcEndsBesideAnyOther(t *testing.T) {
	nobody := mpi.Status{Source: mpi.ProcNull, Tag: mpi.AnyTag}
	imrecv := func() mpi.Request {
		m := mpi.MessageNoProc
		r := get(mpi.Imrecv(&m, []byte{77}))
		if r.Null() || m != (mpi.Message{}) {
			t.Errorf("Imrecv gives the request %+v and leaves the message %+v", r, m)
		}
		return r
	}
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			for name, complete := range ordered(completions) {
				r := imrecv()
				if st, err := complete(&r); st != nobody || err != nil || !r.Null() {
					t.Errorf("%s: %+v, %v", name, st, err)
				}
			}
			other := 1 - c.Rank()
			for _, first := range []bool{true, false} {
				rs := []mpi.Request{get(mpi.Irecv(c, make([]byte, 8), other, 1)), imrecv(), imrecv()}
				if first {
					rs[0], rs[1] = rs[1], rs[0]
				}
				ok(mpi.Send(c, make([]byte, 8), other, 1))
				sts := make([]mpi.Status, 3)
				ok(mpi.Waitall(rs, sts))
				if first {
					sts[0], sts[1] = sts[1], sts[0]
				}
				if sts[0].Source != other || sts[0].Bytes != 8 || sts[1] != nobody || sts[2] != nobody {
					t.Errorf("Waitall: %+v", sts)
				}
			}
			open := get(mpi.Irecv(c, make([]byte, 8), other, 2))
			rs := []mpi.Request{open, imrecv()}
			if i, st, err := mpi.Waitany(rs); i != 1 || st != nobody || err != nil {
				t.Errorf("Waitany = %d, %+v, %v", i, st, err)
			}
			rs[1] = imrecv()
			indices, sts := make([]int, 2), make([]mpi.Status, 2)
			if n, err := mpi.Waitsome(rs, indices, sts); n != 1 || indices[0] != 1 || sts[0] != nobody || err != nil {
				t.Errorf("Waitsome = %d, %v, %+v, %v", n, indices, sts, err)
			}
			r := imrecv()
			if ended, st, err := mpi.RequestStatus(r); !ended || st != nobody || err != nil {
				t.Errorf("RequestStatus = %t, %+v, %v", ended, st, err)
			}
			ok(mpi.Cancel(&r))
			copied := r
			ok(mpi.RequestFree(&r))
			_, err := mpi.Wait(&copied)
			want(t, "Wait for a freed request", err, mpi.ErrRequest)
			told := newEnds(t)
			r = imrecv()
			ok(mpi.OnComplete(&r, told.call))
			if e := told.next(); e.st != nobody || e.err != nil {
				t.Errorf("OnComplete: %+v", e)
			}
			want(t, "Start of it", mpi.Start(begin(imrecv(), nil)), mpi.ErrRequest)
			ok(mpi.Cancel(&open))
			get(mpi.Wait(&open))
		})
	})
}
