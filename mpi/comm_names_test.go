package mpi_test

import (
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// A name is the communicator's, by whichever handle, and no duplicate's.
func TestACommunicatorHasTheNameItWasGiven(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			d := get(c.Dup())
			for _, x := range []struct {
				c    *mpi.Comm
				want string
			}{{c, "MPI_COMM_WORLD"}, {w.Comm(), "MPI_COMM_WORLD"}, {w.Self(), "MPI_COMM_SELF"}, {d, ""}} {
				if got := x.c.Name(); got != x.want {
					t.Errorf("the name is %q, want %q", got, x.want)
				}
			}
			most := strings.Repeat("n", mpi.MaxObjectName)
			for _, name := range []string{"rows", "", most} {
				ok(d.SetName(name))
				if got := d.WithContext(t.Context()).Name(); got != name {
					t.Errorf("the name is %q, want %q", got, name)
				}
			}
			for _, name := range []string{most + "n", "a\x00b"} {
				wantWords(t, "SetName", d.SetName(name), mpi.ErrArg, "127")
			}
			if d.Name() != most || get(d.Dup()).Name() != "" {
				t.Errorf("the name is %q, the duplicate's not empty", d.Name())
			}
			ok(c.SetName(""))
			if c.Name() != "" {
				t.Errorf("the name is %q", c.Name())
			}
		})
	})
}

// Errors and reports say which communicator they are about.
func TestErrorsAndReportsNameTheCommunicator(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			d := get(c.Dup())
			ok(d.SetName("rows"))
			wantWords(t, "Send", mpi.Send(d, none, 7, 0), mpi.ErrRank, `rank 7 is not in the communicator "rows" of 2 ranks`)
			wantWords(t, "Bcast", mpi.Bcast(d, none, 7), mpi.ErrRoot, `root 7 is not in the communicator "rows" of 2 ranks`)
			r := get(mpi.Irecv(d, make([]byte, 1), 1-c.Rank(), 5))
			var report strings.Builder
			ok(w.Report(&report))
			if !strings.Contains(report.String(), `, tag 5, communicator "rows": no message has matched`) {
				t.Errorf("the report does not name the communicator:\n%s", report.String())
			}
			named := false
			for _, p := range w.Pending() {
				named = named || p.Tag == 5 && p.Comm == "rows"
			}
			if !named {
				t.Errorf("nothing of rows is pending: %+v", w.Pending())
			}
			ok(c.Barrier())
			ok(mpi.Send(d, none, 1-c.Rank(), 5))
			get(mpi.Wait(&r))
			ok(d.Free())
			wantWords(t, "Send", mpi.Send(d, none, 0, 0), mpi.ErrComm, `the communicator "rows" has been freed`)
		})
	})
}
