package mpi_test

import (
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// Self is rank 0 of 1 to itself, whatever its rank in the job.
func TestSelfIsACommunicatorOfTheRankAlone(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) {
			s := w.Self()
			if s.Rank() != 0 || s.Size() != 1 || w.Self() != s {
				t.Errorf("Self is rank %d of %d", s.Rank(), s.Size())
			}
			dup := get(s.Dup())
			for _, s := range []*mpi.Comm{s, dup, get(dup.Dup())} {
				exchangeAlone(t, s, c.Rank())
			}
			want(t, "Send", mpi.Send(s, none, 1, 0), mpi.ErrRank)
			want(t, "Free", s.Free(), mpi.ErrComm)
			ok(dup.Free())
			exchangeAlone(t, s, c.Rank())
			for range 4 {
				ok(s.Barrier())
			}
			all := get(c.Dup())
			ok(all.Barrier())
			if n := mpi.Known(w); n != 4 {
				t.Errorf("%d communicators are known: all, Self, and a duplicate of each are left", n)
			}
		})
	})
}

// exchangeAlone sends messages of each kind to oneself.
func exchangeAlone(t *testing.T, s *mpi.Comm, mark int) {
	from := func(what string, st mpi.Status) {
		t.Helper()
		if st.Source != 0 || st.Tag != 3 {
			t.Errorf("%s: %+v", what, st)
		}
	}
	out, in := []int{mark}, []int{-1}
	from("Sendrecv", get(mpi.Sendrecv(s, out, 0, 3, in, mpi.AnySource, 3)))
	for _, source := range []int{0, mpi.AnySource} {
		ok(mpi.Send(s, out, 0, 3))
		from("Probe", get(mpi.Probe(s, source, 3)))
		m, st, err := mpi.Mprobe(s, source, mpi.AnyTag)
		ok(err)
		from("Mprobe", st)
		from("Mrecv", get(mpi.Mrecv(&m, in)))
		r := get(mpi.Irecv(s, in, source, 3))
		ok(mpi.Ssend(s, out, 0, 3))
		from("Wait", get(mpi.Wait(&r)))
	}
	send, recv := get(mpi.SendInit(s, out, 0, 3)), get(mpi.RecvInit(s, in, 0, 3))
	psend, precv := get(mpi.PsendInit(s, out, 1, 0, 3)).Request, get(mpi.PrecvInit(s, in, 1, 0, 3)).Request
	rs, sts := []mpi.Request{recv, send, precv, psend}, make([]mpi.Status, 4)
	ok(mpi.Startall(rs))
	ok(mpi.Pready(0, psend))
	ok(mpi.Waitall(rs, sts))
	from("persistent", sts[0])
	from("partitioned", sts[2])
	for i := range rs {
		ok(mpi.RequestFree(&rs[i]))
	}
	if in[0] != mark {
		t.Errorf("the message is %d, want %d", in[0], mark)
	}
}
