package rma

import "slices"

// lockRequest is a request that waits at the owner of a lock word.
//
// A rank that holds another lock of the job waits for holders only, never for those
// that wait: else a rank that waits for it, behind a third one that waits as well,
// would make a deadlock that the program does not have. So its request passes those
// of ranks that hold nothing. Nobody else passes anybody.
type lockRequest struct {
	origin  int
	claim   lockClaim
	holding bool // the origin holds another lock
	fits    bool // of the last fit
}

// lockQueue is the owner's side of one lock word: the requests of those that could
// not take it themselves, in the order in which they arrived. It does no I/O: each
// event is one call, which changes the word once and says who is granted what. All
// calls are made by the owner of the loop of the word's rank.
//
// The dead hold for ever. What a rank held when it died is refused to all whose
// claim conflicts with it, with an error that names the dead; other claims, to this
// word and others, go on.
type lockQueue struct {
	global  bool // the word is the global one
	waiting []lockRequest
	dead    [lockClaims]int // rank + 1 of the first that died with the claim
}

// lockOwner is what a queue needs of the memory of its word, and of the loop.
type lockOwner interface {
	Load() lockWord
	CAS(old, next lockWord) bool
	// Mark and SetMark access the mark of an origin at this word. An origin that
	// reaches the word changes its mark too, but not while it waits.
	Mark(origin int) lockClaim
	SetMark(origin int, c lockClaim)
	// Grant and Refuse end the request of an origin. They send, or note, and do
	// not call the queue.
	Grant(origin int, c lockClaim)
	Refuse(origin int, c lockClaim, dead int)
}

// Request is the arrival of a request. It returns false for one that no rank makes
// which keeps to the protocol.
func (q *lockQueue) Request(o lockOwner, origin int, c lockClaim, holding bool) bool {
	if !c.belongs(q.global) || q.holds(o, origin) != lockNone {
		return false
	}
	for _, r := range q.waiting {
		if r.origin == origin {
			return false
		}
	}
	if dead, ok := q.refuses(c); ok {
		o.Refuse(origin, c, dead)
		return true
	}
	q.waiting = append(q.waiting, lockRequest{origin: origin, claim: c, holding: holding})
	q.change(o, lockNone, 0)
	return true
}

// Press is the arrival of the news that the origin of a request holds a lock by now.
// It may come too late.
func (q *lockQueue) Press(o lockOwner, origin int, c lockClaim) {
	for i := range q.waiting {
		if r := &q.waiting[i]; r.origin == origin && r.claim == c {
			r.holding = true
			q.change(o, lockNone, 0)
			return
		}
	}
}

// Release is the arrival of a release. It returns false for one of what the origin
// does not hold.
func (q *lockQueue) Release(o lockOwner, origin int, c lockClaim) bool {
	if c == lockNone || q.holds(o, origin) != c {
		return false
	}
	if c.marked() {
		o.SetMark(origin, lockNone)
	}
	q.change(o, c, 0)
	return true
}

// Ready reports whether Look would grant something: the condition of the owner's
// Watch. Whoever makes it true knocks.
func (q *lockQueue) Ready(w lockWord) bool { return len(q.waiting) > 0 && q.fit(w) != w }

// Look grants what the word permits.
func (q *lockQueue) Look(o lockOwner) {
	if len(q.waiting) > 0 {
		q.change(o, lockNone, 0)
	}
}

// Down is the death of a rank, after its last message. What it held is not granted
// any more to those that conflict with it. It looks, too: the dead may have
// released the word and not knocked.
func (q *lockQueue) Down(o lockOwner, rank int) {
	q.remove(func(r lockRequest) bool { return r.origin == rank })
	var poisoned lockWord
	if c := q.holds(o, rank); c != lockNone {
		poisoned = lockPoisoned
		if q.dead[c] == 0 {
			q.dead[c] = rank + 1
		}
		q.remove(func(r lockRequest) bool {
			dead, ok := q.refuses(r.claim)
			if ok {
				o.Refuse(r.origin, r.claim, dead)
			}
			return ok
		})
	}
	q.change(o, lockNone, poisoned)
}

// holds is what a rank has at the word. One that died between its mark and its
// compare-and-swap counts as a holder.
func (q *lockQueue) holds(o lockOwner, rank int) lockClaim {
	if h, ok := o.Load().holder(); ok && h == rank && !q.global {
		return lockExclusive
	}
	return o.Mark(rank)
}

// refuses returns the dead rank because of which a claim is refused.
func (q *lockQueue) refuses(c lockClaim) (dead int, ok bool) {
	for d, rank := range q.dead {
		if rank != 0 && c.conflicts(lockClaim(d)) {
			return rank - 1, true
		}
	}
	return 0, false
}

// fit is the word after all have been granted what they can be: from the front on,
// up to the first that has to wait, and those behind it that wait for holders only.
// The bit of the word says whether somebody still waits.
func (q *lockQueue) fit(w lockWord) lockWord {
	w &^= lockQueued
	for i := range q.waiting {
		r := &q.waiting[i]
		r.fits = (r.holding || w&lockQueued == 0) && w.permits(r.claim)
		if r.fits {
			w = w.add(r.claim, r.origin)
		} else {
			w |= lockQueued
		}
	}
	return w
}

// change drops a claim, sets a bit and grants, all in one change of the word. So
// there is no moment in which the word is free, a request waits and no bit says so:
// a release either comes before, and is seen here, or sees the bit.
func (q *lockQueue) change(o lockOwner, drop lockClaim, bit lockWord) {
	for {
		w := o.Load()
		next, _ := w.drop(drop)
		next = q.fit(next | bit)
		if next == w || o.CAS(w, next) { // pairs with those of lockOrigin
			break
		}
	}
	q.remove(func(r lockRequest) bool {
		if r.fits {
			if r.claim.marked() {
				o.SetMark(r.origin, r.claim)
			}
			o.Grant(r.origin, r.claim)
		}
		return r.fits
	})
}

// remove takes the requests out of which f says so, in their order.
func (q *lockQueue) remove(f func(lockRequest) bool) {
	q.waiting = slices.DeleteFunc(q.waiting, f)
}
