package diagnose

import (
	"slices"
	"testing"
)

const world = 0

var comms = []Comm{{ID: world, Name: "MPI_COMM_WORLD", Calls: 16}}

// blockedIn is a rank whose only goroutine is blocked in those operations, all of which
// must complete.
func blockedIn(rank int, waits ...Wait) Rank {
	for i := range waits {
		waits[i].Goroutine, waits[i].Op = 1, uint64(i+1)
	}
	return Rank{Rank: rank, Threaded: true, Waits: waits, Goroutines: []Goroutine{{Need: len(waits)}}, Comms: comms}
}

func running(rank int) Rank { return Rank{Rank: rank, Threaded: true, Comms: comms} }

func (r Rank) with(f func(*Rank)) Rank {
	f(&r)
	return r
}

func recv(from, tag int) Wait {
	w := Wait{Kind: Receive, Peer: from, Tag: tag, Unmatched: true}
	if from != AnyRank {
		w.Needs = []int{from}
	}
	return w
}

func anyOf(tag int, ranks ...int) Wait {
	w := recv(AnyRank, tag)
	w.Any, w.Needs = true, ranks
	return w
}

func send(to, tag int) Wait {
	return Wait{Kind: Send, Peer: to, Tag: tag, Bytes: 9, Unmatched: true, Needs: []int{to}}
}

func call(text string, number uint32, needs ...int) Wait {
	return Wait{Kind: Collective, Call: text, Number: number, Needs: needs}
}

func calls(n uint32, recent ...Call) func(*Rank) {
	return func(r *Rank) { r.Comms = []Comm{{ID: world, Name: "MPI_COMM_WORLD", Calls: n, Recent: recent}} }
}

// window is the communicator and the window 8 with a lock.
func window(w Word, global *Word) func(*Rank) {
	return func(r *Rank) {
		r.Comms = append(slices.Clone(r.Comms), Comm{ID: 8, Name: "table", Window: true})
		r.Windows = []Window{{ID: 8, Lock: w, All: global}}
	}
}

func lock(target int, claim string) Wait {
	return Wait{Kind: Lock, Comm: 8, Peer: AnyRank, Target: target, Claim: claim}
}

const computing = " is blocked in no call: it computes, or waits outside of the library"

