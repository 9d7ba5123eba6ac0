package mpi_test

import (
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// A partitioned send whose receiver frees the communicator without a PrecvInit fails,
// whether its description has come before or comes behind, and a later communicator
// is not disturbed.
func TestAPartitionedSendToAFreedCommunicatorFails(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		for _, late := range []bool{false, true} {
			act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
				d := get(c.Dup())
				other := 1 - c.Rank()
				free := func() {
					if c.Rank() == 1 {
						ok(d.Free())
					}
					ok(c.Barrier())
				}
				if late {
					free()
				}
				var r mpi.Request
				if c.Rank() == 0 {
					r = get(mpi.PsendInit(d, make([]byte, 64), 2, other, 3)).Request
				}
				if !late {
					pingpong(c, 1) // its description is here
					free()
				}
				if c.Rank() == 0 {
					ok(mpi.Start(&r))
					if _, err := mpi.Wait(&r); err == nil || !strings.Contains(err.Error(), "its communicator was freed") {
						t.Errorf("the send ends with %v", err)
					}
					ok(mpi.RequestFree(&r))
					ok(d.Free())
				}
				e := get(c.Dup())
				in, out := make([]byte, 64), pattern(64, 2)
				if c.Rank() == 0 {
					r = get(mpi.PsendInit(e, out, 2, other, 3)).Request
				} else {
					r = get(mpi.PrecvInit(e, in, 2, other, 3)).Request
				}
				ok(mpi.Start(&r))
				if c.Rank() == 0 {
					ok(mpi.PreadyRange(0, 1, r))
				}
				if get(mpi.Wait(&r)); c.Rank() == 1 && differs(in, 2) >= 0 {
					t.Error("other bytes have come")
				}
				ok(mpi.RequestFree(&r))
				ok(e.Free())
			})
		}
	})
}
