package mem_test

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
)

// A Poll that finds nothing costs about the same however many ranks there are.
// Both are measured alternately, and the best of many rounds counts.
func TestAnIdlePollDoesNotDependOnTheNumberOfRanks(t *testing.T) {
	const few, many, polls = 2, 1024, 1000
	best := map[int]time.Duration{}
	ds := map[int][]fabric.Domain{}
	for _, n := range []int{few, many} {
		ds[n] = openAll(t, mem.NewNetwork(n), n)
	}
	got := 0
	var h fabric.Handler = count{&got}
	for round := range 100 {
		for n, ds := range ds {
			// Somebody has sent lately, each time another.
			e, err := ds[1+round%(n-1)].Connect(0, ds[0].Addr())
			if err != nil || e.Send(1, 0, nil, nil) != nil {
				t.Fatalf("no message: %v", err)
			}
			for ds[0].Poll(h, 64) > 0 {
			}
			start := time.Now()
			for range polls {
				ds[0].Poll(h, 64)
			}
			if took := time.Since(start); best[n] == 0 || took < best[n] {
				best[n] = took
			}
		}
	}
	if got != 200 {
		t.Errorf("%d messages of 200 have come", got)
	}
	if best[many] > 10*best[few] {
		t.Errorf("%d Polls in vain take %v with %d ranks and %v with %d", polls, best[many], many, best[few], few)
	}
}

// One event at a time, each sender of many has its turn before another has its
// second.
func TestEachOfManySendersHasItsTurn(t *testing.T) {
	const size, rounds = 100, 50
	ds := openAll(t, mem.NewNetwork(size), size)
	for r := 1; r < size; r++ {
		e, err := ds[r].Connect(0, ds[0].Addr())
		if err != nil {
			t.Fatal(err)
		}
		for range rounds {
			if err := e.Send(1, 0, nil, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	froms := from{n: make([]int, size)}
	for i := range rounds * (size - 1) {
		if n := ds[0].Poll(&froms, 1); n != 1 {
			t.Fatalf("Poll %d: %d events", i, n)
		}
		if got, want := froms.n[froms.last], i/(size-1)+1; got != want {
			t.Fatalf("Poll %d gives the %d. message of rank %d, want a %d. one", i, got, froms.last, want)
		}
	}
	if n := ds[0].Poll(&froms, 1); n != 0 {
		t.Errorf("%d more events", n)
	}
}

type from struct {
	count
	n    []int // by sender
	last fabric.Peer
}

func (f *from) Deliver(p fabric.Peer, _ uint8, _ uint64, _, _ []byte) { f.n[p]++; f.last = p }

// Ranks that talk with more others than they watch, and sleep whenever Poll says
// that there is nothing: no message is forgotten, and whoever brings one rings.
func TestManyThatSleepForgetNobody(t *testing.T) {
	const size = 24
	rounds := 300
	if testing.Short() {
		rounds = 50
	}
	ds := openAll(t, mem.NewNetwork(size, mem.WithDepth(20)), size)
	var remotes [size]fabric.Remote
	for r, d := range ds {
		reg, err := d.Register(make([]byte, 8*size), fabric.RemoteWrite)
		if err != nil {
			t.Fatal(err)
		}
		remotes[r] = reg.Remote
	}
	var all sync.WaitGroup
	for r, d := range ds {
		all.Go(func() {
			s := &sleeper{pending: map[fabric.Op]bool{}}
			eps := make([]fabric.Endpoint, size)
			for p := range eps {
				var err error
				if eps[p], err = d.Connect(fabric.Peer(p), ds[p].Addr()); err != nil {
					t.Error(err)
					return
				}
			}
			op := fabric.Op(0)
			for round := range rounds {
				// To a few others, which differ from round to round.
				for k := range 3 {
					to := (r + 1 + (round*7+k*5)%(size-1)) % size
					send := func() error { return eps[to].Send(1, 0, nil, nil) }
					if k == 0 {
						op++
						at := fabric.Remote{Addr: remotes[to].Addr + uint64(8*r), Len: 8, Key: remotes[to].Key} // the sender's own
						send = func() error { return eps[to].Put(fabric.Segment{Bytes: make([]byte, 8)}, at, op) }
						s.pending[op] = true
					}
					for {
						err := send()
						if err == nil {
							break
						}
						if err != fabric.ErrAgain {
							t.Error(err)
							return
						}
						d.Poll(s, 64)
						runtime.Gosched()
					}
				}
				// Each rank gets two messages in each round.
				for s.got < 2*(round+1) || len(s.pending) > 0 {
					if d.Poll(s, 1+round%4) > 0 {
						continue
					}
					if err := d.Arm(fabric.WakeAll); err != nil {
						t.Error(err)
						return
					}
					if d.Poll(s, 64) > 0 {
						continue
					}
					start := time.Now()
					d.Wait(patience)
					if time.Since(start) >= patience {
						n := d.Poll(s, 1<<20)
						t.Errorf("rank %d slept for %v in round %d with %d messages and %d Puts outstanding; a Poll finds %d",
							r, patience, round, s.got, len(s.pending), n)
						return
					}
				}
				d.Disarm()
			}
			for s.got < 2*rounds {
				d.Poll(s, 64)
			}
		})
	}
	all.Wait()
}

const patience = 5 * time.Minute

type sleeper struct {
	got     int
	pending map[fabric.Op]bool
}

func (s *sleeper) Deliver(fabric.Peer, uint8, uint64, []byte, []byte) { s.got++ }
func (s *sleeper) Complete(op fabric.Op, _ error)                     { delete(s.pending, op) }
func (s *sleeper) PeerDown(fabric.Peer, error)                        {}
