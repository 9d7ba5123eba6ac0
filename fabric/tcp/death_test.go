package tcp

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/testkit/tcpproxy"
)

// duel is two ranks with every kind of operation under way, and one that both know.
type duel struct {
	a, b, c *mate
	mem     [2]fabric.Segment // of a and of b
	own     [2]fabric.Segment
	word    [2]uint64
	next    [2]int
	steps   int
}

// newDuel has the first rank dial the second by a relay.
func newDuel(t testing.TB, change func(*fabric.Config), plan func(int) []tcpproxy.Fault) (*duel, *tcpproxy.Relay) {
	ms := mates(t, 3, change)
	u := &duel{a: ms[0], b: ms[1], c: ms[2], steps: 60}
	meetAll(t, u.a, u.c)
	meetAll(t, u.b, u.c)
	for i, m := range ms[:2] {
		u.mem[i] = m.region(make([]byte, 300<<10))
		u.own[i] = m.region(make([]byte, 300<<10))
	}
	card, r := through(t, u.b, plan)
	u.a.meet(u.b, card)
	return u, r
}

// step has a rank begin the next operation with the other, if there is room.
func (u *duel) step(i int) {
	m, p := u.a, fabric.Peer(1)
	if i == 1 {
		m, p = u.b, 0
	}
	if u.next[i] == u.steps || m.down[p] != nil || m.eps[p] == nil {
		return
	}
	k, ep, own, at := u.next[i], m.eps[p], u.own[i], u.mem[1-i].Region.Remote
	sizes := []int{1, 100, 5000, 200 << 10}
	own.Bytes = own.Bytes[:sizes[k/6%len(sizes)]]
	begun := false
	switch k % 6 {
	case 0:
		begun = m.send(p, 8)
	case 1:
		begun = m.begin(p, func(op fabric.Op) error { return ep.Put(own, at, op) })
	case 2:
		begun = m.send(p, maxEager-k)
	case 3:
		begun = m.begin(p, func(op fabric.Op) error { return ep.Get(own, at, op) })
	case 4:
		begun = m.begin(p, func(op fabric.Op) error {
			return ep.Atomic(fabric.Atomic{Kind: fabric.FetchAdd, Operand: 1, Result: &u.word[i]}, at, op)
		})
	case 5:
		begun = m.begin(p, ep.Flush)
	}
	if begun {
		u.next[i]++
	}
}

// done reports whether a rank has nothing more to do or to expect of the other.
func (u *duel) done() bool {
	a, b := u.a, u.b
	if a.down[1] != nil || b.down[0] != nil {
		return a.down[1] != nil && b.down[0] != nil
	}
	return u.next[0] == u.steps && u.next[1] == u.steps && len(a.pending) == 0 && len(b.pending) == 0 &&
		a.got[1] == b.sent[0] && b.got[0] == a.sent[1]
}

// fight goes on until both are through, or each has lost the other: they agree.
func (u *duel) fight(t testing.TB) {
	t.Helper()
	u.b.meet(u.a, nil)
	pump(t, "the end of both ranks' operations, or of both ranks for each other", func() bool {
		u.step(0)
		u.step(1)
		return u.done()
	}, u.a, u.b, u.c)
	if a, b := u.a, u.b; (a.down[1] != nil) != (b.down[0] != nil) || len(a.pending)+len(b.pending) > 0 {
		t.Errorf("rank 0 has %v, rank 1 %v; %d and %d operations are left", a.down[1], b.down[0], len(a.pending), len(b.pending))
	}
	talk(t, u.a, u.c)
	talk(t, u.b, u.c)
	if u.a.down[2] != nil || u.b.down[2] != nil {
		t.Errorf("the third rank is down: %v, %v", u.a.down[2], u.b.down[2])
	}
}

// What each side says in a greeting, in bytes; frames follow.
const (
	greetingUp   = 73
	greetingDown = 72
)

// Whatever ends a connection at whichever byte, both ranks have the same outcome:
// they have lost each other, or a later connection has served.
func TestAConnectionThatEndsAtAnyByte(t *testing.T) {
	for _, dir := range []tcpproxy.Direction{tcpproxy.Up, tcpproxy.Down} {
		for _, act := range []tcpproxy.Action{tcpproxy.Reset, tcpproxy.Half} {
			greeting, at := greetingUp, []int64{0, 1, 20, 36, 37, 67}
			if dir == tcpproxy.Down {
				greeting = greetingDown
			}
			for _, k := range []int{-6, -5, -4, -3, -2, -1, 0, 1, 8, 15, 16, 17, 31, 32, 33, 40, 60, 80, 100, 300, 5000, 16500, 17000, 40000, 100000, 300000, 700000} {
				at = append(at, int64(greeting+k))
			}
			for _, at := range at {
				t.Run(fmt.Sprintf("dir%d/act%d/%d", dir, act, at), func(t *testing.T) {
					t.Parallel()
					u, _ := newDuel(t, nil, func(n int) []tcpproxy.Fault {
						if n > 0 {
							return nil
						}
						return []tcpproxy.Fault{{Dir: dir, At: at, Do: act}}
					})
					u.fight(t)
				})
			}
		}
	}
}

