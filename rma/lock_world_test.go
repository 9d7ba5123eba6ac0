package rma

import (
	"fmt"
	"hash/maphash"
	"slices"
)

// The world of the explorer: goroutines of three ranks, which run a program of locks
// each. Each rank owns a lock word, rank 0 the global one besides. A step of the world is one of an operation, the arrival of a
// message or of a knock, or a death.

const (
	lockRanks    = 3
	lockRoutines = 4
	lockWords    = lockRanks + 1 // the last is the global one
)

func lockIndex(at lockAt) int {
	if at.global {
		return lockRanks
	}
	return at.rank
}

func lockNamed(i int) lockAt {
	if i == lockRanks {
		return lockAt{global: true}
	}
	return lockAt{rank: i}
}

// lockCall is a call of a program.
type lockCall struct {
	unlock bool
	kind   lockClaim
	target int
}

func (c lockCall) String() string {
	s, kind := "lock", c.kind.String()
	if c.unlock {
		s = "unlock"
	}
	if c.target == lockEverywhere {
		return s + " all"
	}
	return fmt.Sprintf("%s %s %d", s, kind, c.target)
}

// excludes reports whether two locks may not be held at the same time by two ranks.
func (c lockCall) excludes(d lockCall) bool {
	return (c.target == d.target || c.target == lockEverywhere || d.target == lockEverywhere) &&
		(c.kind == lockExclusive || d.kind == lockExclusive)
}

// needs reports whether the call needs a word of that rank.
func (c lockCall) needs(rank int) bool {
	return c.target == rank || rank == 0 && (c.kind == lockExclusive || c.target == lockEverywhere)
}

// lockPlan is what a search explores.
type lockPlan struct {
	rank     [lockRoutines]int // of each goroutine
	programs [lockRoutines][]lockCall
	direct   [lockRanks][lockRanks]bool // the first reaches the words of the second, which every rank does of its own
	mortal   int                        // the rank that may die, or -1
	meddle   bool                       // a step of another origin comes between two accesses
}

type lockMessage struct {
	what    byte // 'r'equest, 'p'ress, re'l'ease, 'g'rant, 'n'o, 'd'own
	word    int8
	claim   lockClaim
	holding bool
	dead    int8
}

// lockWorld is one state.
type lockWorld struct {
	plan    *lockPlan
	words   [lockWords]lockWord
	marks   [lockWords][lockRanks]lockClaim
	queues  [lockWords]lockQueue
	origins [lockRanks]lockOrigin
	ops     [lockRoutines]lockOp // of the goroutines
	at      [lockRoutines]int    // in the program
	running [lockRoutines]bool
	failed  [lockRoutines][]lockCall // locks that were refused and are not unlocked
	between [lockRanks][lockRanks][]lockMessage
	knocks  [lockRanks]bool
	dead    int             // or -1
	knows   [lockRanks]bool // of the death
	lost    bool            // a release of the dead
	held    [lockRoutines][]lockCall
	queued  [lockWords][]int // in the order of arrival

	wrong  string // the rule that is broken
	count  int    // accesses to memory of this step
	cut    int    // the access before which another goroutine makes a step
	other  int
	inside bool
	served int // the word whose owner has granted in this step, or -1
}

func newLockWorld(p *lockPlan) *lockWorld {
	w := &lockWorld{plan: p, dead: -1, served: -1}
	for r := range w.origins {
		w.origins[r].rank = r
	}
	w.queues[lockRanks].global = true
	return w
}

