package mpi_test

import (
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// A message that is on its way is received though another rank never stops
// sending (MPI-4.0 §3.5 asks for no fairness; this is what can be had).
func TestAStreamDoesNotStarveAnotherSender(t *testing.T) {
	const stream, most = 50_000, 10_000
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 3, func(w *mpi.World, c *mpi.Comm) {
			ok(c.Barrier()) // all are connected
			b := make([]byte, 8)
			switch c.Rank() {
			case 1:
				get(mpi.Recv(c, b, 2, 9))
				for range stream {
					ok(mpi.Send(c, b, 0, 1))
				}
			case 2:
				ok(mpi.Send(c, b, 0, 2))
				ok(mpi.Send(c, b, 1, 9))
			default:
				at := -1
				for i := range stream + 1 {
					if st := get(mpi.Recv(c, b, mpi.AnySource, mpi.AnyTag)); st.Source == 2 {
						at = i
					}
				}
				if at < 0 || at > most {
					t.Errorf("the message of rank 2, sent before all others, was received as number %d", at)
				}
			}
		})
	})
}
