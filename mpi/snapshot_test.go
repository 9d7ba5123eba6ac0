package mpi_test

import (
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

// The counters tell what a program has sent, and go on being there.
func TestASnapshotCountsWhatWasSent(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			const messages, bytes = 100, 24
			sum := func(s mpi.Snapshot, family, value string) (n uint64) {
				for _, f := range s.Families {
					for _, r := range f.Rows {
						for _, v := range r.Values {
							if f.Name == family && v == value {
								n += r.Value
							}
						}
					}
				}
				return n
			}
			ok(c.Barrier())
			before := w.Snapshot()
			if c.Rank() == 0 { // which sends once the other has looked
				get(mpi.Recv(c, make([]byte, 1), 1, 2))
			} else {
				ok(mpi.Send(c, make([]byte, 1), 0, 2))
			}
			way := "sent"
			for range messages {
				if c.Rank() == 0 {
					ok(mpi.Send(c, make([]byte, bytes), 1, 1))
				} else {
					way = "received"
					get(mpi.Recv(c, make([]byte, bytes), 0, 1))
				}
			}
			after := w.Snapshot()
			if c.Rank() == 0 { // and sends nothing more before the other has looked
				get(mpi.Recv(c, make([]byte, 1), 1, 2))
			} else {
				ok(mpi.Send(c, make([]byte, 1), 0, 2))
			}
			if n := sum(after, "weft_messages_total", way) - sum(before, "weft_messages_total", way); n != messages {
				t.Errorf("rank %d has %s %d messages, counted are %d", c.Rank(), way, messages, n)
			}
			if n := sum(after, "weft_bytes_total", way) - sum(before, "weft_bytes_total", way); n != messages*bytes {
				t.Errorf("rank %d has %s %d bytes, counted are %d", c.Rank(), way, messages*bytes, n)
			}
		})
	})
}
