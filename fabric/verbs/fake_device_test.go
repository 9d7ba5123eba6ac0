package verbs

import (
	"os"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

// fakeJob opens domains on the devices of one network.
func fakeJob(w *fakeNet) *job {
	p := portInfo{device: "fake0", number: 1, mtu: 5, ethernet: true, reads: 16, answers: 16, atomics: true, maxMessage: 1 << 20}
	return &job{fake: true, open: func(cfg fabric.Config) (*Domain, error) {
		return open(cfg, p, "127.0.0.1", ibv.Attr{}, w.open)
	}}
}

// emulated skips a test that needs no device where processors are emulated:
// other machines run it faster.
func emulated(t testing.TB) {
	t.Helper()
	if os.Getenv("WEFT_ROCE") != "" {
		t.Skip("it needs no device, and this machine is slow")
	}
}

func TestConformanceOnAFakeDevice(t *testing.T) {
	emulated(t)
	runConformance(t, fakeJob(newFakeNet()))
}

func TestConformanceOnAFakeDeviceAsleep(t *testing.T) {
	emulated(t)
	j := fakeJob(newFakeNet())
	j.sleeps = true
	runConformance(t, j)
}
