//go:build bugs

package rma

import "github.com/weft-mpi/weft/internal/testkit/planted"

const interleavings = "TestLocksInAllInterleavings"

// lockBugs are the mistakes that TestPlantedBugsOfLocks makes, one at a time. Above
// each stands what it breaks.
var lockBugs = planted.List{
	// Waiters. Each loses one for good.
	{"the queued bit is set after the look", "rma/lock_queue.go",
		"\t\tnext = q.fit(next | bit)\n\t\tif next == w || o.CAS(w, next) { // pairs with those of lockOrigin\n\t\t\tbreak\n\t\t}\n",
		"\t\tnext = q.fit(next | bit)\n\t\tlate := next & lockQueued\n\t\tnext = next&^lockQueued | w&lockQueued\n\t\tif next == w || o.CAS(w, next) {\n\t\t\tfor w = o.Load(); !o.CAS(w, w&^lockQueued|late); w = o.Load() {\n\t\t\t}\n\t\t\tbreak\n\t\t}\n",
		interleavings},
	{"a release that leaves waiters does not knock", "rma/lock_op.go",
		"\tcase op.knocks:\n\t\top.stage = lockKnock\n", "", interleavings},
	{"the last shared release does not knock", "rma/lock_word.go",
		"return w, w&lockQueued != 0 && w.shared() == 0", "return w, w&lockQueued != 0 && w.shared() > 0", interleavings},
	{"the owner does not look after a death", "rma/lock_queue.go",
		"\tq.change(o, lockNone, poisoned)\n", "\tif poisoned != 0 {\n\t\tq.change(o, lockNone, poisoned)\n\t}\n", interleavings},
	{"an operation does not hear of its owner's death", "rma/lock_op.go",
		"\tif op.stage != lockWait || op.at.rank != rank {", "\tif true {", interleavings},
	{"those that wait for the side are not woken", "rma/lock_origin.go",
		"\twoken := s.parked\n", "\twoken := s.parked[:0]\n", interleavings},
	{"the word is stored to, not compared and swapped", "rma/lock_memory.go",
		"\treturn atomic.CompareAndSwapUint64(b.word(at), uint64(old), uint64(next)) // pairs with load and itself\n",
		"\tif atomic.LoadUint64(b.word(at)) != uint64(old) {\n\t\treturn false\n\t}\n\tfor range 5000 {\n\t\tatomic.LoadUint64(b.word(at))\n\t}\n\tatomic.StoreUint64(b.word(at), uint64(next))\n\treturn true\n",
		"TestAChangeOfALockWord"},

	// Order. Each has one rank pass another.
	{"a shared lock is granted past an exclusive one", "rma/lock_queue.go",
		"(r.holding || w&lockQueued == 0) && w.permits", "w.permits", interleavings},
	{"a direct origin takes the word past those that wait", "rma/lock_word.go",
		"w&lockQueued != 0 && !holding || ", "", interleavings},

	// Exclusion.
	{"an exclusive lock ignores the shared ones", "rma/lock_word.go",
		"return w.exclusive() == 0 && w.shared() == 0", "return w.exclusive() == 0", interleavings},
	{"an exclusive lock ignores LockAll", "rma/lock_op.go",
		"\t\top.at, op.claim = lockAt{global: true}, lockSide\n", "\t\top.of.sides++\n", interleavings},
	{"the side is given back with the first of two locks", "rma/lock_op.go",
		"if s.sides--; s.sides == 0 {", "if s.sides--; s.side == sideHad {", interleavings},

	// Deadlocks that the program does not have.
	{"the side is taken again by a rank that has it", "rma/lock_op.go",
		"\t\tcase sideHad:\n\t\t\top.win(p)\n", "\t\tcase sideHad:\n", interleavings},
	{"a rank that holds a lock waits behind others", "rma/lock_op.go",
		"\top.holding = of.held > 0 || elsewhere\n", "", interleavings},
	{"who takes the side for one that holds a lock waits behind others", "rma/lock_origin.go",
		"op.holding && !t.holding {", "false {", interleavings},
	{"that is not sent", "rma/lock_origin.go",
		"\t\t\top.stage = lockPress\n", "", interleavings},
	{"a request that fails keeps the side", "rma/lock_op.go",
		"\tcase lockExclusive:\n\t\top.leaveSide()\n\t}\n}\n\n// dropped", "\t}\n}\n\n// dropped", interleavings},

	{"a lock that a call has taken is not known", "rma/lock_call.go",
		"held = held || atomic.LoadUint64(bits)", "held = held || 0*atomic.LoadUint64(bits)", "TestARankThatHoldsALockByACall"},
	{"a call takes a lock that others wait for", "rma/lock_call.go",
		"w.rank, false)\n		if !ok", "w.rank, true)\n		if !ok", "TestALockThatACallHasTakenExcludes"},
	{"a lock that a call takes has no mark", "rma/lock_call.go",
		"	b.setMark(at, w.rank, lockShared)", "	b.setMark(at, w.rank, lockNone)", "TestALockThatACallHasTakenExcludes"},

	// Deaths.
	{"a dead rank is left in the queue", "rma/lock_queue.go",
		"\tq.remove(func(r lockRequest) bool { return r.origin == rank })\n", "", interleavings},
	{"what the dead held is granted", "rma/lock_queue.go",
		"\t\tif q.dead[c] == 0 {\n", "\t\tif q.dead[c] < 0 {\n", interleavings},
	// One rank is refused what another one takes.
	{"a word that the dead held is taken directly", "rma/lock_word.go",
		"if w&lockPoisoned != 0 || ", "if ", "TestALockWord"},
	{"a death refuses all claims to a word", "rma/lock_queue.go",
		"if rank != 0 && c.conflicts(lockClaim(d)) {", "if rank != 0 && c != lockClaim(d)+lockClaims {", "TestTheDeadHoldForEver"},
	{"those that wait as the holder dies are not refused", "rma/lock_queue.go",
		"\t\t\t\to.Refuse(r.origin, r.claim, dead)\n\t\t\t}\n\t\t\treturn ok\n", "\t\t\t\to.Refuse(r.origin, r.claim, dead)\n\t\t\t}\n\t\t\treturn false\n", interleavings},
	{"a grant leaves no mark", "rma/lock_queue.go",
		"\t\t\tif r.claim.marked() {\n\t\t\t\to.SetMark", "\t\t\tif false {\n\t\t\t\to.SetMark", interleavings},
	{"the mark is set after the take", "rma/lock_op.go",
		"\tcase op.claim.marked():\n\t\top.stage = lockMark\n\tdefault:\n\t\top.stage = lockTake\n", "\tdefault:\n\t\top.stage = lockTake\n", interleavings},
	{"a mark stays with a rank that waits", "rma/lock_op.go",
		"\t\tcase !ok && op.claim.marked():\n\t\t\top.stage = lockClear\n", "", interleavings},
	// The owner indexes with what a peer stores.
	{"a mark that is none is believed", "rma/lock_memory.go",
		"\tif c >= uint64(lockClaims) {\n", "\tif c > 1<<62 {\n", "TestAQueueTakesNothing"},
	{"a release is believed", "rma/lock_queue.go",
		"\tif c == lockNone || q.holds(o, origin) != c {\n", "\tif c == lockNone {\n", "TestAQueueTakesNothing"},
	{"a second request of one rank is queued", "rma/lock_queue.go",
		"\t\tif r.origin == origin {\n\t\t\treturn false\n", "\t\tif r.origin == origin {\n\t\t\tbreak\n", "TestAQueueTakesNothing"},
}
