package mem

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weft-mpi/weft/fabric"
)

// What was marked is found, each peer once and in order around the set, and
// nothing else.
func TestTheSetHasWhoWasMarked(t *testing.T) {
	for _, size := range []int{1, 2, 63, 64, 65, 128, 4096, 5000} {
		r := newReady(size)
		rng := rand.New(rand.NewPCG(uint64(size), 1))
		in := map[int]bool{}
		for range 300 {
			switch p := rng.IntN(size); rng.IntN(4) {
			case 0:
				if in[p] {
					r.remove(p)
					delete(in, p)
				}
			case 1:
				r.restore(p)
				in[p] = true
			default:
				r.mark(fabric.Peer(p))
				r.mark(fabric.Peer(p))
				r.collect()
				in[p] = true
			}
			lo := rng.IntN(size + 1)
			hi := lo + rng.IntN(size+1-lo)
			var want, got []int
			for p := range in {
				if lo <= p && p < hi {
					want = append(want, p)
				}
			}
			slices.Sort(want)
			for p := r.next(lo, hi); p >= 0; p = r.next(p+1, hi) {
				got = append(got, p)
			}
			if !slices.Equal(got, want) || r.count != len(in) {
				t.Fatalf("size %d: from %d to %d there are %v, want %v; %d in all, want %d", size, lo, hi, got, want, r.count, len(in))
			}
		}
	}
}

// A queue keeps the order and its depth while it grows, and grows only where
// messages gather.
func TestAQueueGrowsToItsDepth(t *testing.T) {
	for _, depth := range []int{1, 2, 7, 8, 9, 20, 256} {
		q := newQueue(depth)
		rng := rand.New(rand.NewPCG(uint64(depth), 1))
		var sent, got uint64
		most := 1
		for range 20_000 {
			if rng.IntN(100) == 0 {
				most = 1 + rng.IntN(2*depth)
			}
			for range rng.IntN(most + 1) {
				s := q.reserve()
				if full := sent-got == uint64(depth); full != (s == nil) {
					t.Fatalf("depth %d: with %d messages under way there is room: %t", depth, sent-got, s != nil)
				}
				if s == nil {
					break
				}
				s.imm = sent
				q.publish()
				sent++
			}
			for range rng.IntN(most + 1) {
				s := q.peek()
				if (s == nil) != (sent == got) {
					t.Fatalf("depth %d: with %d messages under way one is found: %t", depth, sent-got, s != nil)
				}
				if s == nil {
					break
				}
				if s.imm != got {
					t.Fatalf("depth %d: message %d came instead of %d", depth, s.imm, got)
				}
				q.release()
				got++
			}
		}
		if n := len(q.in.slots); n != depth {
			t.Errorf("depth %d: %d slots after all were used", depth, n)
		}
	}
	q := newQueue(256)
	for range 1000 {
		q.reserve()
		q.publish()
		q.peek()
		q.release()
	}
	if n := len(q.in.slots); n != shortest {
		t.Errorf("a queue with one message at a time has %d slots", n)
	}
}

// The same with sender and receiver at work at once.
func TestAQueueGrowsWhileItIsEmptied(t *testing.T) {
	for _, depth := range []int{1, 9, 256} {
		for range 20 {
			q := newQueue(depth)
			const messages = 2000
			var both sync.WaitGroup
			both.Go(func() {
				for i := uint64(0); i < messages; {
					if s := q.reserve(); s != nil {
						s.imm = i
						q.publish()
						i++
					} else {
						runtime.Gosched()
					}
				}
			})
			both.Go(func() {
				for i := uint64(0); i < messages; {
					if s := q.peek(); s != nil {
						if s.imm != i {
							t.Errorf("message %d came instead of %d", s.imm, i)
							return
						}
						q.release()
						i++
					} else {
						runtime.Gosched()
					}
				}
			})
			both.Wait()
		}
	}
}

// A peer that has told something and marked itself is found by every look that
// begins behind that, whenever it was taken out of the set.
func TestAPeerIsInTheSetOnceItHasMarkedItself(t *testing.T) {
	const size, peers = 130, 3
	rounds := uint64(40_000)
	if testing.Short() {
		rounds = 5_000
	}
	r := newReady(size)
	// told is what a peer has to tell, behind is told once it has marked itself,
	// and heard is what the owner has found. The stores of each pair with the
	// loads of the other side.
	var told, behind, heard [peers]atomic.Uint64
	var all sync.WaitGroup
	stop := false
	for k := range peers {
		all.Go(func() {
			for i := uint64(1); i <= rounds; i++ {
				for n := 0; heard[k].Load() < i-1; n++ {
					if n%16 == 15 {
						runtime.Gosched()
					}
				}
				told[k].Store(i)
				r.mark(fabric.Peer(k * 64))
				behind[k].Store(i)
			}
		})
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for left := peers; left > 0 && !stop; {
		var want [peers]uint64
		for k := range peers {
			want[k] = behind[k].Load()
		}
		r.collect()
		for p := r.next(0, size); p >= 0; p = r.next(p+1, size) {
			k := p / 64
			if rng.IntN(4) == 0 {
				r.remove(p)
			}
			if i := told[k].Load(); i > heard[k].Load() {
				heard[k].Store(i)
				if i == rounds {
					left--
				}
			}
		}
		for k := range peers {
			if got := heard[k].Load(); got < want[k] {
				t.Errorf("peer %d has marked itself with %d, and a look behind that finds %d", k, want[k], got)
				stop = true
				heard[k].Store(rounds) // lets it end
			}
		}
		runtime.Gosched()
	}
	for k := range peers {
		heard[k].Store(rounds)
	}
	all.Wait()
}