// The same for the connection for bulk data.
func TestAConnectionForBulkThatEndsAtAnyByte(t *testing.T) {
	for _, dir := range []tcpproxy.Direction{tcpproxy.Up, tcpproxy.Down} {
		for _, at := range []int64{0, 40, 71, 72, 73, 80, 100, 5000, 200 << 10, 300 << 10} {
			for _, act := range []tcpproxy.Action{tcpproxy.Reset, tcpproxy.Half} {
				t.Run(fmt.Sprintf("dir%d/act%d/%d", dir, act, at), func(t *testing.T) {
					t.Parallel()
					u, _ := newDuel(t, nil, func(n int) []tcpproxy.Fault {
						if n != 1 {
							return nil
						}
						return []tcpproxy.Fault{{Dir: dir, At: at, Do: act}}
					})
					u.fight(t)
				})
			}
		}
	}
}

// bulkStands has two ranks connect for bulk data, too.
func bulkStands(t testing.TB, a, b *mate) {
	t.Helper()
	mem, own := b.region(make([]byte, bulkMin)), a.region(make([]byte, bulkMin))
	ended := a.ended
	begun := false
	pump(t, "a Put, and the connection for bulk data", func() bool {
		begun = begun || a.begin(b.rank, func(op fabric.Op) error { return a.eps[b.rank].Put(own, mem.Region.Remote, op) })
		return a.ended > ended && a.d.eps[b.rank].bulk != nil && b.d.eps[a.rank].bulk != nil
	}, a, b)
}

// What has arrived of a rank before its death is delivered, however much it is and
// whichever connection's end comes first.
func TestWhatCameBeforeADeathIsDelivered(t *testing.T) {
	plainAndTLS(t, whatCameBeforeADeathIsDelivered)
}

func whatCameBeforeADeathIsDelivered(t *testing.T, change func(*fabric.Config)) {
	for _, bulk := range []bool{false, true} {
		for _, max := range []int{1, 7, 64} {
			t.Run(fmt.Sprintf("bulk %t, max %d", bulk, max), func(t *testing.T) {
				ms := mates(t, 2, change)
				a, b := ms[0], ms[1]
				meetAll(t, a, b)
				if bulk {
					bulkStands(t, a, b)
				}
				// Room for more than one read takes.
				if err := unix.SetsockoptInt(a.d.eps[1].msg.fd, unix.SOL_SOCKET, unix.SO_RCVBUF, 1<<20); err != nil {
					t.Fatal(err)
				}
				for range 30 {
					pump(t, "room", func() bool { return b.send(0, 4000) }, b)
				}
				pump(t, "the messages to arrive", func() bool {
					n, err := unix.IoctlGetInt(b.d.eps[0].msg.fd, unix.SIOCOUTQ)
					return err == nil && n == 0 && b.d.eps[0].msg.clear()
				}, b)
				b.d.crash()
				a.max = max
				pump(t, "PeerDown", func() bool { return a.down[1] != nil }, a)
				if a.got[1] != b.sent[0] {
					t.Errorf("%d messages of %d", a.got[1], b.sent[0])
				}
				if errors.Is(a.down[1], fabric.ErrPeerLeft) || !strings.Contains(a.down[1].Error(), "its process has ended") {
					t.Errorf("the words are: %v", a.down[1])
				}
			})
		}
	}
}

// A Send to a rank that has left finds that out, and what that rank had said is
// delivered still.
func TestWhatCameIsDeliveredThoughASendHasFailed(t *testing.T) {
	plainAndTLS(t, whatCameIsDeliveredThoughASendHasFailed)
}

func whatCameIsDeliveredThoughASendHasFailed(t *testing.T, change func(*fabric.Config)) {
	ms := mates(t, 2, change)
	a, b := ms[0], ms[1]
	meetAll(t, a, b)
	for range 8 {
		pump(t, "room", func() bool { return b.send(0, 4000) }, b)
	}
	b.d.Close()
	for a.send(1, 100) { // until its host has said that nobody is there
	}
	pump(t, "PeerDown", func() bool { return a.down[1] != nil }, a)
	if a.got[1] != b.sent[0] || !errors.Is(a.down[1], fabric.ErrPeerLeft) {
		t.Errorf("%d messages of %d; %v", a.got[1], b.sent[0], a.down[1])
	}
}

// A death is told though another peer has messages for every Poll.
func TestADeathIsToldInAFlood(t *testing.T) { plainAndTLS(t, aDeathIsToldInAFlood) }

func aDeathIsToldInAFlood(t *testing.T, change func(*fabric.Config)) {
	ms := mates(t, 3, change)
	a, b, c := ms[0], ms[1], ms[2]
	meetAll(t, ms...)
	flood := func() {
		for k := 0; k < 100 && c.send(0, 8); k++ {
		}
	}
	a.max = 1
	for enough := a.got[2] + 4*vain; a.got[2] < enough; { // until the other has been silent for long
		flood()
		c.d.Poll(c, 64)
		a.d.Poll(a, a.max)
	}
	b.d.crash()
	pump(t, "PeerDown", func() bool { flood(); return a.down[1] != nil }, a, c)
	c.d.set.closeTime = 0 // nobody reads the rest
}

// A conversation that is said once more, to the same rank, does nothing.
func TestAReplayDoesNothing(t *testing.T) {
	u, r := newDuel(t, nil, nil)
	u.fight(t)
	if u.a.down[1] != nil {
		t.Fatal(u.a.down[1])
	}
	before := u.b.got[0]
	a, err := decodeCard(u.b.d.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Conn(0).Replay(a.Listen[0].String(), patience); err == nil {
		t.Log("it was hung up in order")
	}
	talk(t, u.a, u.b)
	if u.b.got[0] != before+20 {
		t.Errorf("%d messages more, want 20", u.b.got[0]-before)
	}
}
