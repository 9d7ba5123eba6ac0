package rma

import (
	"strings"
	"testing"
)

func TestALockWordTellsWhoMayTakeIt(t *testing.T) {
	const rank = 1<<20 + 5
	words := map[string]lockWord{
		"free":      0,
		"shared":    lockWord(0).add(lockShared, 1).add(lockShared, 2),
		"exclusive": lockWord(0).add(lockExclusive, rank),
		"sides":     lockWord(0).add(lockSide, 1).add(lockSide, 2),
	}
	permits := map[string][lockClaims]bool{ // none, shared, exclusive, side
		"free":      {false, true, true, true},
		"shared":    {false, true, false, false},
		"exclusive": {false, false, false, true}, // never asked: the words differ
		"sides":     {false, false, false, true},
	}
	for name, w := range words {
		for c := range lockClaims {
			for bits, takes := range map[lockWord][2]bool{0: {true, true}, lockQueued: {false, true}, lockPoisoned: {}, lockPoisoned | lockQueued: {}} {
				if got := (w | bits).permits(c); got != permits[name][c] {
					t.Errorf("%s, bits %#x permits %v: %t", name, uint64(bits), c, got)
				}
				for i, holding := range []bool{false, true} {
					next, ok := (w | bits).take(c, rank, holding)
					if want := permits[name][c] && takes[i]; ok != want || ok == (next == w|bits) {
						t.Errorf("%s, bits %#x: take of %v, holding %t: %t, %#x", name, uint64(bits), c, holding, ok, uint64(next))
					}
					if back, knock := next.drop(c); ok && (back != w|bits || knock && bits&lockQueued == 0) {
						t.Errorf("%s, bits %#x: take and drop of %v leave %#x, knock %t", name, uint64(bits), c, uint64(back), knock)
					}
				}
			}
		}
	}
	if r, ok := words["exclusive"].holder(); !ok || r != rank {
		t.Errorf("the holder is %d, %t", r, ok)
	}
	if _, ok := lockWord(0).holder(); ok {
		t.Error("a free lock has a holder")
	}
}

func TestTheLastReleaseKnocksIfSomebodyWaits(t *testing.T) {
	for _, c := range []lockClaim{lockShared, lockSide, lockExclusive} {
		w := lockQueued.add(c, 3)
		if c.marked() {
			w = w.add(c, 4)
			var knock bool
			if w, knock = w.drop(c); knock {
				t.Errorf("%v: one of two knocks", c)
			}
		}
		if _, knock := w.drop(c); !knock {
			t.Errorf("%v: the last does not knock", c)
		}
		if _, knock := (w &^ lockQueued).drop(c); knock {
			t.Errorf("%v: it knocks where nobody waits", c)
		}
	}
}

// lockLog notes what a queue replies.
type lockLog struct{ strings.Builder }

func (l *lockLog) Grant(at lockAt, origin int, c lockClaim) {
	l.WriteString(" grant " + c.String() + " " + string(rune('0'+origin)))
}

func (l *lockLog) Refuse(at lockAt, origin int, c lockClaim, dead int) {
	l.WriteString(" refuse " + c.String() + " " + string(rune('0'+origin)) + " for " + string(rune('0'+dead)))
}

// queueOf makes the queue of a word of ten ranks.
func queueOf(at lockAt) (*lockQueue, *lockOwned, *lockLog) {
	log := &lockLog{}
	return &lockQueue{global: at.global}, &lockOwned{block: make(lockBlock, lockBlockLen(10)), at: at, replies: log}, log
}

func TestAQueueGrantsInOrderAndSharedOnesTogether(t *testing.T) {
	q, o, log := queueOf(lockAt{})
	for i, c := range []lockClaim{lockExclusive, lockShared, lockShared, lockExclusive, lockShared} {
		if !q.Request(o, i, c, false) {
			t.Errorf("request %d is none", i)
		}
	}
	if q.Ready(o.Load()) {
		t.Error("a queue that waits for the holder is ready")
	}
	for _, r := range []struct {
		origin int
		c      lockClaim
	}{{0, lockExclusive}, {2, lockShared}, {1, lockShared}, {3, lockExclusive}, {4, lockShared}} {
		if !q.Release(o, r.origin, r.c) {
			t.Errorf("release by %d is none", r.origin)
		}
	}
	if got, want := log.String(), " grant exclusive 0 grant shared 1 grant shared 2 grant exclusive 3 grant shared 4"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if o.Load() != 0 {
		t.Errorf("the word is left as %#x", uint64(o.Load()))
	}
}

