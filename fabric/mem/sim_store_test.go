package mem_test

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/mem"
)

// simPair is two ranks of a Sim with shared memory of rank 1's.
type simPair struct {
	*mem.Sim
	ds    [2]fabric.Domain
	to    [2]fabric.Endpoint // from each to the other
	views [2][]byte
	share fabric.Segment
	logs  [2]*simLog
}

func pair(t *testing.T, seed uint64, armFences bool) *simPair {
	t.Helper()
	p := &simPair{Sim: mem.NewSim(rand.New(rand.NewPCG(seed, 7)), mem.SimConfig{Size: 2, Depth: 8, ArmFences: armFences,
		Caps: fabric.Caps{MaxEager: 64, Put: true, Get: true, Atomics: true, Reach: true}})}
	var lines []string
	for i := range p.ds {
		var err error
		if p.ds[i], err = p.Open(p.Config(i)); err != nil {
			t.Fatal(err)
		}
		if p.to[i], err = p.ds[i].Connect(fabric.Peer(1-i), p.Addrs()[1-i]); err != nil {
			t.Fatal(err)
		}
		p.logs[i] = &simLog{t: t, rank: i, last: make([]uint64, 2), open: map[fabric.Op]int{}, down: make([]bool, 2), lines: &lines}
	}
	var err error
	if p.share, err = p.ds[1].Share(64); err != nil {
		t.Fatal(err)
	}
	p.views[1] = p.share.Bytes
	if p.views[0], err = p.to[0].Reach(p.share.Region.Remote); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *simPair) store(rank, word int, v uint64) {
	binary.NativeEndian.PutUint64(p.views[rank][8*word:], v)
}
func (p *simPair) load(rank, word int) uint64 {
	return binary.NativeEndian.Uint64(p.views[rank][8*word:])
}

// kinds counts the moves there are of a kind.
func (p *simPair) kinds(k mem.SimMoveKind) (n int) {
	for _, m := range p.Moves() {
		if m.Kind == k {
			n++
		}
	}
	return n
}

func (p *simPair) publish(rank int) {
	p.Do(mem.SimMove{Kind: mem.MoveStore, Rank: rank, Peer: rank})
}

// A store is seen by its own rank at once and by the other behind its move, in
// order; a store of the other's to the same word does not hide it before.
func TestAStoreInASimWaitsForItsMove(t *testing.T) {
	p := pair(t, 1, true)
	p.store(0, 0, 5)
	p.store(1, 1, 6)
	if p.load(1, 0) != 0 || p.load(0, 1) != 0 || p.load(0, 0) != 5 || p.load(1, 1) != 6 {
		t.Error("a store is seen before its move, or not by its own rank")
	}
	p.Moves() // a look: what follows is behind
	p.store(0, 2, 7)
	if n := p.kinds(mem.MoveStore); n != 2 {
		t.Errorf("%d ranks may publish, want 2", n)
	}
	p.publish(0)
	if p.load(1, 0) != 5 || p.load(1, 2) != 0 {
		t.Error("the second store is seen before the first, or with it")
	}
	p.store(1, 2, 8)
	p.publish(0)
	if p.load(1, 2) != 8 || p.load(0, 2) != 7 {
		t.Error("a rank's own store is hidden by one that is in the memory before it")
	}
	for p.kinds(mem.MoveStore) > 0 {
		p.publish(1)
	}
	if p.load(0, 2) != 8 || p.load(0, 1) != 6 {
		t.Error("stores do not come to the other")
	}
	again, err := p.to[0].Reach(fabric.Remote{Addr: p.share.Region.Addr + 8, Len: 8, Key: p.share.Region.Key})
	if err != nil || &again[0] != &p.views[0][8] {
		t.Errorf("Reach of a part: %v, or elsewhere", err)
	}
}

// A message, and the end of its sender, come behind what the sender has stored
// before, and not behind what it stores then.
func TestAMessageInASimComesBehindStores(t *testing.T) {
	p := pair(t, 1, true)
	p.store(0, 0, 1)
	if err := p.to[0].Send(1, 1, make([]byte, 1), nil); err != nil {
		t.Fatal(err)
	}
	p.store(0, 0, 2)
	p.Do(mem.SimMove{Kind: mem.MoveArrive, Rank: 1, Peer: 0})
	if v := p.load(1, 0); v != 1 {
		t.Errorf("the word is %d as the message comes, want 1", v)
	}
	p.ds[1].Poll(p.logs[1], 8)
	p.Kill(0)
	if p.kinds(mem.MoveDown) != 0 {
		t.Error("a death can be told before the last store of the dead is seen")
	}
	p.publish(0)
	if v := p.load(1, 0); v != 2 || p.kinds(mem.MoveDown) != 1 {
		t.Errorf("the word is %d, want 2, then a death is told: %v", v, p.Moves())
	}
}

