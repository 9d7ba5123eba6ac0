package rma

import (
	"fmt"
	"slices"
)

// lockMove is a step of the world.
type lockMove struct {
	what byte // 'o' of an operation, 'm' a message arrives, 'k' a knock, 'd' a death, 'x' a message of the dead is lost
	a, b int
	// Before the cut-th access of the step goroutine other makes one of
	// its own, unless cut is 0.
	cut, other int
}

func (m lockMove) String() string {
	s := ""
	switch m.what {
	case 'o':
		s = fmt.Sprintf("goroutine %d", m.a)
	case 'm':
		s = fmt.Sprintf("message %d to %d", m.a, m.b)
	case 'k':
		s = fmt.Sprintf("knock at %d", m.a)
	case 'd':
		s = fmt.Sprintf("rank %d dies", m.a)
	case 'x':
		s = fmt.Sprintf("message %d to %d lost", m.a, m.b)
	}
	if m.cut > 0 {
		s += fmt.Sprintf(" (goroutine %d before access %d)", m.other, m.cut)
	}
	return s
}

// runs reports whether a goroutine has a step.
func (w *lockWorld) runs(g int) bool {
	if w.plan.rank[g] == w.dead {
		return false
	}
	if !w.running[g] {
		return w.at[g] < len(w.plan.programs[g])
	}
	return w.ops[g].stage != lockWait && w.ops[g].stage != lockParked
}

// early returns a step that can be taken first, alone, without loss: it commutes with
// all others. Those of the rank that may die are never that: what they are between
// matters. For the others they are accesses to the own mark, which only a death
// reads, what is sent, which arrives any time later, and the arrival of a grant.
func (w *lockWorld) early() (m lockMove, ok bool) {
	for g, r := range w.plan.rank {
		if r == w.plan.mortal {
			continue
		}
		op := &w.ops[g]
		if w.running[g] {
			switch op.stage {
			case lockMark, lockClear, lockAsk, lockErase, lockKnock, lockTell, lockPress:
				return lockMove{what: 'o', a: g}, true
			}
		} else if w.runs(g) && w.alone(g) {
			var probe lockOp
			c := w.plan.programs[g][w.at[g]]
			probe.Lock(&w.origins[r], c.kind, c.target, false)
			if !c.unlock && (probe.claim.marked() || !w.port(g).Direct(probe.at)) {
				return lockMove{what: 'o', a: g}, true
			}
		}
		for o := range lockRanks {
			if q := w.between[o][r]; o != w.plan.mortal && len(q) > 0 && (q[0].what == 'g' || q[0].what == 'n') && w.alone(g) {
				return lockMove{what: 'm', a: o, b: r}, true
			}
		}
	}
	return m, false
}

// alone reports whether a goroutine is the only one of its rank.
func (w *lockWorld) alone(g int) bool {
	for o, r := range w.plan.rank {
		if o != g && r == w.plan.rank[g] && len(w.plan.programs[o]) > 0 {
			return false
		}
	}
	return true
}

// moves are the steps to explore. death reports whether the last is one.
func (w *lockWorld) moves() (all []lockMove, death bool) {
	if m, ok := w.early(); ok {
		return []lockMove{m}, false
	}
	for g := range lockRoutines {
		if w.runs(g) {
			all = append(all, lockMove{what: 'o', a: g})
		}
	}
	for r := range lockRanks {
		if w.knocks[r] && r != w.dead {
			all = append(all, lockMove{what: 'k', a: r})
		}
		for t := range lockRanks {
			n := len(w.between[r][t])
			if n > 0 {
				all = append(all, lockMove{what: 'm', a: r, b: t})
			}
			if n > 1 && r == w.dead {
				all = append(all, lockMove{what: 'x', a: r, b: t})
			}
		}
	}
	if w.dead < 0 && w.plan.mortal >= 0 {
		return append(all, lockMove{what: 'd', a: w.plan.mortal}), true
	}
	return all, false
}

func (w *lockWorld) move(m lockMove) {
	w.count, w.cut, w.other, w.served = 0, m.cut, m.other, -1
	switch m.what {
	case 'o':
		w.run(m.a)
	case 'm':
		msgs := w.between[m.a][m.b]
		w.between[m.a][m.b] = msgs[1:]
		w.arrive(m.a, m.b, msgs[0])
	case 'k':
		w.knocks[m.a] = false
		for i := range w.words {
			if lockNamed(i).rank == m.a {
				w.queues[i].Look(w.owner(i, -1))
			}
		}
	case 'd':
		w.die(m.a)
	case 'x':
		q := &w.between[m.a][m.b]
		w.lost = w.lost || (*q)[len(*q)-2].what == 'l'
		*q = slices.Delete(*q, len(*q)-2, len(*q)-1)
	}
}

// run begins a goroutine's next call, or does the next step of one.
func (w *lockWorld) run(g int) {
	op := &w.ops[g]
	if !w.running[g] {
		c := w.plan.programs[g][w.at[g]]
		if c.unlock {
			c.unlock = false
			if i := slices.Index(w.failed[g], c); i >= 0 {
				w.failed[g] = slices.Delete(w.failed[g], i, i+1)
				w.at[g]++
				return
			}
			i := slices.Index(w.held[g], c)
			w.held[g] = slices.Delete(w.held[g], i, i+1)
			op.Unlock(&w.origins[w.plan.rank[g]], c.kind, c.target)
		} else {
			op.Lock(&w.origins[w.plan.rank[g]], c.kind, c.target, false)
		}
		w.running[g] = true
	}
	if op.Sends() {
		op.Send(w.port(g))
	} else {
		op.Step(w.port(g))
	}
	w.settle(g)
}

