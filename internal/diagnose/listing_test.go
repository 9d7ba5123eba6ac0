package diagnose

import (
	"slices"
	"strings"
	"testing"
)

func TestAReportTellsWhatWaitsAndWhy(t *testing.T) {
	r := blockedIn(1, recv(0, 7)).with(window(Word{Held: []Claim{{0, "shared"}, {2, "shared"}}}, nil))
	r.Waits[0].State, r.Waits[0].Seconds, r.Waits[0].Place = "no message has matched", 61, "main.f at f.go:3"
	r.Arrived = []Message{{From: 0, Tag: 8, Comm: world, Bytes: 20}}
	j := Job{Ranks: []Rank{running(0), r}}
	text := j.Report(1, 3, "shm")
	if lines := strings.Split(text, "\n"); !strings.HasPrefix(text, "weft: rank 1 of 3 (process ") || !strings.HasSuffix(lines[0], ", fabric shm): 2 operations and messages wait") || !slices.Equal(lines[1:], []string{
		"  a receive from rank 0, tag 7, MPI_COMM_WORLD: no message has matched, for 1m1s, a goroutine is blocked in it",
		"      main.f at f.go:3",
		"  a message of 20 bytes without a receive from rank 0, tag 8, MPI_COMM_WORLD",
		`  its lock in window "table": held by rank 0 (shared), rank 2 (shared), waited for by nobody`,
		"  => rank 1 is in a receive from rank 0, tag 7, MPI_COMM_WORLD, and a message from rank 0 with tag 8 in MPI_COMM_WORLD (20 bytes) is there, which nobody receives: the tags differ, 7 and 8",
		"",
	}) {
		t.Error(text)
	}
	if text := j.Report(0, 3, "shm"); !strings.Contains(text, "): nothing waits\n") {
		t.Error(text)
	}
}

func TestAReportIsBounded(t *testing.T) {
	var r Rank
	for range 3 * mostListed {
		r.Waits = append(r.Waits, recv(1, 7))
	}
	j := Job{Ranks: []Rank{r}}
	if text := j.Report(0, 1, "mem"); strings.Count(text, "\n") != mostListed+2 || !strings.Contains(text, "and 80 more") {
		t.Error(text)
	}
}

// A rank is asked if what another one is blocked in needs it; for a lock its owner, and then
// the holder.
func TestRanksThatOthersNeedAreAsked(t *testing.T) {
	j := Job{Ranks: []Rank{blockedIn(0, recv(1, 3), lock(2, "shared"), anyOf(5, 4, 7, 9))}, Silent: []Silent{{Rank: 9}}}
	j.Ranks[0].Waits = append(j.Ranks[0].Waits, recv(6, 1)) // no goroutine is blocked in it
	if got := j.Unknown(); !slices.Equal(got, []int{1, 2, 4, 7}) {
		t.Errorf("unknown are %v", got)
	}
	for _, rank := range []int{7, 2, 1, 4} {
		j.Add(running(rank).with(window(Word{Held: []Claim{{3, "exclusive"}}}, nil)))
	}
	if got := j.Unknown(); !slices.Equal(got, []int{3}) || !slices.IsSortedFunc(j.Ranks, func(a, b Rank) int { return a.Rank - b.Rank }) {
		t.Errorf("unknown are %v, of %+v", got, j.Ranks)
	}
}

// What is left out of a state may be what lets a goroutine go on.
func TestAStateThatIsCutHoldsNoRank(t *testing.T) {
	ring := func(most int) *Job {
		first := blockedIn(0, recv(1, 3), recv(1, 4))
		first.Cut(most)
		return &Job{Ranks: []Rank{first, blockedIn(1, recv(0, 3))}}
	}
	if !ring(2).Stuck() || ring(1).Stuck() || len(ring(1).Ranks[0].Waits) != 1 {
		t.Errorf("%+v, %+v", ring(2), ring(1))
	}
}
