package rma

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
)

// lockTeam is ranks that lock for real: words in memory, a goroutine that owns the
// loops of all ranks, and goroutines that lock. Targets are ranks 0 and 1.
type lockTeam struct {
	inbox  chan func() // for the owner
	knock  chan struct{}
	blocks []lockBlock
	queues [lockTargets + 1]*lockQueue // the last is that of the global word
	owned  [lockTargets + 1]*lockOwned
	ranks  []*lockMate

	// What the locks of the targets protect.
	value [lockTargets][2]int
}

const lockTargets = 2

// lockMate is a rank, with an operation for each of its goroutines.
type lockMate struct {
	lockReach
	team *lockTeam
	mu   sync.Mutex
	of   lockOrigin
	ops  []*lockOp
	wake []chan struct{}
	dies int
}

func newLockTeam(direct func(rank, target int) bool, goroutines []int) *lockTeam {
	n := len(goroutines)
	t := &lockTeam{inbox: make(chan func(), 1024), knock: make(chan struct{}, 1)}
	for range n {
		t.blocks = append(t.blocks, make(lockBlock, lockBlockLen(n)))
	}
	for i := range t.queues {
		at := lockAt{rank: i}
		if i == lockTargets {
			at = lockAt{global: true}
		}
		t.queues[i] = &lockQueue{global: at.global}
		t.owned[i] = &lockOwned{block: t.blocks[at.rank], at: at, replies: t}
	}
	for r, g := range goroutines {
		m := &lockMate{team: t, of: lockOrigin{rank: r}, dies: -1}
		m.lockReach = lockReach{lockPackets: m, rank: r, blocks: make([]lockBlock, n)}
		for o := range n {
			if o == r || direct(r, o) {
				m.blocks[o] = t.blocks[o]
			}
		}
		for range g {
			m.ops = append(m.ops, &lockOp{of: &m.of})
			m.wake = append(m.wake, make(chan struct{}, 1))
		}
		t.ranks = append(t.ranks, m)
	}
	return t
}

// own is the owner of all loops, until the inbox is closed.
func (t *lockTeam) own() {
	for {
		select {
		case f, ok := <-t.inbox:
			if !ok {
				return
			}
			f()
		case <-t.knock:
			for i, q := range t.queues {
				if q.Ready(t.owned[i].Load()) {
					q.Look(t.owned[i])
				}
			}
		}
	}
}

func (t *lockTeam) at(at lockAt) (*lockQueue, *lockOwned) {
	i := at.rank
	if at.global {
		i = lockTargets
	}
	return t.queues[i], t.owned[i]
}

// reply gives a reply to the operation of a rank that takes it.
func (t *lockTeam) reply(rank int, take func(p lockPort, op *lockOp) bool) {
	m := t.ranks[rank]
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, op := range m.ops {
		if take(m, op) {
			m.Wake(op)
		}
	}
}

func (t *lockTeam) Grant(at lockAt, origin int, c lockClaim) {
	t.reply(origin, func(p lockPort, op *lockOp) bool { return op.Granted(p, at, c) })
}

func (t *lockTeam) Refuse(at lockAt, origin int, c lockClaim, dead int) {
	t.reply(origin, func(p lockPort, op *lockOp) bool { return op.Refused(p, at, c, dead) })
}

// down is the news of a death at all ranks.
func (t *lockTeam) down(rank int) {
	for i, q := range t.queues {
		q.Down(t.owned[i], rank)
	}
	for r := range t.ranks {
		t.reply(r, func(p lockPort, op *lockOp) bool { return op.Down(p, rank) })
	}
}

func (m *lockMate) Dead(rank int) bool { return false }

func (m *lockMate) Knock(rank int) {
	select {
	case m.team.knock <- struct{}{}:
	default:
	}
}

func (m *lockMate) Wake(op *lockOp) {
	for i := range m.ops {
		if m.ops[i] == op {
			m.wake[i] <- struct{}{}
		}
	}
}

func (m *lockMate) Request(op *lockOp) {
	q, o := m.team.at(op.at)
	c, holding := op.claim, op.holding
	m.team.inbox <- func() { q.Request(o, m.rank, c, holding) }
}

func (m *lockMate) Press(at lockAt, c lockClaim) {
	q, o := m.team.at(at)
	m.team.inbox <- func() { q.Press(o, m.rank, c) }
}

func (m *lockMate) Release(at lockAt, c lockClaim) {
	q, o := m.team.at(at)
	m.team.inbox <- func() { q.Release(o, m.rank, c) }
}

var errDies = errors.New("the rank dies here")

// do carries an operation of a goroutine out, or as much of it as the rank lives.
func (m *lockMate) do(g int, begin func(op *lockOp)) error {
	op := m.ops[g]
	m.mu.Lock()
	for begin(op); ; {
		more := true
		if m.dies == 0 {
			m.mu.Unlock()
			return errDies
		}
		m.dies--
		if op.Sends() {
			more = op.Send(m)
		} else {
			more = op.Step(m)
		}
		if more {
			continue
		}
		ended, err := op.Ended()
		m.mu.Unlock()
		if ended {
			return err
		}
		<-m.wake[g]
		m.mu.Lock()
	}
}