// settle notes what has become of a rank's call.
func (w *lockWorld) settle(r int) {
	ended, err := w.ops[r].Ended()
	if !ended || !w.running[r] {
		return
	}
	c := w.plan.programs[r][w.at[r]]
	w.running[r] = false
	w.at[r]++
	switch {
	case err != nil && c.unlock:
		w.fail("rank %d: %v fails: %v", r, c, err)
	case err != nil:
		w.failed[r] = append(w.failed[r], c)
		w.blame(r, c, err.(*LockError))
	case !c.unlock:
		for o, held := range w.held {
			for _, h := range held {
				if o != r && c.excludes(h) {
					w.fail("goroutine %d has %v while goroutine %d has %v", r, c, o, h)
				}
			}
		}
		w.held[r] = append(w.held[r], c)
	}
}

// blame checks that a lock is refused because of what the dead had or kept only.
func (w *lockWorld) blame(r int, c lockCall, err *LockError) {
	if err.Dead != w.dead || err.Target != c.target {
		w.fail("rank %d: %v fails: %v", r, c, err)
		return
	}
	if c.needs(w.dead) {
		return
	}
	var had []lockCall
	for g, rank := range w.plan.rank {
		if rank != w.dead {
			continue
		}
		had = append(had, w.held[g]...)
		if w.running[g] {
			had = append(had, w.plan.programs[g][w.at[g]])
		}
		if w.lost {
			had = append(had, w.plan.programs[g][:w.at[g]]...)
		}
	}
	if !slices.ContainsFunc(had, c.excludes) {
		w.fail("rank %d: %v fails, and the dead had %v: %v", r, c, had, err)
	}
}

// reply gives a reply to the operation of a rank that takes it.
func (w *lockWorld) reply(to, word int, take func(p lockPort, op *lockOp) bool) {
	for g, r := range w.plan.rank {
		if r == to && take(w.port(g), &w.ops[g]) {
			w.settle(g)
			return
		}
	}
	w.fail("rank %d has a reply from the word %d, and does not wait for it", to, word)
}

func (w *lockWorld) arrive(from, to int, m lockMessage) {
	i := int(m.word)
	at := lockNamed(i)
	switch m.what {
	case 'r':
		if !w.queues[i].Request(w.owner(i, from), from, m.claim, m.holding) {
			w.fail("the owner refuses a request of rank %d for the word %d", from, i)
		}
		if slices.ContainsFunc(w.queues[i].waiting, func(r lockRequest) bool { return r.origin == from }) {
			w.queued[i] = append(w.queued[i], from)
		}
	case 'l':
		if !w.queues[i].Release(w.owner(i, -1), from, m.claim) {
			w.fail("the owner refuses a release of rank %d of the word %d", from, i)
		}
	case 'p':
		w.queues[i].Press(w.owner(i, -1), from, m.claim)
	case 'g':
		w.reply(to, i, func(p lockPort, op *lockOp) bool { return op.Granted(p, at, m.claim) })
	case 'n':
		w.reply(to, i, func(p lockPort, op *lockOp) bool { return op.Refused(p, at, m.claim, int(m.dead)) })
	case 'd':
		w.knows[to] = true
		for i := range w.words {
			if lockNamed(i).rank == to {
				if slices.Contains(w.queued[i], from) && w.marks[i][from] != lockNone {
					w.fail("rank %d dies waiting for the word %d, and marked there", from, i)
				}
				w.queued[i] = slices.DeleteFunc(w.queued[i], func(r int) bool { return r == from })
				w.queues[i].Down(w.owner(i, -1), from)
			}
		}
		for g, r := range w.plan.rank {
			if r == to {
				w.ops[g].Down(w.port(g), from)
				w.settle(g)
			}
		}
	}
}

func (w *lockWorld) die(r int) {
	w.dead = r
	for o := range lockRanks {
		w.between[o][r] = nil
		if o != r {
			w.between[r][o] = append(w.between[r][o], lockMessage{what: 'd'})
		}
	}
	w.knocks[r] = false
}

// end checks a state without a step: all programs have ended, but for a deadlock of
// their own.
func (w *lockWorld) end() {
	stuck := [lockRoutines]bool{}
	some := false
	for r := range lockRoutines {
		stuck[r] = w.plan.rank[r] != w.dead && w.at[r] < len(w.plan.programs[r])
		some = some || stuck[r]
	}
	if some {
		if !w.deadlocked(stuck) {
			w.fail("nothing moves, and goroutines %v wait", stuck)
		}
		return
	}
	for i, word := range w.words {
		owner := lockNamed(i).rank
		if len(w.queues[i].waiting) > 0 && owner != w.dead {
			w.fail("requests for the word %d are left: %v", i, w.queues[i].waiting)
		}
		if word&^lockPoisoned != 0 && w.dead < 0 {
			w.fail("the word %d is left as %#x", i, uint64(word))
		}
		for r, m := range w.marks[i] {
			if m != lockNone && r != w.dead && owner != w.dead {
				w.fail("rank %d is left marked %v at the word %d", r, m, i)
			}
		}
	}
}

// deadlocked reports whether some of the ranks wait for one another's locks: for
// locks that are held, and not for ranks that wait.
func (w *lockWorld) deadlocked(stuck [lockRoutines]bool) bool {
	for again := true; again; {
		again = false
		for r := range stuck {
			if !stuck[r] {
				continue
			}
			c := w.plan.programs[r][w.at[r]]
			waits := false
			for o := range stuck {
				waits = waits || o != r && stuck[o] && !c.unlock && slices.ContainsFunc(w.held[o], c.excludes)
			}
			if !waits {
				stuck[r], again = false, true
			}
		}
	}
	return slices.Contains(stuck[:], true)
}
