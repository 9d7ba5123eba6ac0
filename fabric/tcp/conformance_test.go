package tcp

import (
	"log/slog"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/testkit/fabrictest"
	"github.com/weft-mpi/weft/internal/testkit/tier"
)

// openJob opens the ranks of a job in this process, with the changes to its settings.
func openJob(t testing.TB, n int, changes ...func(*fabric.Config)) []fabric.Domain {
	t.Helper()
	ds := make([]fabric.Domain, n)
	for i := range ds {
		cfg := fabric.Config{Rank: fabric.Peer(i), Size: n, Job: t.Name(), Log: slog.New(slog.DiscardHandler)}
		for _, change := range changes {
			change(&cfg)
		}
		d, err := fabric.Open(Provider{}, cfg)
		if err != nil {
			t.Fatal(err)
		}
		ds[i] = d
		t.Cleanup(func() { d.Close() })
	}
	return ds
}

// crash ends a rank as the death of its process does.
func (d *Domain) crash() {
	d.closed.Store(true)
	d.cancel()
	for _, l := range d.listeners {
		l.Close()
	}
	d.wg.Wait()
	for _, ev := range d.events { // connections that nobody has used yet
		if ev.fd >= 0 {
			unix.Close(ev.fd)
		}
	}
	for _, c := range d.conns {
		if c != nil {
			unix.Close(c.fd)
		}
	}
	d.conns, d.events = nil, nil
	d.Wake()
}

func TestConformance(t *testing.T) {
	var last []fabric.Domain
	fabrictest.Run(t, fabrictest.Harness{
		Open: func(t testing.TB, n int) []fabric.Domain {
			last = openJob(t, n)
			return last
		},
		Kill:         func(t testing.TB, p fabric.Peer) { last[p].(*Domain).crash() },
		ChecksRemote: true, PutNeedsPeer: true, NoSelf: true, WakesForAll: true,
	})
}

func TestConformanceOverTLS(t *testing.T) {
	tier.Long(t, "the hammer, and the tests of deaths and ends, run over TLS in the gate too")
	var last []fabric.Domain
	fabrictest.Run(t, fabrictest.Harness{
		Open: func(t testing.TB, n int) []fabric.Domain {
			last = openJob(t, n, encrypted)
			return last
		},
		Kill:         func(t testing.TB, p fabric.Peer) { last[p].(*Domain).crash() },
		ChecksRemote: true, PutNeedsPeer: true, NoSelf: true, WakesForAll: true,
		Allocates: true, // crypto/tls does, for each record that it reads
	})
}