func TestSentencesNameTheCause(t *testing.T) {
	allreduce, barrier := "Allreduce of 8 bytes by Sum of int64", "Barrier"
	must := ": all ranks of a communicator make its collective calls in the same order, with the same root, length and operator"
	for name, c := range map[string]struct {
		job  Job
		want []string
	}{
		"nothing waits":     {Job{Ranks: []Rank{running(0), running(1)}}, nil},
		"a rank that waits": {Job{Ranks: []Rank{blockedIn(0, Wait{Kind: Other, What: "flush"}), running(1)}}, nil},
		"silent ranks": {Job{Silent: []Silent{{1, "on another host"}, {2, "no reply"}, {3, "on another host"}, {4, "on another host"}}}, []string{
			"ranks 1, 3 and 4: on another host", "rank 2: no reply"}},
		"collective calls that differ": {Job{Ranks: []Rank{
			blockedIn(0, call(barrier, 17, 3)).with(calls(17)), blockedIn(1, call(barrier, 17, 0)).with(calls(17)),
			blockedIn(2, call(barrier, 17, 1)).with(calls(17)), blockedIn(3, call(allreduce, 17, 2)).with(calls(17))}}, []string{
			"rank 3 is in Allreduce of 8 bytes by Sum of int64, number 17 of MPI_COMM_WORLD and ranks 0 to 2 are in Barrier, number 17 of MPI_COMM_WORLD" + must,
			"ranks 0 to 3 wait for one another: deadlock (rank 0: Barrier, number 17 of MPI_COMM_WORLD; rank 1: Barrier, number 17 of MPI_COMM_WORLD; rank 2: Barrier, number 17 of MPI_COMM_WORLD; rank 3: Allreduce of 8 bytes by Sum of int64, number 17 of MPI_COMM_WORLD)"}},
		"a rank that has gone on after another call": {Job{Ranks: []Rank{
			blockedIn(0, call(barrier, 17, 1)).with(calls(17)), running(1).with(calls(18, Call{17, "Bcast of 4 bytes from root 1"}, Call{18, barrier}))}}, []string{
			"rank 0 is in Barrier, number 17 of MPI_COMM_WORLD and rank 1 is in Bcast of 4 bytes from root 1, number 17 of MPI_COMM_WORLD" + must}},
		"a rank that has gone on after the same call": {Job{Ranks: []Rank{
			blockedIn(0, call(barrier, 17, 1)).with(calls(17)), running(1).with(calls(17, Call{17, barrier}))}}, nil},
		"ranks that have not made a call": {Job{Ranks: []Rank{
			blockedIn(0, call(barrier, 17, 2)).with(calls(17)), running(1), blockedIn(2, recv(3, 5)), running(3)},
			Silent: []Silent{{4, "busy"}}}, []string{
			"rank 4: busy",
			"rank 0 waits in Barrier, number 17 of MPI_COMM_WORLD, which ranks 1 to 3 have not called: rank 2 is in a receive from rank 3, tag 5, MPI_COMM_WORLD; ranks 1 and 3 are blocked in no call: they compute, or wait outside of the library",
			"rank 2 waits in a receive from rank 3, tag 5, MPI_COMM_WORLD, and rank 3 has sent no such message: rank 3" + computing}},
		"Finalize": {Job{Ranks: []Rank{blockedIn(0, call(Last, 17, 1)), blockedIn(1, call(Last, 17, 2)), running(2)}}, []string{
			"ranks 0 and 1 wait in Finalize, which rank 2 has not called: rank 2" + computing}},
		"a fence": {Job{Ranks: []Rank{
			blockedIn(0, Wait{Kind: Collective, Comm: 8, Call: barrier, Number: 2, Needs: []int{1}}).with(window(Word{}, nil)).with(func(r *Rank) { r.Comms[1].Calls = 2 }),
			running(1).with(window(Word{}, nil))}}, []string{
			`rank 0 waits in Fence or Free of window "table" (barrier number 2), which rank 1 has not called: rank 1` + computing}},
		"tags that differ": {Job{Ranks: []Rank{running(0), blockedIn(1, recv(0, 7)).with(func(r *Rank) {
			r.Arrived = []Message{{From: 2, Tag: 7, Comm: world}, {From: 0, Tag: 7, Comm: 12}, {From: 0, Tag: 8, Comm: world, Bytes: 20}}
		})}}, []string{
			"rank 1 is in a receive from rank 0, tag 7, MPI_COMM_WORLD, and a message from rank 0 with tag 8 in MPI_COMM_WORLD (20 bytes) is there, which nobody receives: the tags differ, 7 and 8"}},
		"communicators that differ": {Job{Ranks: []Rank{running(0), blockedIn(1, recv(0, 7)).with(func(r *Rank) {
			r.Arrived = []Message{{From: 0, Tag: 9, Comm: 12}, {From: 0, Tag: 7, Comm: 12, Bytes: 20}}
		})}}, []string{
			"rank 1 is in a receive from rank 0, tag 7, MPI_COMM_WORLD, and a message from rank 0 with tag 7 in the communicator of context 12 (20 bytes) is there, which nobody receives: the communicators differ"}},
		"a message that differs twice": {Job{Ranks: []Rank{{Rank: 1, Waits: []Wait{recv(0, 7)}, Arrived: []Message{{From: 2, Tag: 8, Comm: world}, {From: 0, Tag: 8, Comm: 12}}}}}, nil},
		"sources that differ": {Job{Ranks: []Rank{running(0), blockedIn(1, recv(0, AnyTag)).with(func(r *Rank) {
			r.Arrived = []Message{{From: 2, Tag: 7, Comm: world, Bytes: 20}}
		})}}, []string{
			"rank 1 is in a receive from rank 0, any tag, MPI_COMM_WORLD, and a message from rank 2 with tag 7 in MPI_COMM_WORLD (20 bytes) is there, which nobody receives: the sources differ, rank 0 and rank 2",
			"rank 1 waits in a receive from rank 0, any tag, MPI_COMM_WORLD, and rank 0 has sent no such message: rank 0" + computing}},
		"a send without a receive": {Job{Ranks: []Rank{blockedIn(0, send(1, 8)), running(1)}}, []string{
			"rank 0 waits in a send to rank 1, tag 8, MPI_COMM_WORLD, 9 bytes, for which rank 1 has no receive: rank 1" + computing}},
		"a send to oneself": {Job{Ranks: []Rank{blockedIn(0, Wait{Kind: Send, Peer: 0, Tag: 1, Bytes: 9, Unmatched: true})}}, []string{
			"rank 0 is in a send to rank 0, tag 1, MPI_COMM_WORLD, 9 bytes, so to itself, and no other goroutine of it makes the call that this one needs"}},
		"two that send": {Job{Ranks: []Rank{blockedIn(0, send(1, 8)), blockedIn(1, send(0, 8))}}, []string{
			"ranks 0 and 1 wait for each other's receive, both are blocked in a send: deadlock; use Sendrecv, or Isend on one side (rank 0: a send to rank 1, tag 8, MPI_COMM_WORLD, 9 bytes; rank 1: a send to rank 0, tag 8, MPI_COMM_WORLD, 9 bytes)"}},
		"three that send": {Job{Ranks: []Rank{blockedIn(0, send(1, 8)), blockedIn(1, send(2, 8)), blockedIn(2, send(0, 8))}}, []string{
			"ranks 0 to 2 wait for one another's receive, all are blocked in a send: deadlock; use Sendrecv, or Isend on one side (rank 0: a send to rank 1, tag 8, MPI_COMM_WORLD, 9 bytes; rank 1: a send to rank 2, tag 8, MPI_COMM_WORLD, 9 bytes; rank 2: a send to rank 0, tag 8, MPI_COMM_WORLD, 9 bytes)"}},
		"three that receive, and one behind them": {Job{Ranks: []Rank{blockedIn(0, recv(1, 3)), blockedIn(1, anyOf(3, 0, 2)), blockedIn(2, recv(0, 3)), blockedIn(3, recv(1, 4))}}, []string{
			"rank 3 waits in a receive from rank 1, tag 4, MPI_COMM_WORLD, and rank 1 has sent no such message: rank 1 is in a receive from any rank, tag 3, MPI_COMM_WORLD",
			"ranks 0 to 2 wait to receive from one another, and none of them sends: deadlock (rank 0: a receive from rank 1, tag 3, MPI_COMM_WORLD; rank 1: a receive from any rank, tag 3, MPI_COMM_WORLD; rank 2: a receive from rank 0, tag 3, MPI_COMM_WORLD)",
			"rank 3 waits for those and can't go on either"}},
		"a wildcard that one rank may serve": {Job{Ranks: []Rank{blockedIn(0, anyOf(3, 1, 2)), blockedIn(1, recv(0, 3)), running(2)}}, []string{
			"rank 0 waits in a receive from any rank, tag 3, MPI_COMM_WORLD, and no such message is there or announced",
			"rank 1 waits in a receive from rank 0, tag 3, MPI_COMM_WORLD, and rank 0 has sent no such message: rank 0 is in a receive from any rank, tag 3, MPI_COMM_WORLD"}},
		"a ring of which one has a callback": {Job{Ranks: []Rank{blockedIn(0, recv(1, 3)).with(func(r *Rank) { r.Callbacks = 1 }), blockedIn(1, recv(0, 3))}}, []string{
			"rank 0 waits in a receive from rank 1, tag 3, MPI_COMM_WORLD, and rank 1 has sent no such message: rank 1 is in a receive from rank 0, tag 3, MPI_COMM_WORLD",
			"rank 1 waits in a receive from rank 0, tag 3, MPI_COMM_WORLD, and rank 0 has sent no such message: rank 0 is in a receive from rank 1, tag 3, MPI_COMM_WORLD"}},
		"an exclusive holder": {Job{Ranks: []Rank{
			running(0).with(window(Word{}, nil)), blockedIn(1, lock(2, "shared")).with(window(Word{}, nil)),
			blockedIn(2, lock(2, "exclusive")).with(window(Word{Held: []Claim{{0, "exclusive"}}, Waiting: []Claim{{2, "exclusive"}, {1, "shared"}}}, nil))}}, []string{
			`rank 2 waits for the lock of rank 2 in window "table", which rank 0 holds exclusively: rank 0` + computing,
			`rank 1 waits for the lock of rank 2 in window "table", which rank 0 holds exclusively: rank 0` + computing}},
		"locks taken crosswise": {Job{Ranks: []Rank{
			blockedIn(0, lock(1, "exclusive")).with(window(Word{Held: []Claim{{0, "exclusive"}}, Waiting: []Claim{{1, "exclusive"}}}, nil)),
			blockedIn(1, lock(0, "exclusive")).with(window(Word{Held: []Claim{{1, "exclusive"}}, Waiting: []Claim{{0, "exclusive"}}}, nil))}}, []string{
			`rank 1 waits for the lock of rank 0 in window "table", which rank 0 holds exclusively: rank 0 is in Lock of window "table"`,
			`rank 0 waits for the lock of rank 1 in window "table", which rank 1 holds exclusively: rank 1 is in Lock of window "table"`,
			`ranks 0 and 1 wait for each other: deadlock (rank 0: Lock of window "table"; rank 1: Lock of window "table")`}},
		"a waiter in front": {Job{Ranks: []Rank{ // rank 2 waits behind rank 1, which waits for rank 2's message
			running(0).with(window(Word{Held: []Claim{{0, "shared"}}, Waiting: []Claim{{1, "exclusive"}, {2, "shared"}}}, nil)),
			blockedIn(1, recv(2, 1)), blockedIn(2, lock(0, "shared"))}}, []string{
			`rank 2 waits for the lock of rank 0 in window "table", which nobody holds any more: it is about to be granted`,
			`ranks 1 and 2 wait for each other: deadlock (rank 1: a receive from rank 2, tag 1, MPI_COMM_WORLD; rank 2: Lock of window "table")`}},
		"LockAll and exclusive locks": {Job{Ranks: []Rank{
			running(0).with(window(Word{}, &Word{Held: []Claim{{0, "side"}, {1, "side"}}})), running(1),
			blockedIn(2, Wait{Kind: Lock, Comm: 8, Peer: AnyRank, Target: 0, Claim: "shared", Global: true})}}, []string{
			`rank 2 waits for all locks of window "table", which ranks 0 and 1 keep from being granted, as they hold exclusive locks: ranks 0 and 1 are blocked in no call: they compute, or wait outside of the library`}},
		"an exclusive lock against LockAll": {Job{Ranks: []Rank{
			running(0).with(window(Word{}, &Word{Held: []Claim{{1, "shared"}}})), running(1),
			blockedIn(2, Wait{Kind: Lock, Comm: 8, Peer: AnyRank, Target: 0, Claim: "side", Global: true})}}, []string{
			`rank 2 waits for an exclusive lock in window "table", which rank 1 holds by LockAll: rank 1` + computing}},
		"a lock that is being granted": {Job{Ranks: []Rank{
			running(0).with(window(Word{Held: []Claim{{1, "exclusive"}}}, nil)), blockedIn(1, lock(0, "exclusive"))}}, []string{
			`rank 1 waits for the lock of rank 0 in window "table", which nobody holds any more: it is about to be granted`}},
		"a lock whose owner is silent": {Job{Ranks: []Rank{blockedIn(1, lock(0, "exclusive")).with(window(Word{}, nil))}}, []string{
			`rank 1 waits for the lock of rank 0 in window "table", whose holder only rank 0 knows, which has not told`}},
		"Start and Wait": {Job{Ranks: []Rank{
			blockedIn(0, Wait{Kind: Start, Comm: 8, Peer: AnyRank, Needs: []int{1, 2}}).with(window(Word{}, nil)),
			running(1), blockedIn(2, Wait{Kind: Close, Comm: 8, Peer: AnyRank, Needs: []int{1}})}}, []string{
			`rank 0 waits in Start in window "table" for the Post of ranks 1 and 2: rank 2 is in Wait in window "table"; rank 1` + computing,
			`rank 2 waits in Wait in window "table" for the Complete of rank 1: rank 1` + computing}},
		"a target without a progress thread": {Job{Ranks: []Rank{
			blockedIn(0, Wait{Kind: Flush, What: "flush in the window of context 8", Peer: 1}), running(1).with(func(r *Rank) { r.Threaded = false })}}, []string{
			"rank 0 waits in flush in the window of context 8 for rank 1, which has no progress thread and is in no call: packets wait there for its next call"}},
		"partitions": {Job{Ranks: []Rank{
			{Rank: 0, Comms: comms, Waits: []Wait{{Kind: PartitionSend, Peer: 1, Tag: 6, Missing: [][2]int{{0, 1}, {3, 3}, {5, 9}}, Partitions: 10}}},
			blockedIn(1, Wait{Kind: PartitionRecv, Peer: 0, Tag: 6, Missing: [][2]int{{0, 0}}, Partitions: 1})}}, []string{
			"partitions 0, 1, 3 and 5 to 9 of the 10 of rank 0's partitioned send to rank 1, tag 6, MPI_COMM_WORLD, are not ready, and rank 1 waits for them"}},
		"a partition": {Job{Ranks: []Rank{
			{Rank: 0, Comms: comms, Waits: []Wait{{Kind: PartitionSend, Peer: 1, Tag: 6, Missing: [][2]int{{3, 3}}, Partitions: 10, Seconds: 61, Place: "main.f at f.go:3"}}}}}, []string{
			"partition 3 of the 10 of rank 0's partitioned send to rank 1, tag 6, MPI_COMM_WORLD, is not ready, for 1m1s (main.f at f.go:3)"}},
		"a round that was not started": {Job{Ranks: []Rank{running(0), blockedIn(1, Wait{Kind: PartitionRecv, Peer: 0, Tag: 6})}}, []string{
			"rank 1 waits in a partitioned receive from rank 0, tag 6, MPI_COMM_WORLD, 0 bytes in 0 partitions, and rank 0 has not started such a send: rank 0" + computing}},
	} {
		if got := c.job.Sentences(); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, c.want)
		}
	}
}

