package fabrictest

import (
	"encoding/binary"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/membar"
)

// The cases here are about memory of peers that loads and stores reach, and about
// the sleep of a rank that waits for a store.

func needReach(t *testing.T, r *rig) {
	if !r.nodes[0].d.Caps().Reach {
		t.Skip("not offered; see the case for what Caps does not offer")
	}
}

func (n *node) share(bytes int) fabric.Segment {
	n.t.Helper()
	s, err := n.d.Share(bytes)
	if err != nil {
		n.fail("rank %d: Share(%d): %v", n.rank, bytes, err)
	}
	return s
}

// reach is Reach of memory that has to be reached.
func (n *node) reach(to int, m fabric.Remote) (b []byte) {
	n.t.Helper()
	err := fabric.ErrAgain
	n.wait("Reach to be answered", func() bool {
		b, err = n.eps[to].Reach(m)
		return err != fabric.ErrAgain
	})
	if err != nil {
		n.fail("rank %d: Reach(%+v) of rank %d: %v", n.rank, m, to, err)
	}
	if uint64(len(b)) != m.Len {
		n.fail("rank %d: Reach(%+v) of rank %d: %d bytes", n.rank, m, to, len(b))
	}
	return b
}

func sharedMemory(t *testing.T, h Harness) {
	r := open(t, h, 2)
	needReach(t, r)
	a, b := r.nodes[0], r.nodes[1]
	var shares []fabric.Segment
	for i, n := range []int{1, 8, 63, 64, 65, 4096, 5000} {
		s := b.share(n)
		if len(s.Bytes) != n || s.Region.Len != uint64(n) || address(s.Bytes)%64 != 0 {
			t.Fatalf("Share(%d): %d bytes at %#x, region %+v", n, len(s.Bytes), address(s.Bytes), s.Region)
		}
		for k, v := range s.Bytes {
			if v != 0 {
				t.Fatalf("Share(%d): byte %d is %d", n, k, v)
			}
		}
		copy(s.Bytes, content(uint64(i), n))
		shares = append(shares, s)
	}
	for i, s := range shares {
		there := a.reach(1, s.Region.Remote)
		if string(there) != string(content(uint64(i), len(there))) {
			t.Errorf("share %d is not what its owner has stored, or another's", i)
		}
		copy(there, content(uint64(i)+100, len(there)))
	}
	for i, s := range shares {
		if string(s.Bytes) != string(content(uint64(i)+100, len(s.Bytes))) {
			t.Errorf("share %d is not what the peer has stored", i)
		}
	}
	s := shares[5]
	if got := a.reach(1, part(s.Region, 64, 8)); address(got)%64 != 0 || &got[0] != &a.reach(1, s.Region.Remote)[64] {
		t.Error("a part of a share is not inside of it")
	}
}

// sharedRemote uses shared memory in one-sided operations.
func sharedRemote(t *testing.T, h Harness) {
	r := open(t, h, 2)
	needReach(t, r)
	a, b := r.nodes[0], r.nodes[1]
	caps := a.d.Caps()
	s := b.share(4096)
	if caps.Put {
		src := a.region(content(1, 4096), 0)
		a.start(func(op fabric.Op) error { return a.eps[1].Put(src, s.Region.Remote, op) })
		r.wait("the Put", func() bool { return len(a.pending) == 0 })
		if string(s.Bytes) != string(content(1, 4096)) {
			t.Error("a Put into shared memory has not come")
		}
	}
	if caps.Get {
		copy(s.Bytes, content(2, 4096))
		dst := a.region(make([]byte, 4096), fabric.LocalWrite)
		a.start(func(op fabric.Op) error { return a.eps[1].Get(dst, s.Region.Remote, op) })
		r.wait("the Get", func() bool { return len(a.pending) == 0 })
		if string(dst.Bytes) != string(content(2, 4096)) {
			t.Error("a Get of shared memory brings something else")
		}
	}
	if caps.Atomics {
		binary.NativeEndian.PutUint64(s.Bytes[8:], 5)
		var old uint64
		a.start(func(op fabric.Op) error {
			return a.eps[1].Atomic(fabric.Atomic{Kind: fabric.FetchAdd, Operand: 2, Result: &old}, part(s.Region, 8, 8), op)
		})
		r.wait("the Atomic", func() bool { return len(a.pending) == 0 })
		if got := binary.NativeEndian.Uint64(s.Bytes[8:]); old != 5 || got != 7 {
			t.Errorf("FetchAdd in shared memory: %d, then %d", old, got)
		}
	}
	a.finish()
}

// shareEnds fills what there is to share.
func shareEnds(t *testing.T, h Harness) {
	r := open(t, h, 2)
	needReach(t, r)
	n := r.nodes[0]
	for range 1 << 20 {
		if _, err := n.d.Share(4096); err != nil {
			if n.d.Wake(); errors.Is(err, fabric.ErrUnsupported) {
				t.Errorf("Share without room: %v", err)
			}
			return
		}
	}
	t.Error("Share has no end: it is for small things")
}

