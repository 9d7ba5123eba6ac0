package mpi_test

import (
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// sevens are bytes of which every eighth is not sent.
type sevens struct {
	V   [7]byte
	Gap byte `mpi:"-"`
}

// bufSide is side for Bufs.
type bufSide struct {
	c       *mpi.Comm
	out, in mpi.Buf
	rs      [2]mpi.Request
}

// bufExchanges are a message each way; rank 0 begins where it matters.
var bufExchanges = map[string]func(s *bufSide) error{
	"Send and Recv": func(s *bufSide) error {
		other := 1 - s.c.Rank()
		if s.c.Rank() == 0 {
			if err := s.c.Send(s.out, other, 1); err != nil {
				return err
			}
		}
		_, err := s.c.Recv(s.in, other, 1)
		if s.c.Rank() == 1 && err == nil {
			err = s.c.Send(s.out, other, 1)
		}
		return err
	},
	"Isend, Irecv and Waitall": func(s *bufSide) (err error) {
		other := 1 - s.c.Rank()
		if s.rs[0], err = s.c.Irecv(s.in, other, 1); err == nil {
			s.rs[1], err = s.c.Isend(s.out, other, 1)
		}
		if err != nil {
			return err
		}
		return mpi.Waitall(s.rs[:], nil)
	},
	"Sendrecv": func(s *bufSide) error {
		_, err := s.c.Sendrecv(s.out, 1-s.c.Rank(), 1, s.in, 1-s.c.Rank(), 1)
		return err
	},
}

func TestMessagesOfBufsAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	rounds := allocRounds()
	onEach(t, func(t *testing.T, fabric string) {
		for name, do := range ordered(bufExchanges) {
			for _, n := range []int{8, 8192} {
				for kind, make := range ordered(map[string]func() mpi.Buf{
					"dense":     func() mpi.Buf { return mpi.Of(make([]byte, n)) },
					"with gaps": func() mpi.Buf { return mpi.OfStructs(make([]sevens, n/8)) },
				}) {
					t.Run(fmt.Sprintf("%s/%s/%d", name, kind, n), func(t *testing.T) {
						run(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) error {
							s := &bufSide{c: w.Comm(), out: make(), in: make()}
							return steady(t, c, "a message each way", rounds, func() error { return do(s) })
						})
					})
				}
			}
		}
	})
}
