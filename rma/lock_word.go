package rma

// lockClaim is what a rank holds, or asks for, at a lock word.
type lockClaim uint8

const (
	lockNone      lockClaim = iota
	lockShared              // at a target: a shared lock; at the global word: LockAll
	lockExclusive           // at a target: an exclusive lock
	lockSide                // at the global word: the rank holds exclusive locks
	lockClaims
)

func (c lockClaim) String() string {
	return [...]string{"none", "shared", "exclusive", "side"}[c]
}

// conflicts reports whether two ranks may not have the two claims to one word at
// the same time.
func (c lockClaim) conflicts(d lockClaim) bool { return c != d || c == lockExclusive }

// marked reports whether a rank that has the claim is named by its mark. The one
// exclusive holder is named in the word.
func (c lockClaim) marked() bool { return c == lockShared || c == lockSide }

// belongs reports whether the claim is one to a word of that sort.
func (c lockClaim) belongs(global bool) bool {
	return c == lockShared || c == lockExclusive && !global || c == lockSide && global
}

// lockWord is the state of a lock (MPI-4.0 §12.5.3) in one word. All ranks that
// reach it change it by compare-and-swap, each time to what a function of this file
// says: so a change sees all earlier ones, and the release that leaves waiters
// behind sees the bit of the first of them.
//
//	bit 63      queued: requests wait at the owner, and nobody passes them
//	bit 62      poisoned: a rank has died that held it; the owner decides
//	bits 31-61  the exclusive holder's rank + 1; at the global word how many have
//	            the exclusive side
//	bits 0-30   how many have it shared
type lockWord uint64

const (
	lockQueued   lockWord = 1 << 63
	lockPoisoned lockWord = 1 << 62
	lockField    lockWord = 1<<31 - 1 // each of the two fields
	lockShift             = 31
)

func (w lockWord) shared() int    { return int(w & lockField) }
func (w lockWord) exclusive() int { return int(w >> lockShift & lockField) }

// holder is the rank that has a target's lock exclusively.
func (w lockWord) holder() (rank int, ok bool) { return w.exclusive() - 1, w.exclusive() != 0 }

// permits reports whether those that hold the lock leave room for the claim.
func (w lockWord) permits(c lockClaim) bool {
	switch c {
	case lockShared:
		return w.exclusive() == 0
	case lockExclusive:
		return w.exclusive() == 0 && w.shared() == 0
	case lockSide:
		return w.shared() == 0
	}
	return false
}

// add is the word with a holder more.
func (w lockWord) add(c lockClaim, rank int) lockWord {
	switch c {
	case lockShared:
		return w + 1
	case lockExclusive:
		return w + lockWord(rank+1)<<lockShift
	case lockSide:
		return w + 1<<lockShift
	}
	return w
}

// take is what a rank does that reaches the word: ok reports whether it has the
// claim now. A rank that holds another lock waits for holders only, see
// lockRequest.
func (w lockWord) take(c lockClaim, rank int, holding bool) (next lockWord, ok bool) {
	if w&lockPoisoned != 0 || w&lockQueued != 0 && !holding || !w.permits(c) {
		return w, false
	}
	return w.add(c, rank), true
}

// drop is the word with a holder less. knock reports whether requests wait that may
// be granted now: whoever changes the word has to tell its owner.
func (w lockWord) drop(c lockClaim) (next lockWord, knock bool) {
	switch c {
	case lockShared:
		w--
		return w, w&lockQueued != 0 && w.shared() == 0
	case lockExclusive:
		w &^= lockField << lockShift
		return w, w&lockQueued != 0
	case lockSide:
		w -= 1 << lockShift
		return w, w&lockQueued != 0 && w.exclusive() == 0
	}
	return w, false
}
