package mpi_test

import (
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

func TestPingPongCarriesEverySize(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		run(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) error {
			for _, n := range []int{0, 1, 8, 48, 49, 1000, 8192, 8193, 16000, 20 << 10, 64 << 10, 200 << 10, 4 << 20} {
				out, in := make([]byte, n), make([]byte, n)
				for i := range out {
					out[i] = byte(i*7 + n)
				}
				for range 20 {
					if c.Rank() == 0 {
						if err := mpi.Send(c, out, 1, 3); err != nil {
							return err
						}
						if _, err := mpi.Recv(c, in, 1, 3); err != nil {
							return err
						}
					} else {
						if _, err := mpi.Recv(c, in, 0, 3); err != nil {
							return err
						}
						if err := mpi.Send(c, in, 0, 3); err != nil {
							return err
						}
					}
					if string(in) != string(out) {
						t.Errorf("%d bytes came back changed", n)
					}
				}
			}
			return nil
		})
	})
}
