package ulfm

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// Every survivor hears of a revocation that one of them knows of, whoever dies meanwhile,
// and no rank is told twice by one.
func TestRevocationReachesAll(t *testing.T) {
	for size := 1; size <= 9; size++ {
		t.Run(fmt.Sprintf("%d ranks", size), func(t *testing.T) {
			for seed := range uint64(2000) {
				if err := revokeSim(size, seed); err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
			}
		})
	}
}

func revokeSim(size int, seed uint64) error {
	rnd := rand.New(rand.NewPCG(seed, 2))
	way := make([]int, size*size) // under way, by sender and receiver
	told := make([]bool, size*size)
	var ranks []*Revocation
	var err error
	for r := range size {
		ranks = append(ranks, NewRevocation(r, size, func(to int) {
			if told[r*size+to] || r == to {
				err = fmt.Errorf("rank %d tells %d again", r, to)
			}
			told[r*size+to] = true
			way[r*size+to]++
		}))
	}
	var dead Set
	news := make([]Set, size)
	deaths := rnd.IntN(size)
	begin := rnd.IntN(size)
	ranks[begin].Revoke()
	for err == nil {
		var todo []func()
		for r := range size {
			if dead.Has(r) {
				continue
			}
			if deaths > 0 && rnd.IntN(3) == 0 {
				todo = append(todo, func() { dead = dead.With(r); deaths-- })
			}
			for d := range dead.Without(news[r]).Ranks() {
				todo = append(todo, func() {
					news[r] = news[r].With(d)
					way[d*size+r] = 0
					ranks[r].Down(d)
				})
			}
			for from := range size {
				if way[from*size+r] > 0 {
					todo = append(todo, func() { way[from*size+r] = 0; ranks[r].Revoke() })
				}
			}
		}
		if len(todo) == 0 {
			break
		}
		todo[rnd.IntN(len(todo))]()
	}
	known, living := 0, 0
	for r := range size {
		if !dead.Has(r) {
			living++
			if ranks[r].Revoked() {
				known++
			}
		}
	}
	if err == nil && known != 0 && known != living {
		err = fmt.Errorf("%d of %d survivors know", known, living)
	}
	return err
}

