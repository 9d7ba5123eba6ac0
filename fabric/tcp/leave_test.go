package tcp

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/testkit/tcpproxy"
	"github.com/weft-mpi/weft/internal/testkit/tier"
)

// One peer that takes nothing costs the others nothing of what they were sent, and
// holds Close up for its limit.
func TestCloseServesAllThoughOneTakesNothing(t *testing.T) {
	tier.Long(t, "it waits for time limits to pass")
	plainAndTLS(t, closeServesAllThoughOneTakesNothing)
}

func closeServesAllThoughOneTakesNothing(t *testing.T, change func(*fabric.Config)) {
	ms := mates(t, 4, change)
	a := ms[0]
	meetAll(t, ms...)
	for _, p := range ms[1:] { // more than the kernel takes
		for k := 0; k < 2 || a.d.eps[p.rank].msg.clear(); {
			if a.send(p.rank, maxEager) {
				k++
			}
			a.d.Poll(a, 1)
		}
	}
	a.d.set.closeTime = 2 * time.Second // without progress
	closed := make(chan struct{})
	go func() {
		a.d.Close()
		close(closed)
	}()
	ended := func() bool {
		select {
		case <-closed:
			return true
		default:
			return false
		}
	}
	// Rank 2, in the middle, takes nothing until Close has given it up.
	pump(t, "Close", ended, ms[1], ms[3])
	pump(t, "the end of a rank that left", func() bool { return ms[1].down[0] != nil && ms[3].down[0] != nil }, ms[1], ms[3])
	for _, p := range []*mate{ms[1], ms[3]} {
		if p.got[0] != a.sent[p.rank] || !errors.Is(p.down[0], fabric.ErrPeerLeft) {
			t.Errorf("rank %d has %d messages of %d: %v", p.rank, p.got[0], a.sent[p.rank], p.down[0])
		}
	}
	pump(t, "the end at the one that took nothing", func() bool { return ms[2].down[0] != nil }, ms[2])
	if ms[2].got[0] == 0 || ms[2].got[0] > a.sent[2] {
		t.Errorf("it has %d messages of %d", ms[2].got[0], a.sent[2])
	}
}

// A peer that takes little at a time, with pauses, gets everything.
func TestCloseWaitsForASlowPeer(t *testing.T) { plainAndTLS(t, closeWaitsForASlowPeer) }

func closeWaitsForASlowPeer(t *testing.T, change func(*fabric.Config)) {
	tier.Long(t, "it waits for time limits to pass")
	const step, size = 32 << 10, 2 << 20
	const delay = 30 * time.Millisecond
	ms := mates(t, 2, change)
	a, b := ms[0], ms[1]
	card, _ := through(t, b, func(int) (fs []tcpproxy.Fault) {
		for at := int64(step); at < size; at += step {
			fs = append(fs, tcpproxy.Fault{Dir: tcpproxy.Up, At: at, Do: tcpproxy.Delay, For: delay})
		}
		return fs
	})
	meetBoth(t, a, b, card)
	for a.d.eps[1].msg.clear() {
		a.send(1, maxEager)
		a.d.Poll(a, 1)
	}
	a.d.set.closeTime = 30 * delay // less than it takes in all
	closed := make(chan struct{})
	go func() {
		a.d.Close()
		close(closed)
	}()
	pump(t, "all messages and their end", func() bool { return b.down[0] != nil }, b)
	if b.got[0] != a.sent[1] || !errors.Is(b.down[0], fabric.ErrPeerLeft) {
		t.Errorf("%d messages of %d: %v", b.got[0], a.sent[1], b.down[0])
	}
	<-closed
}

// A rank that leaves in the middle of a Put completes the piece that is under way,
// so that the Bye behind it is understood.
func TestCloseInTheMiddleOfAPieceIsInOrder(t *testing.T) {
	plainAndTLS(t, closeInTheMiddleOfAPieceIsInOrder)
}

func closeInTheMiddleOfAPieceIsInOrder(t *testing.T, change func(*fabric.Config)) {
	const size = 8 << 20
	ms := mates(t, 2, change)
	a, b := ms[0], ms[1]
	meetAll(t, a, b)
	mem, own := b.region(make([]byte, size)), a.region(make([]byte, size))
	a.begin(1, func(op fabric.Op) error { return a.eps[1].Put(own, mem.Region.Remote, op) })
	for a.d.eps[1].msg.clear() {
		a.d.Poll(a, 1)
	}
	closed := make(chan struct{})
	go func() {
		a.d.Close()
		close(closed)
	}()
	pump(t, "the end", func() bool { return b.down[0] != nil }, b)
	if !errors.Is(b.down[0], fabric.ErrPeerLeft) {
		t.Error(b.down[0])
	}
	<-closed
}

// A rank that closes while connections are being made leaves in order, and leaves no
// descriptor behind.
func TestCloseMeetsConnect(t *testing.T) { plainAndTLS(t, closeMeetsConnect) }

func closeMeetsConnect(t *testing.T, change func(*fabric.Config)) {
	rounds := 10
	if testing.Short() {
		rounds = 3
	}
	count := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	before := 0
	for round := range rounds {
		if round == 1 { // the first has opened what Go itself keeps
			before = count()
		}
		t.Run("", func(t *testing.T) {
			ms := mates(t, 2, change)
			a, b := ms[0], ms[1]
			a.meet(b, nil)
			for k := 0; k < round*20 && !a.d.pending.Load(); k++ {
				b.d.Poll(b, 64)
			}
			if round%2 == 0 {
				for end := time.Now().Add(patience); !a.d.pending.Load() && time.Now().Before(end); {
					b.d.Poll(b, 64)
				}
			}
			a.d.Close()
			b.meet(a, nil)
			pump(t, "PeerDown", func() bool { return b.down[0] != nil }, b)
			if round%2 == 0 && !errors.Is(b.down[0], fabric.ErrPeerLeft) {
				t.Errorf("a rank that left in order: %v", b.down[0])
			}
			b.d.Close()
		})
	}
	if after := count(); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}
