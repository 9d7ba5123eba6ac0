package transports

import (
	"errors"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/launch"
)

// The first rank of a host measures from which length on its messages are read,
// and the others take that over. Nothing is measured that nobody needs.
func TestOneRankOfAHostMeasures(t *testing.T) {
	t.Setenv(fabricVar, "")
	t.Setenv(nodeVar, "")
	for name, c := range map[string]struct {
		fabric string
		jobs   []*launch.Job
		set    string
		times  int32 // of measurements
		want   int   // of all ranks that have the transport
	}{
		"one host":                       {"shm", hosts(0, 0, 0), "", 1, weighedAt},
		"two hosts":                      {"shm+verbs", hosts(0, 0, 1, 1), "", 2, weighedAt},
		"a rank alone on each host":      {"shm+verbs", hosts(0, 1), "", 0, 0},
		"the user has said":              {"shm", hosts(0, 0), "5000", 0, 5000},
		"the transport is not chosen":    {"verbs", hosts(0, 0), "", 0, 0},
		"the transport that needs it is": {Auto, hosts(0, 0), "", 1, weighedAt},
	} {
		t.Setenv("WEFT_FAKE_GET_MIN", c.set)
		four, _, shm, _, _ := withTCP()
		shm.measures, shm.knows = true, []string{"WEFT_FAKE_GET_MIN"}
		four = append(table{four[0], shm.row()}, four[2:]...)
		all, errs := joinAll(t, c.jobs, c.fabric, func(int) table { return four })
		if err := errors.Join(errs...); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := shm.weighed.Load(); got != c.times {
			t.Errorf("%s: it was measured %d times, want %d", name, got, c.times)
		}
		for rank, r := range all {
			for _, d := range r.Domains {
				if d := d.(*domain); d.kind == shm && d.getMin != c.want {
					t.Errorf("%s: rank %d reads from %d bytes on, want %d", name, rank, d.getMin, c.want)
				}
			}
		}
	}
}

// Where shared memory can't be used there is nothing to measure.
func TestNothingIsMeasuredForATransportThatIsMissing(t *testing.T) {
	shm := &kind{name: "shm", reach: machine, measures: true, missing: errors.New("no memfd")}
	if n, err := tableOf(shm).sharedThreshold(); !errors.Is(err, fabric.ErrUnsupported) || !strings.Contains(err.Error(), "no memfd") || n != (Threshold{}) || shm.weighed.Load() != 0 {
		t.Errorf("%+v, %v after %d measurements", n, err, shm.weighed.Load())
	}
	shm.missing = nil
	if n, err := tableOf(shm).sharedThreshold(); n.Bytes != weighedAt || n.Measured || n.Set || n.Err == nil || err != nil { // a default where it failed
		t.Errorf("%+v, %v", n, err)
	}
	if _, err := tableOf(&kind{name: "mem"}).sharedThreshold(); !errors.Is(err, fabric.ErrUnsupported) {
		t.Errorf("without shared memory: %v", err)
	}
	shm.knows = []string{"WEFT_FAKE_GET_MIN"}
	t.Setenv("WEFT_FAKE_GET_MIN", "many")
	if _, err := tableOf(shm).sharedThreshold(); err == nil {
		t.Error("a length that is no number is taken")
	}
	t.Setenv("WEFT_FAKE_GET_MIN", "5000")
	if n, err := tableOf(shm).sharedThreshold(); n != (Threshold{Bytes: 5000, Set: true}) || err != nil || shm.weighed.Load() != 1 {
		t.Errorf("%+v, %v after %d measurements", n, err, shm.weighed.Load())
	}
}

// The transport that has the length today is shared memory.
func TestSharedMemoryMeasures(t *testing.T) {
	if _, ok := transports[1].provider(1).(measurer); !ok || transports[1].name != "shm" {
		t.Error("shm does not measure")
	}
	d, err := transports[1].provider(1).Open(fabric.Config{Size: 1, Job: t.Name(), Log: discard})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if _, ok := d.(adopter); !ok {
		t.Error("a domain of shm does not take over what was measured")
	}
}