// Put, Get and Atomic act on the memory, whatever waits in a buffer.
func TestOneSidedOperationsOfASimActOnSharedMemory(t *testing.T) {
	p := pair(t, 1, true)
	var old uint64
	got := make([]byte, 8)
	word := func(i int) fabric.Remote {
		return fabric.Remote{Addr: p.share.Region.Addr + uint64(8*i), Len: 8, Key: p.share.Region.Key}
	}
	p.logs[0].open = map[fabric.Op]int{1: 1, 2: 1, 3: 1, 4: 1}
	p.store(1, 0, 9)
	err := errors.Join(
		p.to[0].Atomic(fabric.Atomic{Kind: fabric.FetchAdd, Operand: 3, Result: &old}, word(0), 1),
		p.to[0].Put(fabric.Segment{Bytes: []byte{7, 7, 7, 7, 7, 7, 7, 7}}, word(1), 2))
	if err != nil {
		t.Fatal(err)
	}
	for op := range fabric.Op(2) {
		p.Do(mem.SimMove{Kind: mem.MoveTransfer, Rank: 0, Peer: 1, Op: 2 - op})
	}
	if old != 0 || p.load(1, 0) != 9 || p.load(0, 0) != 3 || p.load(1, 1) != 0x0707070707070707 {
		t.Errorf("old value %d, words %d, %d, %x", old, p.load(1, 0), p.load(0, 0), p.load(1, 1))
	}
	if err := p.to[0].Get(fabric.Segment{Bytes: got}, word(0), 3); err != nil {
		t.Fatal(err)
	}
	p.publish(1)
	p.Step()
	if p.ds[0].Poll(p.logs[0], 8); binary.NativeEndian.Uint64(got) != 9 {
		t.Errorf("Get has read %x", got)
	}
	bad := word(0)
	bad.Addr++
	if err := p.to[0].Atomic(fabric.Atomic{Kind: fabric.FetchAdd}, bad, 4); !errors.Is(err, fabric.ErrBadRemote) {
		t.Errorf("Atomic on a word that is not aligned: %v", err)
	}
	if err := p.to[0].Atomic(fabric.Atomic{Kind: 9}, word(0), 4); !errors.Is(err, fabric.ErrUnsupported) {
		t.Errorf("Atomic of no kind: %v", err)
	}
}

// sleeperOrder is in which order two ranks do what has to wake the one that sleeps.
type sleeperOrder struct{ knockFirst, noKnock, lookFirst bool }

// sleeps has rank 0 store and Knock while rank 1 arms, looks and sleeps, in any
// order that the seed draws, and reports whether rank 1 sleeps for ever.
func sleeps(t *testing.T, seed uint64, armFences bool, o sleeperOrder) bool {
	p := pair(t, seed, armFences)
	rng := rand.New(rand.NewPCG(seed, 8))
	seen := false
	look := func() { seen = p.load(1, 0) == 1 }
	arm := func() {
		if err := p.ds[1].Arm(fabric.WakeAll); err != nil {
			t.Fatal(err)
		}
	}
	knock := func() { p.to[0].Knock(false) }
	storer, sleeper := []func(){func() { p.store(0, 0, 1) }, knock}, []func(){arm, look}
	if o.knockFirst {
		storer[0], storer[1] = storer[1], storer[0]
	}
	if o.noKnock {
		storer = storer[:1]
	}
	if o.lookFirst {
		sleeper[0], sleeper[1] = sleeper[1], sleeper[0]
	}
	for len(storer)+len(sleeper) > 0 {
		next := &storer
		if len(storer) == 0 || len(sleeper) > 0 && rng.IntN(2) == 0 {
			next = &sleeper
		}
		(*next)[0]()
		*next = (*next)[1:]
		if rng.IntN(3) == 0 {
			p.Step()
		}
	}
	for p.Step() {
	}
	if p.Woken(1) {
		look()
	}
	return !seen
}