func TestOnlyWhatHasLastedHoldsARank(t *testing.T) {
	ring := func(op uint64, state string, goroutine int) Job {
		j := Job{Ranks: []Rank{blockedIn(0, recv(1, 3)), blockedIn(1, recv(0, 3))}}
		w := &j.Ranks[0].Waits[0]
		w.Op, w.State, w.Goroutine = op, state, goroutine
		return j
	}
	for name, c := range map[string]struct {
		before, now Job
		stuck       int
	}{
		"the same operations":                {ring(1, "", 1), ring(1, "", 1), 2},
		"another operation":                  {ring(1, "", 1), ring(2, "", 1), 0},
		"one that has moved":                 {ring(1, "", 1), ring(1, "its message arrives", 1), 0},
		"one that was not waited for":        {ring(1, "", 0), ring(1, "", 1), 0},
		"a rank that had not replied before": {Job{Ranks: ring(1, "", 1).Ranks[:1]}, ring(1, "", 1), 0},
	} {
		last := c.now.Lasting(&c.before)
		if last.Stuck() != (c.stuck > 0) || len(last.graph().stuck) != c.stuck || last.Ranks[0].Waits[0].Unmatched != (len(last.Ranks[0].Waits[0].Needs) > 0) {
			t.Errorf("%s: %+v", name, last)
		}
		if len(c.now.Ranks[0].Waits[0].Needs) == 0 {
			t.Errorf("%s: Lasting has changed its argument", name)
		}
	}
	holder := blockedIn(0, lock(1, "shared"))
	owner := running(1).with(window(Word{Held: []Claim{{1, "exclusive"}}}, nil))
	now := &Job{Ranks: []Rank{holder, owner}}
	if len(now.Lasting(now).Sentences()) != 1 || len(now.Lasting(&Job{}).Sentences()) != 0 {
		t.Errorf("a lock: %q, new: %q", now.Lasting(now).Sentences(), now.Lasting(&Job{}).Sentences())
	}
}

