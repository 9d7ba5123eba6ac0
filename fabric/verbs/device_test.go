package verbs

import (
	"log/slog"
	"os"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/fabrictest"
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

// job opens n ranks of a job and closes them when the test ends.
type job struct {
	open  func(fabric.Config) (*Domain, error)
	ranks []*Domain
}

func (j *job) domains(t testing.TB, n int) (ds []fabric.Domain) {
	j.ranks = nil
	for i := range n {
		d, err := j.open(fabric.Config{Rank: fabric.Peer(i), Size: n, Job: t.Name(), Log: slog.New(slog.NewTextHandler(t.Output(), nil))})
		if err != nil {
			t.Fatalf("Open: %v", err)
		}
		t.Cleanup(func() {
			if err := d.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
		j.ranks = append(j.ranks, d)
		ds = append(ds, d)
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
