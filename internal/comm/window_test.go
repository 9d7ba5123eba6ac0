package comm

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/weft-mpi/weft/rma"
)

// Ranks write to each other's parts and read them, behind a barrier.
func TestAWindowIsWrittenAndRead(t *testing.T) {
	for _, n := range []int{1, 2, 5} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			for rank, err := range each(engines(t, n), func(ctx context.Context, in *Instance) error {
				me := in.World.Rank
				mem := make([]byte, 8*n)
				c, w, err := in.World.Window(ctx, Spec{}, Part{Mem: mem, Unit: 1})
				if err != nil {
					return err
				}
				if err := w.Fence(ctx, 0); err != nil {
					return err
				}
				for r := range n {
					var b [8]byte
					binary.LittleEndian.PutUint64(b[:], uint64(100*me+r))
					if err := w.Do(&rma.Transfer{Src: b[:], Target: r, At: 8 * me}); err != nil {
						return err
					}
				}
				if err := w.Fence(ctx, rma.NoSucceed); err != nil {
					return err
				}
				for r := range n {
					if got := binary.LittleEndian.Uint64(mem[8*r:]); got != uint64(100*r+me) {
						return fmt.Errorf("from %d: %d", r, got)
					}
				}
				err = w.Free(ctx)
				c.Free()
				return err
			}) {
				if err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
			}
		})
	}
}
