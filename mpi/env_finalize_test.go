package mpi_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

func TestEveryCallAfterFinalizeIsRefused(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		run(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) error {
			b := make([]byte, 8)
			persistent, err := mpi.SendInit(c, b, c.Rank(), 1)
			if err != nil {
				return err
			}
			if err := mpi.Send(c, b, c.Rank(), 1); err != nil {
				return err
			}
			probed, _, err := mpi.Mprobe(c, c.Rank(), 1)
			if err != nil {
				return err
			}
			if err := w.Finalize(); err != nil {
				return err
			}
			for _, peer := range []int{0, 1, mpi.ProcNull, mpi.AnySource, 99} {
				for name, send := range map[string]func(*mpi.Comm, []byte, int, int) error{
					"Send": mpi.Send[byte], "Ssend": mpi.Ssend[byte], "Rsend": mpi.Rsend[byte], "Bsend": mpi.Bsend[byte],
				} {
					want(t, name, send(c, b, peer, 0), mpi.ErrComm)
				}
				for name, start := range map[string]func(*mpi.Comm, []byte, int, int) (mpi.Request, error){
					"Isend": mpi.Isend[byte], "Issend": mpi.Issend[byte], "Irsend": mpi.Irsend[byte], "Ibsend": mpi.Ibsend[byte],
					"SendInit": mpi.SendInit[byte], "SsendInit": mpi.SsendInit[byte], "RsendInit": mpi.RsendInit[byte],
					"BsendInit": mpi.BsendInit[byte], "Irecv": mpi.Irecv[byte], "RecvInit": mpi.RecvInit[byte],
				} {
					_, err := start(c, b, peer, 0)
					want(t, name, err, mpi.ErrComm)
				}
				_, err := mpi.Recv(c, b, peer, 0)
				want(t, "Recv", err, mpi.ErrComm)
				_, err = mpi.Probe(c, peer, 0)
				want(t, "Probe", err, mpi.ErrComm)
				_, _, err = mpi.Iprobe(c, peer, 0)
				want(t, "Iprobe", err, mpi.ErrComm)
				_, _, err = mpi.Mprobe(c, peer, 0)
				want(t, "Mprobe", err, mpi.ErrComm)
				_, _, _, err = mpi.Improbe(c, peer, 0)
				want(t, "Improbe", err, mpi.ErrComm)
				_, err = mpi.Sendrecv(c, b, peer, 0, b, peer, 0)
				want(t, "Sendrecv", err, mpi.ErrComm)
				_, err = mpi.SendrecvReplace(c, b, peer, 0, peer, 0)
				want(t, "SendrecvReplace", err, mpi.ErrComm)
				_, err = mpi.Isendrecv(c, b, peer, 0, b, peer, 0)
				want(t, "Isendrecv", err, mpi.ErrComm)
				_, err = mpi.IsendrecvReplace(c, b, peer, 0, peer, 0)
				want(t, "IsendrecvReplace", err, mpi.ErrComm)
			}
			ctx := context.Background()
			_, err = mpi.Mrecv(&probed, b)
			want(t, "Mrecv", err, mpi.ErrComm)
			want(t, "Start", mpi.Start(&persistent), mpi.ErrComm)
			want(t, "Startall", mpi.Startall([]mpi.Request{persistent}), mpi.ErrComm)
			want(t, "RequestFree", mpi.RequestFree(&persistent), 0)
			want(t, "Barrier", c.Barrier(), mpi.ErrComm)
			_, err = c.Dup()
			want(t, "Dup", err, mpi.ErrComm)
			want(t, "BufferAttach", w.BufferAttach(b), mpi.ErrComm)
			want(t, "BufferFlush", w.BufferFlush(ctx), mpi.ErrComm)
			_, err = w.BufferDetach(ctx)
			want(t, "BufferDetach", err, mpi.ErrComm)
			want(t, "Comm.BufferAttach", c.BufferAttach(b), mpi.ErrComm)
			want(t, "Comm.BufferFlush", c.BufferFlush(), mpi.ErrComm)
			_, err = c.BufferDetach()
			want(t, "Comm.BufferDetach", err, mpi.ErrComm)
			for name, flush := range map[string]func() (mpi.Request, error){"BufferIflush": w.BufferIflush, "Comm.BufferIflush": c.BufferIflush} {
				r, err := flush()
				if err == nil {
					_, err = mpi.Wait(&r)
				}
				want(t, name, err, mpi.ErrComm)
			}
			_, err = mpi.GrequestStart(w, nil, nil, nil)
			want(t, "GrequestStart", err, mpi.ErrComm)
			err = w.Finalize()
			want(t, "Finalize", err, mpi.ErrComm)
			if !strings.Contains(err.Error(), "has been finalized") {
				t.Errorf("Finalize: %v", err)
			}
			return nil
		})
	})
}

// A goroutine may be blocked, or about to block, when another finalizes.
func TestFinalizeEndsWhatWaits(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for range 20 {
			run(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) error {
				results := make(chan error)
				pending, err := mpi.Irecv(c, make([]byte, 8), mpi.AnySource, 5)
				if err != nil {
					return err
				}
				const n = 4
				for i := range n {
					go func() {
						source := mpi.AnySource
						if i%2 == 0 {
							source = 1 - c.Rank()
						}
						_, err := mpi.Recv(c, make([]byte, 8), source, 6)
						results <- err
					}()
				}
				if err := w.Finalize(); err != nil {
					return err
				}
				for range n {
					// A rank that has closed its domain may count as gone.
					if err := <-results; !errors.Is(err, mpi.ErrComm) && !errors.Is(err, mpi.ErrProcFailed) {
						t.Errorf("Recv: %v", err)
					}
				}
				if _, err = mpi.Wait(&pending); !errors.Is(err, mpi.ErrComm) && !errors.Is(err, mpi.ErrProcFailed) {
					t.Errorf("Wait: %v", err)
				}
				return nil
			})
		}
	})
}
