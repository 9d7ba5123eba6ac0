package mpi_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

func TestExplainSaysThatNobodyServesBetweenCalls(t *testing.T) {
	withAndWithoutThread(t, func(t *testing.T, fabric string, opts ...mpi.Option) {
		act(t, fabric, 2, func(_ *mpi.World, c *mpi.Comm) {
			w := get(mpi.WinCreateDynamic(c, mpi.WinOptions{}))
			const words = "as it has no progress thread"
			if text := w.Explain(); strings.Count(text, words) != len(opts) {
				t.Errorf("with %d options: %s", len(opts), text)
			}
			ok(w.Free())
		}, opts...)
	})
}

// A report says what a rank waits for in a window, with its name and the line.
func TestAReportTellsWhatWaitsInAWindow(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(world *mpi.World, c *mpi.Comm) {
			ok(c.SetName("all"))
			w := get(mpi.WinAllocate[int64](c, 1, mpi.WinOptions{}))
			ok(w.SetName("halo"))
			if c.Rank() == 0 {
				ok(w.Lock(mpi.LockExclusive, 0))
			}
			ok(c.Barrier())
			if c.Rank() == 1 {
				join := aside(func() {
					ok(w.Lock(mpi.LockExclusive, 0))
					ok(w.Unlock(0))
				})
				var all []mpi.Pending
				for len(all) == 0 {
					all = world.Pending()
				}
				if p := all[0]; !strings.HasPrefix(p.What, "lock in the window of context ") || p.Comm != "" || p.State != "waits for the lock" || !strings.Contains(p.Place, "win_report_test.go") {
					t.Errorf("what waits is %+v", p)
				}
				var text bytes.Buffer
				ok(world.Report(&text))
				if !strings.Contains(text.String(), `Lock of window "halo": waits for the lock`) || strings.Contains(text.String(), `window "all"`) {
					t.Errorf("the report is\n%s", text.String())
				}
				ok(mpi.Send(c, []byte{1}, 0, 0))
				join()
			} else {
				get(mpi.Recv(c, make([]byte, 1), 1, 0))
				ok(w.Unlock(0))
			}
			ok(w.Free())
		})
	})
}
