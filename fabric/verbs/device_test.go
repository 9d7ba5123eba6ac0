package verbs

import (
	"log/slog"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/testkit/fabrictest"
)

// needDevice skips the test where no device is, unless the environment says
// that there has to be one.
func needDevice(t testing.TB) {
	t.Helper()
	err := Provider{}.Available()
	switch {
	case err == nil:
	case os.Getenv("WEFT_ROCE") != "":
		t.Fatalf("WEFT_ROCE is set and no device can be used: %v", err)
	default:
		t.Skipf("no RDMA device; scripts/roce runs this test in a guest that has one: %v", err)
	}
}

// patience is when a test calls something hung. It bounds only what must come,
// and is many times what that takes.
const patience = 5 * time.Minute

// eventually looks again and again whether something holds, which is wanted to.
func eventually(t testing.TB, wanted string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("it never comes to this: %s", wanted)
		}
	}
}

// job opens n ranks of a job and closes them when the test ends.
type job struct {
	open   func(fabric.Config) (*Domain, error)
	fake   bool // its devices are, so other machines run the test
	ranks  []*Domain
	sleeps bool // by Sleep, not by Wait
}

// sleeper is a domain whose Wait holds the thread.
type sleeper struct{ *Domain }

func (s sleeper) Wait(timeout time.Duration) error { return s.Sleep(timeout) }

func (j *job) domains(t testing.TB, n int) (ds []fabric.Domain) {
	if j.fake {
		emulated(t)
	}
	j.ranks = nil
	for i := range n {
		d, err := j.open(fabric.Config{Rank: fabric.Peer(i), Size: n, Job: t.Name(), Options: environment(), Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
		if err != nil {
			t.Fatalf("Open: %v", err)
		}
		t.Cleanup(func() {
			if err := d.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
		j.ranks = append(j.ranks, d)
		if j.sleeps {
			ds = append(ds, sleeper{d})
		} else {
			ds = append(ds, d)
		}
	}
	return ds
}

func (j *job) harness() fabrictest.Harness {
	return fabrictest.Harness{
		Open: j.domains,
		Kill: func(t testing.TB, rank fabric.Peer) {
			if err := j.ranks[rank].crash(); err != nil {
				t.Errorf("crash: %v", err)
			}
		},
		ChecksRemote: true,
		NoSelf:       true,
	}
}

func TestConformanceOnADevice(t *testing.T) {
	needDevice(t)
	runConformance(t, &job{open: openDevice})
}

func runConformance(t *testing.T, j *job) { fabrictest.Run(t, j.harness()) }

// counter is a handler that counts messages.
type counter struct {
	nobody
	n int
}

func (c *counter) Deliver(fabric.Peer, uint8, uint64, []byte, []byte) { c.n++ }

// pair is two connected ranks on the device.
func pair(t testing.TB) (ds []*Domain, eps [2]fabric.Endpoint) {
	needDevice(t)
	return connected(t, &job{open: openDevice})
}

// connected opens two ranks that have exchanged a message.
func connected(t testing.TB, j *job) (ds []*Domain, eps [2]fabric.Endpoint) {
	t.Helper()
	j.domains(t, 2)
	for i := range eps {
		e, err := j.ranks[i].Connect(fabric.Peer(1-i), j.ranks[1-i].Addr())
		if err != nil {
			t.Fatal(err)
		}
		eps[i] = e
	}
	for i, e := range eps {
		for e.Send(1, 0, nil, nil) == fabric.ErrAgain {
			j.ranks[0].Poll(nobody{}, 64)
			j.ranks[1].Poll(nobody{}, 64)
		}
		for c := (counter{}); c.n == 0; {
			j.ranks[1-i].Poll(&c, 64)
			j.ranks[i].Poll(nobody{}, 64)
		}
	}
	return j.ranks, eps
}

// environment is the settings that package transports takes from it.
func environment() map[string]string {
	set := map[string]string{}
	for _, name := range (Provider{}).Options() {
		if v := os.Getenv(name); v != "" {
			set[name] = v
		}
	}
	return set
}
