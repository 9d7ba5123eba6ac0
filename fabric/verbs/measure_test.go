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
	if err != nil || r.ReadTime <= 0 || r.WriteTime <= 0 || r.Forced || r.PostTime <= 0 || r.PostTime > r.WriteTime {
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

func TestTheRendezvousIsChosenByTheTimes(t *testing.T) {
	for _, c := range []struct {
		read, write, post time.Duration
		want, both        bool
	}{
		{read: 100, write: 100}, {read: 100, write: 95}, {read: 100, write: 90, want: true}, {read: 100, write: 50, want: true}, {read: 50, write: 100},
		{read: 100, write: 50, post: 25, want: true}, {read: 100, write: 50, post: 26, both: true}, {read: 50, write: 100, post: 90, both: true},
	} {
		r := Rendezvous{ReadTime: c.read * time.Microsecond, WriteTime: c.write * time.Microsecond, PostTime: c.post * time.Microsecond}
		if r.choose(); r.Write != c.want || r.Both != c.both {
			t.Errorf("READ %d, WRITE %d, of it to post %d: %+v", c.read, c.write, c.post, r)
		}
	}
}

func TestTheEnvironmentChoosesTheRendezvous(t *testing.T) {
	s := selection{}
	for v, want := range map[string]Rendezvous{"read": {Forced: true}, "write": {Forced: true, Write: true}, "both": {Forced: true, Both: true}} {
		if r, err := s.rendezvous(func(string) string { return v }); err != nil || r != want {
			t.Errorf("%s=%s: %+v, %v", envRendezvous, v, r, err)
		}
	}
	if _, err := s.rendezvous(func(string) string { return "neither" }); err == nil || !strings.Contains(err.Error(), envRendezvous) {
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
	t.Logf("%+v", r)
	if strings.HasPrefix(ss[0].dev.Name, "rxe") && !r.Both {
		t.Error("SoftRoCE is taken for a device that moves the bytes by itself")
	}
	if again, err := ss[0].rendezvous(os.Getenv); err != nil || again != r {
		t.Errorf("again: %+v, %v", again, err)
	}
	ds, _ := pair(t)
	if c := ds[0].Caps(); c.PutFirst != r.Write || c.PutToo != r.Both {
		t.Errorf("PutFirst %t, PutToo %t", c.PutFirst, c.PutToo)
	}
	t.Setenv(envRendezvous, "write")
	j := &job{open: openDevice}
	j.domains(t, 2)
	if !j.ranks[0].Caps().PutFirst {
		t.Error("the environment is not heard")
	}
}
