package mpi_test

import (
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// A report looks for messages before it says that none has come.
func TestAReportLooksForMessages(t *testing.T) {
	for _, fabric := range []string{"mem", "shm"} {
		t.Run(fabric, func(t *testing.T) {
			sent := newSignal()
			act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
				if c.Rank() == 0 {
					ok(c.Barrier())
					ok(mpi.Send(c, []byte{1}, 1, 5))
					sent.give()
					ok(c.Barrier())
					return
				}
				r := begin(mpi.Irecv(c, make([]byte, 1), 0, 5))
				ok(c.Barrier())
				sent.take()
				var text strings.Builder
				if ok(w.Report(&text)); strings.Contains(text.String(), "no message has matched") {
					t.Errorf("the message has come, and the report says:\n%s", &text)
				}
				get(mpi.Wait(r))
				ok(c.Barrier())
			}, mpi.WithoutProgressThread())
		})
	}
}