// copyTo makes c the same state, in the memory that c has.
func (w *lockWorld) copyTo(c *lockWorld) {
	old := *c
	*c = *w
	for i := range c.queues {
		c.queues[i].waiting = append(old.queues[i].waiting[:0], w.queues[i].waiting...)
		c.queued[i] = append(old.queued[i][:0], w.queued[i]...)
	}
	for r := range c.between {
		for t := range c.between[r] {
			c.between[r][t] = append(old.between[r][t][:0], w.between[r][t]...)
		}
		// Pointers between operations and origins are those of the copy.
		s := &c.origins[r]
		if s.taker != nil {
			s.taker = &c.ops[w.number(s.taker)]
		}
		s.parked = old.origins[r].parked[:0]
		for _, op := range w.origins[r].parked {
			s.parked = append(s.parked, &c.ops[w.number(op)])
		}
	}
	for g := range c.ops {
		c.failed[g] = append(old.failed[g][:0], w.failed[g]...)
		c.held[g] = append(old.held[g][:0], w.held[g]...)
		c.ops[g].of = &c.origins[w.plan.rank[g]]
	}
}

// number is that of the goroutine with the operation.
func (w *lockWorld) number(op *lockOp) int {
	for g := range w.ops {
		if op == &w.ops[g] {
			return g
		}
	}
	return -1
}

var lockSeed = maphash.MakeSeed()

