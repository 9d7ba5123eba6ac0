package mpi_test

import (
	"maps"
	"strings"
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

// A snapshot tells how many peers each transport serves, connected or not.
func TestASnapshotTellsTheTransportsOfPeers(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 4, func(w *mpi.World, c *mpi.Comm) {
			want := map[string]uint64{fabric: 3}
			if near, far, two := strings.Cut(fabric, "+"); two { // two hosts of two ranks
				want = map[string]uint64{near: 1, far: 2}
			}
			got := map[string]uint64{}
			for _, f := range w.Snapshot().Families {
				for _, r := range f.Rows {
					if f.Name == "weft_fabric_chosen" {
						got[r.Values[0]] = r.Value
					}
				}
			}
			if !maps.Equal(got, want) {
				t.Errorf("rank %d has %v instead of %v", c.Rank(), got, want)
			}
		})
	})
}