func (m *lockMate) lock(g int, kind lockClaim, target int) error {
	return m.do(g, func(op *lockOp) { op.Lock(&m.of, kind, target, false) })
}

func (m *lockMate) unlock(g int, kind lockClaim, target int) error {
	return m.do(g, func(op *lockOp) { op.Unlock(&m.of, kind, target) })
}

// work locks and unlocks, and accesses what that protects. It returns how often it
// has changed the value.
func (m *lockMate) work(t *testing.T, g, rounds int, rng *rand.Rand) (changes int, err error) {
	for range rounds {
		kind, target := lockShared+lockClaim(rng.IntN(2)), rng.IntN(lockTargets)
		if len(m.ops) > 1 {
			target = g
		} else if rng.IntN(4) == 0 {
			kind, target = lockShared, lockEverywhere
		}
		if err := m.lock(g, kind, target); errors.Is(err, errDies) {
			return changes, err
		} else if err != nil {
			if e := (*LockError)(nil); !errors.As(err, &e) || e.Dead != len(m.team.ranks)-1 || !e.Held {
				t.Error(err)
			}
			continue
		}
		for i := range lockTargets {
			v := &m.team.value[i]
			if i != target && target != lockEverywhere {
				continue
			}
			if v[0] != v[1] {
				t.Errorf("rank %d sees %d in the middle of a change, with %v %d", m.rank, *v, kind, target)
			}
			if kind == lockExclusive {
				v[0]++
				v[1]++
				changes++
			}
		}
		if err := m.unlock(g, kind, target); err != nil {
			return changes, err
		}
	}
	return changes, nil
}

// hammer has all goroutines work at once, and returns how many changes they made.
func (t *lockTeam) hammer(tt *testing.T, rounds int) (changes int) {
	var mu sync.Mutex
	var working, owning sync.WaitGroup
	owning.Go(t.own)
	for r, m := range t.ranks {
		for g := range m.ops {
			working.Go(func() {
				n, err := m.work(tt, g, rounds, rand.New(rand.NewPCG(uint64(r), uint64(g))))
				if errors.Is(err, errDies) {
					t.inbox <- func() { t.down(r) }
				} else if err != nil {
					tt.Error(err)
				}
				mu.Lock()
				changes += n
				mu.Unlock()
			})
		}
	}
	working.Wait()
	close(t.inbox)
	owning.Wait()
	return changes
}

var lockReaches = map[string]func(rank, target int) bool{
	"direct":  func(rank, target int) bool { return true },
	"packets": func(rank, target int) bool { return false },
	"mixed":   func(rank, target int) bool { return (rank+target)%2 == 0 },
}

func TestAChangeOfALockWordIsNotLost(t *testing.T) {
	const goroutines, rounds = 4, 5000
	b, at := make(lockBlock, lockBlockLen(1)), lockAt{global: true}
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for range rounds {
				w := b.load(at)
				for !b.cas(at, w, w.add(lockShared, 0)) {
					w = b.load(at)
				}
			}
		})
	}
	all.Wait()
	if got := b.load(at).shared(); got != goroutines*rounds {
		t.Errorf("%d of %d changes are there", got, goroutines*rounds)
	}
}

func TestLocksExcludeUnderLoad(t *testing.T) {
	for name, direct := range lockReaches {
		t.Run(name, func(t *testing.T) {
			team := newLockTeam(direct, []int{1, 1, 1, 2, 1, 1, 1})
			changes := team.hammer(t, 500)
			sum := 0
			for i := range team.value {
				sum += team.value[i][0]
			}
			if sum != changes {
				t.Errorf("%d changes, %d are there", changes, sum)
			}
			for i, o := range team.owned {
				if w := o.Load(); w != 0 || len(team.queues[i].waiting) > 0 {
					t.Errorf("word %d is left as %#x, and %d wait", i, uint64(w), len(team.queues[i].waiting))
				}
			}
		})
	}
}

// The living end with a lock or with the error that names the dead.
func TestADeathUnderLoadHangsNobody(t *testing.T) {
	for name, direct := range lockReaches {
		t.Run(name, func(t *testing.T) {
			for dies := range 40 {
				team := newLockTeam(direct, []int{1, 1, 1, 2, 1, 1})
				team.ranks[len(team.ranks)-1].dies = 3 + dies
				team.hammer(t, 30)
			}
		})
	}
}

func BenchmarkLockWord(b *testing.B) {
	for name, kind := range map[string]lockClaim{"shared": lockShared, "exclusive": lockExclusive} {
		b.Run(name, func(b *testing.B) {
			m := newLockTeam(lockReaches["direct"], []int{1, 1}).ranks[1]
			for b.Loop() {
				m.lock(0, kind, 0)
				m.unlock(0, kind, 0)
			}
		})
	}
}