func reachStays(t *testing.T, h Harness) {
	if h.Alloc == nil {
		t.Skip("the transport has no memory that peers map")
	}
	r := open(t, h, 2)
	needReach(t, r)
	a, b := r.nodes[0], r.nodes[1]
	first := b.region(h.Alloc(t, 4096), fabric.LocalWrite|fabric.RemoteRead|fabric.RemoteWrite)
	there := a.reach(1, first.Region.Remote)
	at := &there[0]
	for i := range 4 {
		more := b.region(h.Alloc(t, 16<<20), fabric.LocalWrite|fabric.RemoteRead|fabric.RemoteWrite)
		grown := a.reach(1, more.Region.Remote)
		copy(grown[len(grown)-64:], content(uint64(i), 64))
		if string(more.Bytes[len(more.Bytes)-64:]) != string(content(uint64(i), 64)) {
			t.Fatal("a store into memory that came later is lost")
		}
		copy(there, content(uint64(i)+10, 4096))
		if string(first.Bytes) != string(content(uint64(i)+10, 4096)) {
			t.Fatal("after the peer has grown, stores into memory reached before are lost")
		}
	}
	if again := a.reach(1, first.Region.Remote); &again[0] != at {
		t.Error("memory has moved as the peer grew")
	}
}

// reachOutlives uses memory of a peer that has closed.
func reachOutlives(t *testing.T, h Harness) {
	r := open(t, h, 2)
	needReach(t, r)
	a, b := r.nodes[0], r.nodes[1]
	s := b.share(64)
	there := a.reach(1, s.Region.Remote)
	there[5] = 7
	down := 0
	a.onDown = func(fabric.Peer, error) { down++ }
	if err := b.d.Close(); err != nil {
		t.Fatal(err)
	}
	a.wait("the end of the peer", func() bool { a.poll(); return down > 0 })
	if there[5] != 7 {
		t.Error("memory of a closed peer has lost a store")
	}
	there[6] = 8
	a.eps[1].Knock(true)
	if _, err := a.eps[1].Reach(s.Region.Remote); !errors.Is(err, fabric.ErrPeerDown) {
		t.Errorf("Reach of a closed peer: %v, want ErrPeerDown", err)
	}
}

func reachRefuses(t *testing.T, h Harness) {
	r := open(t, h, 2)
	needReach(t, r)
	a, b := r.nodes[0], r.nodes[1]
	s := b.share(64)
	bad := s.Region.Remote
	bad.Addr, bad.Len = bad.Addr+1<<40, 1<<40
	_, err := a.eps[1].Reach(bad)
	for err == fabric.ErrAgain {
		r.poll()
		_, err = a.eps[1].Reach(bad)
	}
	if !errors.Is(err, fabric.ErrBadRemote) {
		t.Errorf("Reach of memory that is nowhere: %v, want ErrBadRemote", err)
	}
	if reached := a.reach(1, s.Region.Remote); len(reached) != 64 {
		t.Errorf("after a refused Reach: %d bytes", len(reached))
	}
}

// storeRig is a pair of ranks of which the first stores into a word of the
// second's.
func storeRig(t *testing.T, h Harness) (r *rig, mine, there *uint64) {
	r = open(t, h, 2)
	needReach(t, r)
	s := r.nodes[1].share(8)
	return r, wordOf(s.Bytes), wordOf(r.nodes[0].reach(1, s.Region.Remote))
}

func knockWakesAll(t *testing.T, h Harness)    { knockMeetsArm(t, h, fabric.WakeAll, false) }
func knockWakesUrgent(t *testing.T, h Harness) { knockMeetsArm(t, h, fabric.WakeUrgent, true) }

// knockMeetsArm lets a goroutine store and Knock while rank 1 is between Arm and
// Wait, a little earlier or later each round. The goroutine is no rank's owner.
func knockMeetsArm(t *testing.T, h Harness, w fabric.Wake, urgent bool) {
	r, mine, there := storeRig(t, h)
	rounds := h.rounds(20000)
	e := r.nodes[0].eps[1]
	// turn is the round that rank 1 is about to sleep in, as in armMeetsSend.
	var turn atomic.Int64
	knocked := make(chan struct{})
	go func() {
		defer close(knocked)
		for i := range rounds {
			for k := 0; turn.Load() <= int64(i); k++ {
				if k%100 == 99 {
					if t.Failed() {
						return
					}
					runtime.Gosched()
				}
			}
			delay(&turn, i%256)
			membar.StoreRelease(there, uint64(i)+1)
			e.Knock(urgent)
		}
	}()
	n := r.nodes[1]
	n.idle = func() { n.poll() }
	for i := range rounds {
		turn.Store(int64(i) + 1)
		delay(&turn, i/256*7%256)
		n.sleepUntil(w, "a store that met Arm", func() bool { return atomic.LoadUint64(mine) > uint64(i) })
	}
	<-knocked
}

// plainKnock has a sleeper for urgent things sleep through Knocks that are not.
func plainKnock(t *testing.T, h Harness) {
	r, mine, there := storeRig(t, h)
	b := r.nodes[1]
	const tries, nap = 20, 20 * time.Millisecond
	for i := range uint64(tries) {
		if err := b.d.Arm(fabric.WakeUrgent); err != nil {
			t.Fatalf("Arm: %v", err)
		}
		b.pollDry()
		for range 100 { // let rings of earlier events pass
			if slept(t, b.d, time.Millisecond) {
				break
			}
		}
		atomic.StoreUint64(there, i+1)
		r.nodes[0].eps[1].Knock(false)
		whole := slept(t, b.d, nap)
		b.d.Disarm()
		if got := atomic.LoadUint64(mine); got != i+1 {
			t.Fatalf("the word is %d, want %d", got, i+1)
		}
		if whole {
			return // Wait may return early, so once is proof
		}
	}
	t.Errorf("with WakeUrgent armed, a Knock that is not urgent has cut Wait short in each of %d tries", tries)
}
