package verbs

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestReadAndWriteAreMeasured(t *testing.T) {
	emulated(t)
	w := newFakeNet()
	p := portInfo{device: "fake0", number: 1, mtu: 5, ethernet: true, reads: 16, answers: 16, maxMessage: 1 << 16}
	r, err := measure(p, w.open)
	if err != nil || r.ReadTime <= 0 || r.WriteTime <= 0 || r.Forced || r.Write != better(r.ReadTime, r.WriteTime) {
		t.Errorf("%+v, %v", r, err)
	}
	w.fault = statusRetries
	if _, err := measure(p, w.open); err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("with a fault: %v", err)
	}
	if len(w.qps)+len(w.mrs) != 0 {
		t.Errorf("%d queue pairs and %d registrations are left", len(w.qps), len(w.mrs))
	}
}

func TestWriteHasToBeFasterByAMargin(t *testing.T) {
	for _, c := range []struct {
		read, write time.Duration
		want        bool
	}{{100, 100, false}, {100, 95, false}, {100, 90, true}, {100, 50, true}, {50, 100, false}} {
		if got := better(c.read*time.Microsecond, c.write*time.Microsecond); got != c.want {
			t.Errorf("READ %d, WRITE %d: %t", c.read, c.write, got)
		}
	}
}

func TestTheEnvironmentChoosesTheRendezvous(t *testing.T) {
	s := selection{}
	for v, want := range map[string]Rendezvous{"read": {Forced: true}, "write": {Forced: true, Write: true}} {
		if r, err := s.rendezvous(func(string) string { return v }); err != nil || r != want {
			t.Errorf("%s=%s: %+v, %v", envRendezvous, v, r, err)
		}
	}
	if _, err := s.rendezvous(func(string) string { return "both" }); err == nil || !strings.Contains(err.Error(), envRendezvous) {
		t.Errorf("nonsense: %v", err)
	}
}

// The choice is made once for a device, and the domain tells it.
func TestADeviceIsMeasuredAtFirstUse(t *testing.T) {
	needDevice(t)
	if os.Getenv(envRendezvous) != "" {
		t.Skip("the environment has chosen")
	}
	ss, err := find()
	if err != nil {
		t.Fatal(err)
	}
	r, err := ss[0].rendezvous(os.Getenv)
	if err != nil || r.ReadTime <= 0 || r.WriteTime <= 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	t.Logf("READ %v, WRITE %v, write chosen: %t", r.ReadTime, r.WriteTime, r.Write)
	if again, err := ss[0].rendezvous(os.Getenv); err != nil || again != r {
		t.Errorf("again: %+v, %v", again, err)
	}
	ds, _ := pair(t)
	if ds[0].Caps().PutFirst != r.Write {
		t.Errorf("PutFirst %t", ds[0].Caps().PutFirst)
	}
	t.Setenv(envRendezvous, "write")
	j := &job{open: openDevice}
	j.domains(t, 2)
	if !j.ranks[0].Caps().PutFirst {
		t.Error("the environment is not heard")
	}
}
