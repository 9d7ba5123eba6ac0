package launch

import (
	"errors"
	"strings"
	"testing"

	"github.com/weft-mpi/weft/mpi/cause"
)

// Steps are "j<rank> <round> <result>" (join) and "l<rank>" (leave). A result
// is "wait", "table", "lost <rank>" or "order" (an error).
func TestRendezvousFollowsItsScript(t *testing.T) {
	for _, c := range []struct{ name, script string }{
		{"all come, twice", "j0 0 wait; j1 0 wait; j2 0 table; j2 1 wait; j0 1 wait; j1 1 table"},
		{"the last leaves instead", "j0 0 wait; j1 0 wait; l2; j0 1 lost 2"},
		{"one has left before", "l1; j0 0 lost 1; j2 0 lost 1; j0 1 lost 1"},
		{"one leaves after it came", "j0 0 wait; l0; j1 0 wait; j2 0 table; j1 1 lost 0"},
		{"the first reason counts", "l1; l1; j0 0 lost 1"},
		{"a round ahead", "j0 1 order"},
		{"a round ahead of an open one", "j0 0 wait; j0 1 order"},
		{"twice in a round", "j0 0 wait; j0 0 order"},
		{"a round behind", "j0 0 wait; j1 0 wait; j2 0 table; j0 1 wait; j1 0 order"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := newRendezvous(3)
			for step := range strings.SplitSeq(c.script, "; ") {
				rank := int(step[1] - '0')
				if step[0] == 'l' {
					v.leave(rank, "left")
					continue
				}
				r, err := v.join(rank, uint64(step[3]-'0'), nil)
				got := "order"
				if err == nil {
					got = resultOf(r)
				} else if !errors.Is(err, ErrProtocol) {
					t.Error(err)
				}
				if want := step[5:]; got != want {
					t.Errorf("%s: got %s", step, got)
				}
			}
		})
	}
}

func resultOf(r *round) string {
	select {
	case <-r.done:
	default:
		return "wait"
	}
	if lost, ok := errors.AsType[*cause.LostError](r.err); ok {
		return "lost " + string(rune('0'+lost.Rank))
	}
	return "table"
}

func TestWaitersOfARoundHearOfALeaver(t *testing.T) {
	v := newRendezvous(2)
	r, err := v.join(0, 0, []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	v.leave(1, "gone fishing")
	<-r.done
	if lost, ok := errors.AsType[*cause.LostError](r.err); !ok || lost.Rank != 1 || lost.Reason != "gone fishing" {
		t.Error(r.err)
	}
}

// An agent's rendezvous knows of ranks elsewhere from which round on they do not come,
// and gets its tables from the launcher's.
func TestAnAgentsRendezvousFollowsTheLaunchers(t *testing.T) {
	var full []uint64
	v := newRendezvousOf(4, 2, func(r *round) { full = append(full, r.number) })
	join := func(rank int, number uint64) *round {
		t.Helper()
		r, err := v.join(rank, number, nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	one, two := join(0, 0), join(1, 0)
	if one != two || resultOf(one) != "wait" || len(full) != 1 {
		t.Fatalf("%s, full %v", resultOf(one), full)
	}
	v.leaveFrom(3, 1, "left") // it has joined round 0
	if resultOf(one) != "wait" {
		t.Fatal("round 0 fails for a rank that has joined it")
	}
	if err := v.settle(1, []byte("t")); !errors.Is(err, ErrProtocol) {
		t.Errorf("a table of the next round: %v", err)
	}
	if err := v.settle(0, []byte("t")); err != nil || resultOf(one) != "table" || string(one.table) != "t" {
		t.Fatalf("%v, %s", err, resultOf(one))
	}
	if r := join(1, 1); resultOf(r) != "lost 3" {
		t.Errorf("round 1: %s", resultOf(r))
	}
	if from, first := v.leave(0, "left too"); from != 1 || !first {
		t.Errorf("rank 0 joins up to round %d, first %t", from, first)
	}
	if v.leaveFrom(3, 0, "again") || len(full) != 1 {
		t.Errorf("a second reason counts, or a round that has failed is offered: %v", full)
	}
}