// A rank that arms, looks and sleeps is rung if what it waits for is stored and
// knocked for, whichever of the two fences; a mistake in the order makes it sleep
// for ever under some seed.
func TestASleeperOfASimMissesNoStore(t *testing.T) {
	const seeds = 500
	for _, armFences := range []bool{false, true} {
		for _, o := range []sleeperOrder{{}, {knockFirst: true}, {noKnock: true}, {lookFirst: true}} {
			missed := 0
			for seed := range uint64(seeds) {
				if sleeps(t, seed, armFences, o) {
					missed++
				}
			}
			if wrong := o != (sleeperOrder{}); wrong != (missed > 0) {
				t.Errorf("%+v, ArmFences %t: %d of %d seeds miss the store", o, armFences, missed, seeds)
			}
		}
	}
}

// A doorbell rings at the level that is armed, for all that Arm names, and a ring
// stays until it is taken.
func TestADoorbellOfASimRingsAsArmed(t *testing.T) {
	knock := func(urgent bool) func(*simPair) error {
		return func(p *simPair) error { p.to[0].Knock(urgent); return nil }
	}
	send := func(kind uint8, n int) func(*simPair) (err error) {
		return func(p *simPair) (err error) {
			for i := range n {
				err = errors.Join(err, p.to[0].Send(kind, uint64(1+i), make([]byte, (1+i)%4), nil))
			}
			return err
		}
	}
	for _, c := range []struct {
		name        string
		do          func(*simPair) error
		urgent, all bool
	}{
		{"nothing", func(*simPair) error { return nil }, false, false},
		{"a Knock", knock(false), false, true},
		{"an urgent Knock", knock(true), true, true},
		{"a message", send(1, 1), false, true},
		{"an urgent message", send(1|fabric.Urgent, 1), true, true},
		{"a filling queue", send(1, 8), true, true},
		{"the end of an operation", func(p *simPair) error { return p.to[1].Flush(1) }, true, true},
		{"a death", func(p *simPair) error { p.Kill(0); return nil }, true, true},
	} {
		for w, want := range map[fabric.Wake]bool{0: false, fabric.WakeUrgent: c.urgent, fabric.WakeAll: c.all} {
			p := pair(t, 1, true)
			if err := p.ds[1].Arm(w); err != nil {
				t.Fatal(err)
			}
			if w == 0 {
				p.ds[1].Disarm()
			}
			if err := c.do(p); err != nil {
				t.Fatal(err)
			}
			for p.Step() {
			}
			if got := p.Woken(1); got != want {
				t.Errorf("%s, armed with %d: rung %t, want %t", c.name, w, got, want)
			}
			if p.Woken(1) {
				t.Errorf("%s: a ring was taken, and is there again", c.name)
			}
		}
	}
}

// What Share and Reach refuse.
func TestSharedMemoryOfASimHasAnEnd(t *testing.T) {
	p := pair(t, 1, true)
	if _, err := p.ds[1].Share(1 << 30); err == nil || errors.Is(err, fabric.ErrUnsupported) {
		t.Errorf("Share of too much: %v", err)
	}
	reg, err := p.ds[1].Register(make([]byte, 8), fabric.RemoteRead|fabric.RemoteWrite)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.to[0].Reach(reg.Remote); !errors.Is(err, fabric.ErrUnsupported) {
		t.Errorf("Reach of registered memory: %v", err)
	}
	bad := p.share.Region.Remote
	bad.Addr, bad.Len = bad.Addr+1<<40, 1<<40
	if _, err := p.to[0].Reach(bad); !errors.Is(err, fabric.ErrBadRemote) {
		t.Errorf("Reach of memory that is nowhere: %v", err)
	}
	p.Kill(1)
	if _, err := p.to[0].Reach(p.share.Region.Remote); err != fabric.ErrAgain {
		t.Errorf("Reach of a rank whose death was not told yet: %v", err)
	}
	for p.Step() {
	}
	p.ds[0].Poll(p.logs[0], 8)
	if _, err := p.to[0].Reach(p.share.Region.Remote); !errors.Is(err, fabric.ErrPeerDown) {
		t.Errorf("Reach of a dead rank: %v", err)
	}
	if p.store(0, 0, 4); p.load(0, 0) != 4 {
		t.Error("memory of a dead rank loses a store")
	}
}
