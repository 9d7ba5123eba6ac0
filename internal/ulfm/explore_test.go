package ulfm

import (
	"flag"
	"fmt"
	"hash/maphash"
	"math/rand/v2"
	"testing"
)

var (
	seeds = flag.Int("seeds", 3000, "random runs of each size in TestAgreementSim")
	full  = flag.Bool("full", false, "explore more than fits into a test's time")
)

// world is a communicator of ranks that agree, at one moment of one interleaving.
type world struct {
	ranks   []Agreement
	begun   Set         // ranks that have called
	dead    Set         // ranks that have died
	news    []Set       // by rank: the deaths that it has been told of
	way     [][]message // by sender and receiver: what is under way
	deaths  int         // that may still come
	decided *Value      // of the first rank that has returned
	past    *past
	sends   int
}

// past is what has happened, the last step first.
type past struct {
	step step
	then *past
}

func (p *past) String() (text string) {
	for ; p != nil; p = p.then {
		text = p.step.String() + "\n" + text
	}
	return text
}

type message struct {
	from, to int
	Message
}

func newWorld(size, deaths int, before Set) *world {
	w := &world{deaths: deaths, way: make([][]message, size*size), news: make([]Set, size)}
	for r := range size {
		w.ranks = append(w.ranks, *NewAgreement(r, All(size).Without(before), nil))
	}
	return w
}

func (w *world) size() int { return len(w.ranks) }

// copy is a deep one: Sets do not change, and ring is the same.
func (w *world) copy() *world {
	v := *w
	v.ranks = append([]Agreement(nil), w.ranks...)
	v.news = append([]Set(nil), w.news...)
	v.way = make([][]message, len(w.way))
	for i, q := range w.way {
		v.way[i] = q[:len(q):len(q)] // who appends gets another array
	}
	return &v
}

// key tells worlds apart that go on differently.
func (w *world) key(b []byte) []byte {
	value := func(v Value) {
		b = append(b, byte(v.Flags), byte(v.Failed.low), byte(v.Acked.low))
	}
	flags := func(all ...bool) {
		n := byte(0)
		for i, f := range all {
			if f {
				n |= 1 << i
			}
		}
		b = append(b, n)
	}
	b = append(b, byte(w.begun.low), byte(w.dead.low), byte(w.deaths))
	for i := range w.ranks {
		a := &w.ranks[i]
		if w.dead.Has(i) {
			continue // nothing can come of it but what is under way
		}
		b = append(b, byte(w.news[i].low))
		flags(a.started, a.over, a.slow, a.heard, a.has, a.proposed)
		if a.has || a.over {
			value(a.value)
		}
		if a.over {
			continue
		}
		if !a.slow {
			value(a.sum)
			b = append(b, byte(a.told), byte(a.knows), a.sent[0], a.sent[1])
		}
		b = append(b, byte(a.leader), byte(a.asked), byte(a.known.low), byte(a.asks.low), byte(a.warned.low))
		if !a.has {
			value(a.got)
		}
	}
	for at, q := range w.way {
		if to := at % w.size(); len(q) == 0 || w.dead.Has(to) {
			continue
		}
		b = append(b, 0xff, byte(at), byte(len(q)))
		for _, m := range q {
			b = append(b, byte(m.Says), m.Round)
			value(m.Value)
		}
	}
	if w.decided != nil {
		value(*w.decided)
	}
	return b
}

// step is one thing that may happen.
type step struct {
	kind     byte // 's' start, 'm' message, 'd' death, 'n' news
	from, to int
}

func (s step) String() string {
	switch s.kind {
	case 's':
		return fmt.Sprintf("rank %d calls", s.to)
	case 'd':
		return fmt.Sprintf("rank %d dies", s.to)
	case 'n':
		return fmt.Sprintf("rank %d hears of the death of %d", s.to, s.from)
	}
	return fmt.Sprintf("rank %d takes a message of %d", s.to, s.from)
}

// steps are those that may happen next.
func (w *world) steps(all []step) []step {
	for r := range w.size() {
		if w.dead.Has(r) || !w.ranks[r].members.Has(r) {
			continue
		}
		if !w.begun.Has(r) {
			all = append(all, step{'s', -1, r})
		}
		for d := range w.dead.Without(w.news[r]).Ranks() {
			all = append(all, step{'n', d, r})
		}
		for from := range w.size() {
			if len(w.way[from*w.size()+r]) > 0 {
				all = append(all, step{'m', from, r})
			}
		}
		if w.deaths > 0 {
			all = append(all, step{'d', -1, r})
		}
	}
	return all
}

// take has a step happen. A rank that has died takes the rest of its messages along when
// the receiver hears of it: a prefix of them has come.
func (w *world) take(s step) error {
	w.past = &past{s, w.past}
	a := &w.ranks[s.to]
	a.send = func(to int, m Message) {
		w.sends++
		w.way[s.to*w.size()+to] = append(w.way[s.to*w.size()+to], message{s.to, to, m})
	}
	was := a.over
	switch s.kind {
	case 's':
		w.begun = w.begun.With(s.to)
		a.Start(Value{Flags: ^(uint64(1) << s.to), Failed: All(w.size()).Without(a.members)})
	case 'd':
		w.dead = w.dead.With(s.to)
		w.deaths--
	case 'n':
		w.news[s.to] = w.news[s.to].With(s.from)
		w.way[s.from*w.size()+s.to] = nil
		a.Down(s.from)
	case 'm':
		q := &w.way[s.from*w.size()+s.to]
		m := (*q)[0]
		*q = (*q)[1:]
		a.Receive(s.from, m.Message)
	}
	a.send = nil
	if a.over && !was {
		return w.returned(s.to)
	}
	return nil
}