func TestAQueueIsReadyOnceTheWordIsFree(t *testing.T) {
	q, o, log := queueOf(lockAt{})
	direct, _ := lockWord(0).take(lockExclusive, 7, false)
	o.CAS(0, direct)
	q.Request(o, 1, lockShared, false)
	if log.Len() > 0 || q.Ready(o.Load()) || o.Load()&lockQueued == 0 {
		t.Errorf("%s, word %#x", log, uint64(o.Load()))
	}
	free, knock := o.Load().drop(lockExclusive)
	if o.CAS(o.Load(), free); !knock || !q.Ready(free) {
		t.Errorf("knock %t, ready %t", knock, q.Ready(free))
	}
	if q.Look(o); log.String() != " grant shared 1" || o.Load() != lockWord(0).add(lockShared, 1) || o.Mark(1) != lockShared {
		t.Errorf("%s, word %#x, mark %v", log, uint64(o.Load()), o.Mark(1))
	}
}

// A death refuses what conflicts with what the dead held, and nothing else.
func TestTheDeadHoldForEver(t *testing.T) {
	for _, c := range []struct {
		name   string
		global bool
		held   lockClaim // by rank 1
		want   string    // of requests of 2 to 5, before and after the death
	}{
		{"exclusive", false, lockExclusive, " refuse shared 2 for 1 refuse exclusive 3 for 1 refuse shared 4 for 1 refuse exclusive 5 for 1"},
		{"shared", false, lockShared, " grant shared 2 refuse exclusive 3 for 1 grant shared 4 refuse exclusive 5 for 1"},
		{"exclusive locks elsewhere", true, lockSide, " refuse shared 2 for 1 grant side 3 refuse shared 4 for 1 grant side 5"},
		{"LockAll", true, lockShared, " grant shared 2 refuse side 3 for 1 grant shared 4 refuse side 5 for 1"},
		{"nothing", false, lockNone, " grant shared 2 grant shared 4"},
	} {
		q, o, log := queueOf(lockAt{global: c.global})
		other := lockExclusive
		if c.global {
			other = lockSide
		}
		if c.held != lockNone {
			q.Request(o, 1, c.held, false)
			log.Reset()
		}
		q.Request(o, 2, lockShared, false)
		q.Request(o, 3, other, false)
		q.Down(o, 1)
		if c.held == lockNone {
			q.Down(o, 3) // what waits does not hold
		}
		q.Request(o, 4, lockShared, false)
		q.Request(o, 5, other, true)
		if got := log.String(); got != c.want {
			t.Errorf("%s:%s, want%s", c.name, got, c.want)
		}
	}
}

func TestAQueueTakesNothingThatBreaksTheProtocol(t *testing.T) {
	q, o, log := queueOf(lockAt{})
	q.Request(o, 1, lockShared, false)
	q.Request(o, 2, lockExclusive, false)
	log.Reset()
	before := o.Load()
	for what, took := range map[string]bool{
		"a second request of who waits":      q.Request(o, 2, lockShared, false),
		"a request of who holds":             q.Request(o, 1, lockShared, true),
		"a claim to the global word":         q.Request(o, 3, lockSide, false),
		"no claim":                           q.Request(o, 3, lockNone, false),
		"no claim at all":                    q.Request(o, 3, lockClaims+7, false),
		"a release of who waits":             q.Release(o, 2, lockExclusive),
		"a release of another claim":         q.Release(o, 1, lockExclusive),
		"a release of nothing":               q.Release(o, 3, lockNone),
		"a release of what nobody has":       q.Release(o, 3, lockShared),
		"an exclusive release by a stranger": q.Release(o, 4, lockExclusive),
	} {
		if took {
			t.Errorf("%s is taken", what)
		}
	}
	if log.Len() > 0 || o.Load() != before || len(q.waiting) != 1 {
		t.Errorf("%s, word %#x, was %#x, %d wait", log, uint64(o.Load()), uint64(before), len(q.waiting))
	}
	*o.block.mark(o.at, 5) = 1 << 40 // a peer's store
	if q.Down(o, 5); q.dead[lockShared] != 6 {
		t.Error("a mark that is none holds nothing")
	}
}

func TestAnOperationTakesNoReplyThatItDoesNotWaitFor(t *testing.T) {
	for what, s := range map[string]lockOp{
		"idle":            {},
		"before it asks":  {stage: lockAsk, claim: lockShared},
		"of another word": {stage: lockWait, claim: lockShared, at: lockAt{rank: 1}},
		"of another":      {stage: lockWait, claim: lockExclusive, at: lockAt{rank: 1}},
	} {
		was := s
		if s.Granted(nil, lockAt{}, lockShared) || s.Refused(nil, lockAt{}, lockShared, 3) || s.Down(nil, 0) || was != s {
			t.Errorf("%s: it takes the reply", what)
		}
	}
}

func TestALockErrorNamesTheDead(t *testing.T) {
	for want, e := range map[string]*LockError{
		"the lock of rank 3 can't be granted: rank 5, which held a lock that conflicts, has died":                   {Target: 3, Dead: 5, Held: true},
		"the locks of all ranks can't be granted: rank 0, which keeps the word of it, has died or freed the window": {Target: lockEverywhere},
	} {
		if !strings.HasPrefix(e.Error(), want) {
			t.Errorf("%v", e)
		}
	}
}