// Without a death a revocation takes p log p messages, and an agreement 2 p log p.
func TestMessagesWithoutADeath(t *testing.T) {
	for _, size := range []int{1, 2, 3, 8, 13, 64, 100} {
		rounds := 0
		for 1<<rounds < size {
			rounds++
		}
		w := newWorld(size, 0, Set{})
		for all := w.steps(nil); len(all) > 0; all = w.steps(nil) {
			if err := w.take(all[len(all)-1]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.quiet(); err != nil || w.sends != 2*size*rounds {
			t.Errorf("%d ranks: %d messages, want %d (%v)", size, w.sends, 2*size*rounds, err)
		}
		sends := 0
		v := NewRevocation(size-1, size, func(int) { sends++ })
		if !v.Revoke() || v.Revoke() || sends != rounds {
			t.Errorf("%d ranks: a rank that hears of a revocation tells %d, want %d", size, sends, rounds)
		}
	}
}

// Sets do as maps do.
func TestSet(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		n := 1 + rnd.IntN(200)
		a, b := map[int]bool{}, map[int]bool{}
		var s, u Set
		for range rnd.IntN(12) {
			x, y := rnd.IntN(n), rnd.IntN(n)
			a[x], b[y], s, u = true, true, s.With(x), u.With(y)
		}
		for name, c := range map[string]struct {
			got  Set
			want func(r int) bool
		}{
			"s":       {s, func(r int) bool { return a[r] }},
			"all":     {All(n), func(int) bool { return true }},
			"or":      {s.Or(u), func(r int) bool { return a[r] || b[r] }},
			"and":     {s.And(u), func(r int) bool { return a[r] && b[r] }},
			"without": {s.Without(u), func(r int) bool { return a[r] && !b[r] }},
		} {
			var words []uint64
			for i := range c.got.Words() + 1 {
				words = append(words, c.got.Word(i))
			}
			got, many, lowest := c.got, 0, -1
			for r := range n {
				if c.want(r) {
					many++
					if lowest < 0 {
						lowest = r
					}
				}
				if got.Has(r) != c.want(r) {
					t.Fatalf("%s of %v and %v has %d: %v", name, s, u, r, got.Has(r))
				}
			}
			if got.Len() != many || got.Lowest() != lowest || got.Empty() != (many == 0) || !OfWords(words).Equal(got) {
				t.Fatalf("%s of %v and %v: Len %d, Lowest %d, want %d, %d; of words %v", name, s, u, got.Len(), got.Lowest(), many, lowest, words)
			}
		}
	}
}

// A shrink begins again when somebody dies during it, and ends at all in the same round.
func TestShrinkRounds(t *testing.T) {
	type outcome struct {
		flags  uint64
		failed uint64
		again  bool
		gives  uint64
	}
	for name, rounds := range map[string][]outcome{
		"well":                       {{0, 1, true, 1}, {well, 1, false, 1}},
		"a death during the meeting": {{0, 1, true, 1}, {0, 3, true, 3}, {well, 3, false, 3}},
		"a death after it":           {{0, 1, true, 1}, {well, 3, false, 1}},
		"no failure":                 {{0, 0, true, 0}, {well, 0, false, 0}},
		"flags of no meeting":        {{well, 4, true, 4}, {well, 4, false, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			var s Shrink
			if s.Brings(true) != 0 {
				t.Error("a rank has made a communicator that was not asked for")
			}
			for i, r := range rounds {
				failed, again := s.Decided(Value{Flags: r.flags, Failed: Set{low: r.failed}})
				if again != r.again || failed.low != r.gives {
					t.Errorf("round %d: %b, %v, want %b, %v", i, failed.low, again, r.gives, r.again)
				}
			}
			if s.Brings(false) != 0 || s.Brings(true) != well {
				t.Error("what it brings is not whether it has the communicator")
			}
		})
	}
}

// A proposal of a dead leader that comes behind that of the next one does not count, since
// somebody may have returned with the next one's. It takes three deaths.
func TestAProposalOfADeadLeaderComesLate(t *testing.T) {
	var said []Says
	a := NewAgreement(3, All(4), func(_ int, m Message) { said = append(said, m.Says) })
	a.Start(Value{Flags: 1})
	first, second := Value{Flags: 1, Failed: Set{low: 4}}, Value{Flags: 1}
	a.Receive(1, Message{Says: Propose, Value: second})
	a.Receive(0, Message{Says: Propose, Value: first}) // it has not heard of this death
	for r := range 3 {
		a.Down(r)
	}
	if !a.Over() || !same(a.Value(), second) {
		t.Errorf("over %v with %v after %v", a.Over(), a.Value(), said)
	}
}

// A rank that has failed is known to those that send to it. The others learn of it from
// their messages.
func TestNewsComesWithMessages(t *testing.T) {
	for size := 2; size <= 9; size++ {
		for dead := range size {
			for seed := range uint64(20) {
				rnd := rand.New(rand.NewPCG(seed, uint64(size*size+dead)))
				var way []message
				var ranks []*Agreement
				for r := range size {
					ranks = append(ranks, NewAgreement(r, All(size), func(to int, m Message) {
						way = append(way, message{r, to, m})
					}))
				}
				for _, r := range rnd.Perm(size) {
					if r != dead {
						ranks[r].Start(Value{Flags: 1})
					}
				}
				for len(way) > 0 {
					i := rnd.IntN(len(way))
					for j := range i { // the first of the two ranks'
						if way[j].from == way[i].from && way[j].to == way[i].to {
							i = j
							break
						}
					}
					m := way[i]
					way = append(way[:i:i], way[i+1:]...)
					if m.to == dead {
						ranks[m.from].Down(dead)
						continue
					}
					for r := range m.Value.Failed.Ranks() {
						ranks[m.to].Down(r)
					}
					ranks[m.to].Receive(m.from, m.Message)
				}
				for r, a := range ranks {
					if r != dead && !a.Over() {
						t.Fatalf("%d ranks, rank %d has failed, seed %d: rank %d does not return", size, dead, seed, r)
					}
				}
			}
		}
	}
}

// Equal reports whether the sets have the same ranks.
func (s Set) Equal(t Set) bool {
	return s.low == t.low && slices.Equal(s.more, t.more)
}

// Len is the number of ranks in the set.
func (s Set) Len() int {
	n := bits.OnesCount64(s.low)
	for _, w := range s.more {
		n += bits.OnesCount64(w)
	}
	return n
}