// key names the state: two of a search have the same with a probability of 10⁻⁷.
func (w *lockWorld) key() uint64 {
	b := make([]byte, 0, 512)
	calls := func(cs []lockCall) {
		for _, c := range cs {
			b = append(b, byte(c.kind), byte(c.target+1))
		}
		b = append(b, 0xff)
	}
	for i := range w.words {
		b = append(b, byte(w.words[i]>>62), byte(w.words[i].exclusive()), byte(w.words[i].shared()))
		for r := range w.marks[i] {
			b = append(b, byte(w.marks[i][r]))
		}
		for _, r := range w.queues[i].waiting {
			b = append(b, byte(r.origin), byte(r.claim), boolByte(r.holding))
		}
		b = append(b, 0xff)
		for _, d := range w.queues[i].dead {
			b = append(b, byte(d))
		}
		for _, r := range w.queued[i] {
			b = append(b, byte(r))
		}
		b = append(b, 0xff)
	}
	for r, s := range w.origins {
		b = append(b, byte(s.held), byte(s.side), byte(s.sides), byte(w.number(s.taker)), boolByte(w.knocks[r]), boolByte(w.knows[r]))
		for _, p := range s.parked {
			b = append(b, byte(w.number(p)))
		}
		for t := range w.between[r] {
			for _, m := range w.between[r][t] {
				b = append(b, m.what, byte(m.word), byte(m.claim), boolByte(m.holding), byte(m.dead))
			}
			b = append(b, 0xff)
		}
	}
	for g, op := range w.ops {
		b = append(b, byte(w.at[g]), boolByte(w.running[g]), byte(op.stage), byte(lockIndex(op.at)), byte(op.claim),
			byte(op.target), byte(op.kind), boolByte(op.holding), boolByte(op.knocks), boolByte(op.failed), byte(op.dead), boolByte(op.heldBy))
		calls(w.failed[g])
		calls(w.held[g])
	}
	return maphash.Bytes(lockSeed, append(b, byte(w.dead), boolByte(w.lost)))
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func (w *lockWorld) fail(format string, args ...any) {
	if w.wrong == "" {
		w.wrong = fmt.Sprintf(format, args...)
	}
}

// access is called before each access to a word or a mark.
func (w *lockWorld) access() {
	if w.inside {
		return
	}
	if w.count++; w.count == w.cut {
		w.inside = true
		w.run(w.other)
		w.inside = false
	}
}

// send puts a message behind those from one rank to another.
func (w *lockWorld) send(from, to int, m lockMessage) {
	if w.dead != to {
		w.between[from][to] = append(w.between[from][to], m)
	}
}

// worldPort is the lockPort of a goroutine.
type worldPort struct {
	w    *lockWorld
	g    int
	rank int
}

func (w *lockWorld) port(g int) worldPort { return worldPort{w, g, w.plan.rank[g]} }

func (p worldPort) Direct(at lockAt) bool {
	return at.rank == p.rank || p.w.plan.direct[p.rank][at.rank]
}
func (p worldPort) Dead(rank int) bool { return p.w.knows[p.rank] && p.w.dead == rank }
func (p worldPort) Knock(rank int)     { p.w.knocks[rank] = true }
func (p worldPort) Wake(op *lockOp)    {} // whoever has a step may run

func (p worldPort) Load(at lockAt) lockWord {
	p.w.access()
	return p.w.words[lockIndex(at)]
}

func (p worldPort) CAS(at lockAt, old, next lockWord) bool {
	p.w.access()
	i := lockIndex(at)
	if p.w.words[i] != old {
		return false
	}
	if more := next.shared() > old.shared() || next.exclusive() > old.exclusive(); more && len(p.w.queued[i]) > 0 && i != p.w.served && !p.w.ops[p.g].holding {
		p.w.fail("rank %d takes the word %d, for which rank %d is queued", p.rank, i, p.w.queued[i][0])
	}
	p.w.words[i] = next
	return true
}

func (p worldPort) Mark(at lockAt, c lockClaim) {
	p.w.access()
	p.w.marks[lockIndex(at)][p.rank] = c
}

func (p worldPort) Request(op *lockOp) {
	p.w.send(p.rank, op.at.rank, lockMessage{what: 'r', word: int8(lockIndex(op.at)), claim: op.claim, holding: op.holding})
}

func (p worldPort) Press(at lockAt, c lockClaim) {
	p.w.send(p.rank, at.rank, lockMessage{what: 'p', word: int8(lockIndex(at)), claim: c})
}

func (p worldPort) Release(at lockAt, c lockClaim) {
	p.w.send(p.rank, at.rank, lockMessage{what: 'l', word: int8(lockIndex(at)), claim: c})
}

// worldOwner is the lockOwner of a word.
type worldOwner struct {
	w    *lockWorld
	word int
	rank int
	from int // whose request arrives, or -1
}

func (w *lockWorld) owner(word, from int) worldOwner {
	return worldOwner{w, word, lockNamed(word).rank, from}
}

func (o worldOwner) Load() lockWord {
	o.w.access()
	return o.w.words[o.word]
}

func (o worldOwner) CAS(old, next lockWord) bool {
	o.w.access()
	if o.w.words[o.word] != old {
		return false
	}
	o.w.words[o.word], o.w.served = next, o.word
	return true
}

func (o worldOwner) Mark(origin int) lockClaim {
	o.w.access()
	return o.w.marks[o.word][origin]
}

func (o worldOwner) SetMark(origin int, c lockClaim) {
	o.w.access()
	o.w.marks[o.word][origin] = c
}

func (o worldOwner) Grant(origin int, c lockClaim) {
	q := &o.w.queued[o.word]
	i := slices.Index(*q, origin)
	switch {
	case origin == o.w.dead && o.w.knows[o.rank]:
		o.w.fail("the word %d is granted to rank %d, which is dead", o.word, origin)
	case i < 0 && origin != o.from:
		o.w.fail("the word %d is granted to rank %d, which has not asked for it", o.word, origin)
	case (i > 0 || i < 0 && len(*q) > 0) && !o.w.holding(origin, o.word):
		o.w.fail("the grant of the word %d to rank %d passes rank %d", o.word, origin, (*q)[0])
	}
	if i >= 0 {
		*q = slices.Delete(*q, i, i+1)
	}
	o.w.send(o.rank, origin, lockMessage{what: 'g', word: int8(o.word), claim: c})
}

// holding reports whether the request of a rank for a word says that it holds a lock.
func (w *lockWorld) holding(rank, word int) bool {
	for g := range w.ops {
		if op := &w.ops[g]; w.plan.rank[g] == rank && op.stage == lockWait && lockIndex(op.at) == word {
			return op.holding
		}
	}
	return false
}

func (o worldOwner) Refuse(origin int, c lockClaim, dead int) {
	q := &o.w.queued[o.word]
	*q = slices.DeleteFunc(*q, func(r int) bool { return r == origin })
	o.w.send(o.rank, origin, lockMessage{what: 'n', word: int8(o.word), claim: c, dead: int8(dead)})
}