func TestSentencesAreBounded(t *testing.T) {
	var j Job
	for i := range 200 {
		j.Ranks = append(j.Ranks, blockedIn(2*i, recv(2*i+1, 0)), running(2*i+1))
	}
	got := j.Sentences()
	if len(got) != most+1 || got[most] != "and 140 more sentences" {
		t.Errorf("%d sentences, the last is %q", len(got), got[len(got)-1])
	}
}

func TestWaitsForNamesWhoIsNeeded(t *testing.T) {
	j := Job{Ranks: []Rank{
		blockedIn(0, recv(1, 3)), blockedIn(1, anyOf(3, 0, 2)), running(2),
		blockedIn(3, call("Barrier", 3, 1, 2, 4)), blockedIn(4, Wait{Kind: Other, What: "flush", Peer: AnyRank, Seconds: 4}),
		blockedIn(5, lock(2, "shared")).with(window(Word{}, nil)),
	}}
	j.Ranks[2] = j.Ranks[2].with(window(Word{Held: []Claim{{4, "exclusive"}}}, nil))
	for rank, want := range []string{
		"rank 1: a receive from rank 1, tag 3, MPI_COMM_WORLD", "any rank: a receive from any rank, tag 3, MPI_COMM_WORLD", "",
		"ranks 1, 2 and 4: Barrier, number 3 of MPI_COMM_WORLD", "flush", `rank 4: Lock of window "table"`, "",
	} {
		if got, _ := j.WaitsFor(rank); got != want {
			t.Errorf("rank %d: %q, want %q", rank, got, want)
		}
	}
}
