package tcp

import (
	"net"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
)

// quietHandler counts what is handed over.
type quietHandler struct{ messages, completed, failed, down int }

func (q *quietHandler) Deliver(fabric.Peer, uint8, uint64, []byte, []byte) { q.messages++ }
func (q *quietHandler) PeerDown(fabric.Peer, error)                        { q.down++ }
func (q *quietHandler) Complete(_ fabric.Op, err error) {
	if q.completed++; err != nil {
		q.failed++
	}
}

// countsOf are a domain's counts by name.
func countsOf(d fabric.Domain) map[string]uint64 {
	var s fabric.Stats
	d.Stats(&s)
	out := map[string]uint64{}
	for _, c := range s.Counts {
		out[c.Name] = c.Value
	}
	return out
}

func TestTheCountsFollowWhatHappens(t *testing.T) {
	ds := openJob(t, 2)
	var hs [2]quietHandler
	until := func(what string, cond func() bool) {
		t.Helper()
		for end := time.Now().Add(patience); !cond(); {
			if time.Now().After(end) {
				t.Fatalf("waited %v for %s", patience, what)
			}
			for i, d := range ds {
				d.Poll(&hs[i], 64)
			}
		}
	}
	want := func(rank int, name string, n uint64) {
		t.Helper()
		if got := countsOf(ds[rank])[name]; got != n {
			t.Errorf("rank %d counts %d %s, want %d", rank, got, name, n)
		}
	}
	want(0, "connected_peers", 0)
	want(0, "memory_bytes", 0)

	to, err := ds[0].Connect(1, ds[1].Addr())
	if err != nil {
		t.Fatal(err)
	}
	sent := false
	until("a message", func() bool {
		sent = sent || to.Send(1, 0, nil, nil) == nil
		return hs[1].messages == 1
	})
	for rank := range ds {
		want(rank, "connected_peers", 1)
		want(rank, "bulk_connections", 0)
	}
	want(1, "memory_bytes", bufferSize) // what the message was read into

	big := make([]byte, 4*bulkMin)
	word := make([]byte, 64)
	source, err := ds[1].Register(big, fabric.RemoteRead|fabric.RemoteWrite)
	if err != nil {
		t.Fatal(err)
	}
	counter, err := ds[1].Register(word, fabric.RemoteAtomic)
	if err != nil {
		t.Fatal(err)
	}
	mine := fabric.Segment{Bytes: make([]byte, len(big))}
	for op, call := range []func(op fabric.Op) error{
		func(op fabric.Op) error { return to.Get(mine, source.Remote, op) },
		func(op fabric.Op) error { return to.Put(mine, source.Remote, op) },
		func(op fabric.Op) error {
			return to.Atomic(fabric.Atomic{Kind: fabric.FetchAdd, Operand: 1}, counter.Remote, op)
		},
	} {
		if err := call(fabric.Op(op + 1)); err != nil {
			t.Fatal(err)
		}
	}
	want(0, "operations", 3)
	until("the operations", func() bool { return hs[0].completed == 3 })
	if hs[0].failed > 0 {
		t.Errorf("%d operations failed", hs[0].failed)
	}
	want(0, "operations", 0)
	for _, name := range []string{"served_gets", "served_puts", "served_atomics"} {
		want(1, name, 1)
		want(0, name, 0)
	}
	until("a connection for bulk data", func() bool {
		return countsOf(ds[0])["bulk_connections"] == 1 && countsOf(ds[1])["bulk_connections"] == 1
	})

	want(0, "full_sends", 0)
	body := make([]byte, maxEager)
	for err = nil; err == nil; {
		err = to.Send(1, 0, nil, body)
	}
	if err != fabric.ErrAgain {
		t.Fatal(err)
	}
	want(0, "full_sends", 1)

	before := countsOf(ds[0])["empty_reads"]
	until("reads that find nothing", func() bool { return countsOf(ds[0])["empty_reads"] > before })

	want(1, "refused_greetings", 0)
	stranger, err := net.Dial("tcp", ds[1].(*Domain).listeners[0].Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	stranger.Write(make([]byte, 256))
	stranger.Close()
	until("a stranger to be refused", func() bool { return countsOf(ds[1])["refused_greetings"] == 1 })

	ds[1].(*Domain).crash()
	ds = ds[:1]
	until("the end of the peer", func() bool { return hs[0].down == 1 })
	for _, name := range []string{"connected_peers", "bulk_connections", "operations"} {
		want(0, name, 0)
	}
}
