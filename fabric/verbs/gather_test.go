package verbs

import (
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

// In a window of 64 messages the library is called for fewer than one in ten.
func TestAWindowTakesFewCrossings(t *testing.T) {
	ds, eps := connected(t, fakeJob(newFakeNet()))
	n := [2]*fakeHCA{ds[0].hca.(*fakeHCA), ds[1].hca.(*fakeHCA)}
	ds[0].Poll(nobody{}, 64)
	var c counter
	for _, n := range n {
		n.crossings = 0
	}
	const rounds = 10
	for range rounds {
		for range 64 {
			if err := eps[0].Send(1, 0, nil, make([]byte, 8)); err != nil {
				t.Fatal(err)
			}
		}
		ds[0].Poll(nobody{}, 64)
		for want := c.n - c.n%64 + 64; c.n < want; {
			ds[1].Poll(&c, 64)
		}
	}
	for i, who := range []string{"sender", "receiver"} {
		if per := float64(n[i].crossings) / (rounds * 64); per > 0.1 {
			t.Errorf("%s: %.3f crossings a message", who, per)
		}
	}
}

// Where no progress thread polls, no message waits for company.
func TestAnUnattendedRankLeavesNothingBehind(t *testing.T) {
	j := fakeJob(newFakeNet())
	opener := j.open
	j.open = func(cfg fabric.Config) (*Domain, error) {
		cfg.Unattended = true
		return opener(cfg)
	}
	ds, eps := connected(t, j)
	ds[0].Poll(nobody{}, 64)
	var c counter
	for i := range 20 {
		if err := eps[0].Send(1, 0, nil, nil); err != nil {
			t.Fatal(err)
		}
		if ds[1].Poll(&c, 64); c.n != i+1 {
			t.Errorf("message %d is not there", i+1)
		}
	}
}

// A lone message does not wait for company. What gathers while the rank sleeps
// makes it come and Poll.
func TestALoneMessageGoesAtOnce(t *testing.T) {
	ds, eps := connected(t, fakeJob(newFakeNet()))
	ds[0].Poll(nobody{}, 64)
	var c counter
	for i := range 2 {
		eps[0].Send(1, 0, nil, nil)
		if ds[1].Poll(&c, 64); c.n != i+1 {
			t.Errorf("message %d is not there", i+1)
		}
	}
	if err := ds[0].Arm(fabric.WakeAll); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		for range 7 {
			eps[0].Send(1, 0, nil, nil)
		}
		if err := ds[0].Wait(0); err != nil {
			t.Fatal(err)
		}
		ds[0].Poll(nobody{}, 64)
	}
	for ds[1].Poll(&c, 64) > 0 {
	}
	if c.n != 72 {
		t.Errorf("of 72 messages %d are there", c.n)
	}
}

// A ping-pong needs no message of its own for credit, but one for a lease, and
// gives slots back many at a time.
func TestMessagesCarryCredit(t *testing.T) {
	ds, eps := connected(t, fakeJob(newFakeNet()))
	n := ds[0].hca.(*fakeHCA)
	n.crossings, n.refills, n.writes = 0, 0, 0
	const rounds = 1000
	for range rounds {
		for i := range eps {
			if err := eps[i].Send(1, 0, nil, nil); err != nil {
				t.Fatal(err)
			}
			for c := (counter{}); c.n == 0; {
				ds[1-i].Poll(&c, 1)
			}
		}
	}
	if n.crossings > 2*rounds || n.refills > rounds/16 || n.writes > 1 {
		t.Errorf("%d round trips: %d crossings, %d times slots, %d writes", rounds, n.crossings, n.refills, n.writes)
	}
}