// returned checks what a rank has returned with.
func (w *world) returned(rank int) error {
	a := &w.ranks[rank]
	v := a.value
	switch {
	case !a.started:
		return fmt.Errorf("rank %d has returned from no call", rank)
	case w.decided == nil:
		w.decided = &v
	case !same(*w.decided, v):
		return fmt.Errorf("rank %d has %v where another has %v", rank, v, *w.decided)
	}
	if dead := v.Failed.And(a.members); !dead.Without(w.dead).Empty() {
		return fmt.Errorf("of the ranks %b that have failed some live", dead.low)
	}
	for r := range a.members.Ranks() {
		in := v.Flags>>r&1 == 0
		switch {
		case !in && !v.Failed.Has(r):
			return fmt.Errorf("rank %d lives, and its flags are missing", r)
		case in && !w.begun.Has(r):
			return fmt.Errorf("rank %d has not called, and has its flags in", r)
		}
	}
	return nil
}

func same(v, u Value) bool {
	return v.Flags == u.Flags && v.Failed.Equal(u.Failed) && v.Acked.Equal(u.Acked)
}

// quiet checks the end: nothing more can happen, but a death.
func (w *world) quiet() error {
	for r := range w.ranks {
		if a := &w.ranks[r]; !w.dead.Has(r) && a.members.Has(r) && !a.over {
			return fmt.Errorf("rank %d does not return", r)
		}
	}
	if most := 64 * w.size() * w.size(); w.sends > most {
		return fmt.Errorf("%d messages", w.sends)
	}
	return nil
}

// explore takes all interleavings, each state once, and returns their number.
func explore(t *testing.T, first *world) (states int) {
	t.Helper()
	seed := maphash.MakeSeed()
	seen := map[uint64]struct{}{}
	var key []byte
	todo := []*world{first}
	for len(todo) > 0 {
		w := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		all, more := w.steps(nil), false
		for _, s := range all {
			more = more || s.kind != 'd'
			v := w.copy()
			if err := v.take(s); err != nil {
				t.Fatalf("%v:\n%s", err, v.past)
			}
			key = v.key(key[:0])
			h := maphash.Bytes(seed, key)
			if _, was := seen[h]; !was {
				seen[h] = struct{}{}
				todo = append(todo, v)
			}
		}
		if !more {
			if err := w.quiet(); err != nil {
				t.Fatalf("%v:\n%s", err, w.past)
			}
		}
	}
	return len(seen)
}

// All interleavings of few ranks.
func TestAgreementExplore(t *testing.T) {
	const (
		always = iota
		long   // not with -short
		whole  // with -full
	)
	for _, c := range []struct {
		size, deaths int
		before       uint64 // ranks that an earlier agreement has found dead
		when         int
	}{
		{1, 0, 0, always}, {2, 0, 0, always}, {2, 1, 0, always}, {2, 2, 0, always}, {3, 0, 0, always}, {3, 1, 0, always}, {3, 2, 0, always}, {3, 3, 0, always},
		{4, 0, 0, always}, {4, 1, 1, always}, {4, 2, 4, always}, {4, 1, 0, always}, {4, 2, 0, long}, {5, 0, 0, always},
		{5, 1, 0, whole}, {5, 2, 0, whole},
	} {
		if c.when == whole && !*full || c.when == long && testing.Short() {
			continue
		}
		t.Run(fmt.Sprintf("%d ranks %d deaths %b before", c.size, c.deaths, c.before), func(t *testing.T) {
			n := explore(t, newWorld(c.size, c.deaths, Set{low: c.before}))
			t.Logf("%d states", n)
		})
	}
}

// sim takes one random interleaving. Rates that differ by run make deaths early and late,
// and news that come at once and last.
func sim(size, deaths int, seed uint64) error {
	rnd := rand.New(rand.NewPCG(seed, 1))
	w := newWorld(size, deaths, Set{low: rnd.Uint64() & rnd.Uint64() & rnd.Uint64() & All(size).low &^ 1})
	weight := map[byte]int{'s': 1 + rnd.IntN(20), 'm': 1 + rnd.IntN(40), 'd': 1 + rnd.IntN(4), 'n': 1 + rnd.IntN(20)}
	for {
		all, total := w.steps(nil), 0
		more := false
		for _, s := range all {
			total += weight[s.kind]
			more = more || s.kind != 'd'
		}
		if !more {
			break
		}
		at := rnd.IntN(total)
		for _, s := range all {
			if at -= weight[s.kind]; at < 0 {
				if err := w.take(s); err != nil {
					return fmt.Errorf("%w:\n%s", err, w.past)
				}
				break
			}
		}
	}
	if err := w.quiet(); err != nil {
		return fmt.Errorf("%w:\n%s", err, w.past)
	}
	return nil
}

// Random interleavings of more.
func TestAgreementSim(t *testing.T) {
	for size := 1; size <= 9; size++ {
		for deaths := range min(size, 4) {
			t.Run(fmt.Sprintf("%d ranks %d deaths", size, deaths), func(t *testing.T) {
				n := *seeds
				if testing.Short() {
					n /= 10
				}
				for seed := range uint64(n) {
					if err := sim(size, deaths, seed); err != nil {
						t.Fatalf("seed %d: %v", seed, err)
					}
				}
			})
		}
	}
}
