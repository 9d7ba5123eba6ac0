package progress

import (
	"testing"
	"time"
)

// An application that computes is seen at one look if nobody has been there since
// the one before, and at several in a row if calls take turns with computing. One
// that communicates never is.
func TestAnApplicationThatComputesIsSeen(t *testing.T) {
	var used time.Duration
	busy := func() { used += computing }
	look := func(a *attendant, passes uint64) bool {
		a.l.passes += passes
		seen := a.computes()
		a.l.seen = a.l.passes
		a.looked()
		return seen
	}
	l := &Loop{}
	a := &attendant{l: l, clock: func() time.Duration { return used }}
	a.looked()
	if look(a, 0) {
		t.Error("an application that has used no time computes")
	}
	busy()
	if !look(a, 0) {
		t.Error("an application that stays away does not compute")
	}
	for i := range 2 * computingRow {
		busy()
		if got, want := look(a, 1), i == computingRow-1; got != want {
			t.Errorf("look %d at an application that calls now and then: computes %t, want %t", i, got, want)
		}
	}
	a.row = 0
	for range 10 * computingRow {
		busy()
		if look(a, fewPasses) {
			t.Error("an application whose calls poll for long computes")
		}
	}
	for i := range 10 * computingRow {
		busy()
		if l.poller = nil; i%computingRow == 0 {
			l.poller = &Waiter{}
		}
		if look(a, 1) {
			t.Error("an application that waits at some looks computes")
		}
	}
	l.poller = nil
	for _, between := range []int{forgetLate, forgetLate - 1} {
		for i := range computingRow {
			a.ticked(true)
			busy()
			if got, want := look(a, fewPasses), between < forgetLate && i == computingRow-1; got != want {
				t.Errorf("late look %d, with %d in time between: computes %t, want %t", i, between, got, want)
			}
			for range between {
				a.ticked(false)
			}
		}
	}
	a.late = 0
	a.row = 0
	busy()
	a.looked() // what the thread itself has used
	if look(a, 0) {
		t.Error("the thread takes its own work for the application's")
	}
}
