package shm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// patientPair is two ranks whose rings grow when they are full, and not before.
func patientPair(t testing.TB) *pair {
	t.Helper()
	instead(t, &forHaste, 0)
	return newPair(t)
}

func (p *pair) tx(from int) *producer { return &p.ep[from].(*endpoint).tx }
func (p *pair) rx(to int) *consumer   { return &p.ep[to].(*endpoint).rx.consumer }

// fill sends until the ring is full, and answers how many messages it took.
func (p *pair) fill(from, n int) (sent int) {
	p.t.Helper()
	for ; ; sent++ {
		switch err := p.ep[from].Send(1, 0, nil, make([]byte, n)); {
		case errors.Is(err, fabric.ErrAgain):
			return sent
		case err != nil:
			p.t.Fatal(err)
		}
	}
}

// backed is how many bytes of a mapping are in memory.
func backed(t testing.TB, mem []byte) int {
	t.Helper()
	pages := bytes.Count(residency(t, mem), []byte{1})
	return pages * unix.Getpagesize()
}

// Two ranks that exchange short messages in turns stay in the first ring, however
// many those are, and the pages behind it are not there.
func TestRanksThatTalkInTurnsUseTheFirstRingOnly(t *testing.T) {
	if qemu != "" {
		t.Skip("qemu-user has no MADV_POPULATE_WRITE: rings are whole from the beginning")
	}
	p := patientPair(t)
	for range 10 * firstLines {
		p.exchange("12345678")
		p.exchange(strings.Repeat("x", 1000))
		p.exchange(strings.Repeat("y", maxEager))
	}
	page := unix.Getpagesize()
	for i := range 2 {
		if !p.tx(i).first || !p.rx(i).first {
			t.Errorf("the ring of rank %d has grown", i)
		}
		if got, most := backed(t, p.tx(i).mem), (offLines+page-1)&^(page-1); got > most {
			t.Errorf("the ring of rank %d has %d bytes of memory, want %d at most", i, got, most)
		}
	}
}

// A ring grows as soon as that spares the two ranks a look at each other's counts;
// the memory for it has a bound.
func TestRingsGrowInHasteWhileThereIsMemoryForThat(t *testing.T) {
	p := patientPair(t)
	size := len(p.tx(0).mem)
	p.n[0].d.haste, p.n[1].d.haste = size+1, size-1
	for range 2 * firstLines {
		p.exchange("in turns")
	}
	if p.tx(0).first || p.n[0].d.haste != 1 {
		t.Errorf("with memory for it: in the first ring %t, %d bytes left", p.tx(0).first, p.n[0].d.haste)
	}
	if !p.tx(1).first || p.n[1].d.haste != size-1 {
		t.Errorf("without memory for it: in the first ring %t, %d bytes left", p.tx(1).first, p.n[1].d.haste)
	}
}

// All rings of a job that are full before they must be have forHaste bytes at
// most, and those of sixteen ranks are from the beginning.
func TestHasteIsSharedByTheRanks(t *testing.T) {
	for _, ranks := range []int{1, 2, 16, 17, 256, 100_000} {
		got, all := hasteFor(ranks)
		if got*ranks > forHaste || all && ranks*(ranks-1)*segmentFor(ranks) > forHaste {
			t.Errorf("%d ranks have %d bytes each, enough for all: %t", ranks, got, all)
		}
		if all != (ranks <= 16) {
			t.Errorf("the rings of %d ranks are full from the beginning: %t", ranks, all)
		}
	}
	p := newPair(t)
	if p.tx(0).first || p.rx(1).first {
		t.Error("a ring of two ranks is not full from the beginning")
	}
}

// What a job of 256 takes whose ranks all exchange short messages: 12 KB for each
// ring, and forHaste.
func TestRingsOfALargeJobTakeLessThanAGigabyte(t *testing.T) {
	const ranks = 256
	if sum := ranks*(ranks-1)*offLines + forHaste; sum > 1e9 {
		t.Errorf("they take %d bytes", sum)
	}
}

func TestAFullRingGrowsAndKeepsTheOrder(t *testing.T) {
	for _, n := range []int{0, 8, 48, 49, 1000, maxEager} {
		p := patientPair(t)
		p.n[1].got = nil
		var want []string
		for i := 0; p.tx(0).first || i < 2*firstLines; i++ {
			b := make([]byte, n)
			if n >= 8 {
				binary.LittleEndian.PutUint64(b, uint64(i))
			}
			if err := p.ep[0].Send(1, 0, nil, b); err != nil {
				t.Fatalf("message %d of %d bytes: %v", i, n, err)
			}
			want = append(want, string(b))
		}
		p.until("all messages", func() bool { return len(p.n[1].got) >= len(want) })
		if strings.Join(p.n[1].got, "|") != strings.Join(want, "|") {
			t.Errorf("%d messages of %d bytes came changed", len(want), n)
		}
		if p.rx(1).first || !p.rx(0).first {
			t.Errorf("%d bytes: it is not that ring alone that has grown", n)
		}
		p.exchange("alive")
	}
}

// A message of the transport's own finds the ring full, too.
func TestARingGrowsForAMessageOfTheTransport(t *testing.T) {
	p := patientPair(t)
	e := p.ep[0].(*endpoint)
	for e.tx.tail-e.tx.seen < e.tx.limit {
		p.ep[0].Send(1, 0, nil, nil)
	}
	for range 2 * firstLines {
		if !e.sendInternal(internalHelp, nil) {
			t.Fatal("no room for a request")
		}
	}
	if e.tx.first {
		t.Error("the ring has not grown")
	}
	for p.n[1].d.Poll(p.n[1], 64) > 0 { // all that was sent
	}
	p.exchange("alive")
}

// Two threads through a growth: the consumer may follow at any moment.
func TestNothingIsLostWhileARingGrows(t *testing.T) {
	for round := range 200 {
		p, c := newRing(leastPayload)
		const messages = 3 * ringLines
		var wg sync.WaitGroup
		wg.Go(func() {
			growAt := round % (2 * firstLines)
			for i := range messages {
				if i == growAt {
					if err := p.grow(); err != nil {
						t.Error(err)
					}
				}
				body := bytes.Repeat([]byte{byte(i)}, 8+(i*37)%900)
				binary.LittleEndian.PutUint64(body, uint64(i))
				for !p.put(1, 0, nil, body) {
					runtime.Gosched()
				}
			}
		})
		for i := 0; i < messages; {
			_, body, ok := c.take()
			if !ok {
				runtime.Gosched()
				continue
			}
			if len(body) != 8+(i*37)%900 || binary.LittleEndian.Uint64(body) != uint64(i) || bytes.Count(body[8:], []byte{byte(i)}) != len(body)-8 {
				t.Fatalf("round %d: message %d came as one of %d bytes, number %d", round, i, len(body), binary.LittleEndian.Uint64(body))
			}
			i++
		}
		wg.Wait()
		unix.Munmap(p.mem)
	}
}

// Without memory the ring stays as it is and takes all messages, one after the
// other; when there is some again it grows.
func TestARingThatCantGrowWorksOn(t *testing.T) {
	if qemu != "" {
		t.Skip("qemu-user has no MADV_POPULATE_WRITE: rings are whole from the beginning")
	}
	instead(t, &forHaste, 0)
	for name, haste := range map[string]int{"in haste": 1 << 30, "when full": 0} {
		t.Run(name, func(t *testing.T) {
			var log records
			ds := []fabric.Domain{
				openOne(t, fabric.Config{Rank: 0, Size: 2, Job: t.Name(), Log: slog.New(slog.NewTextHandler(&log, nil))}),
				openOne(t, fabric.Config{Rank: 1, Size: 2, Job: t.Name(), Log: slog.New(slog.DiscardHandler)}),
			}
			p := connected(t, ds[0], ds[1])
			p.n[0].d.haste = haste
			refused := 0
			func() {
				old := madvise
				defer func() { madvise = old }()
				madvise = func([]byte, int) error { refused++; return unix.EFAULT }
				for range 3 {
					p.n[1].got = nil
					n := p.fill(0, 8)
					if n == 0 || n >= firstLines {
						t.Errorf("%d messages went into the first ring", n)
					}
					for _, size := range []int{1, maxEager, 100, maxEager - 1} {
						p.send(0, strings.Repeat("x", size))
						n++
					}
					p.until("what was sent", func() bool { return len(p.n[1].got) == n })
				}
				if refused != 1 {
					t.Errorf("memory was asked for %d times, want 1", refused)
				}
			}()
			if n := strings.Count(log.String(), "can't grow"); n != 1 || !strings.Contains(log.String(), "free memory") {
				t.Errorf("the log says it %d times:\n%s", n, log.String())
			}
			for range untilRetry {
				p.exchange("later")
			}
			p.n[1].got = nil
			n := p.fill(0, 8)
			if p.tx(0).first {
				t.Error("the ring has not grown since there is memory")
			}
			p.until("what was sent", func() bool { return len(p.n[1].got) == n })
		})
	}
}

// A peer that goes to the full ring without memory for it is ended: to read there
// would be a SIGBUS.
func TestAPeerWhoseRingHasGrownWithoutMemoryIsEnded(t *testing.T) {
	if qemu != "" {
		t.Skip("qemu-user has no MADV_POPULATE_WRITE: rings are whole from the beginning")
	}
	p := patientPair(t)
	if err := p.tx(0).grow(); err != nil {
		t.Fatal(err)
	}
	instead(t, &madvise, func([]byte, int) error { return unix.EFAULT })
	for p.n[1].d.Poll(p.n[1], 64) > 0 {
	}
	if err := p.n[1].down[0]; !errors.Is(err, fabric.ErrPeerDown) || !errors.Is(err, unix.ENOSPC) {
		t.Errorf("PeerDown(%v)", err)
	}
}

// Where the kernel does not populate, rings have all their pages from the
// beginning.
func TestRingsOfAnOldKernelAreWhole(t *testing.T) {
	instead(t, &populates, func() bool { return false })
	instead(t, &madvise, func([]byte, int) error { return unix.EINVAL })
	p := patientPair(t)
	for i := range 2 {
		if mem := p.tx(i).mem; backed(t, mem) < len(mem) && qemu == "" { // whose mincore(2) tells of pages that it has touched
			t.Errorf("the ring of rank %d has %d bytes of memory, want %d", i, backed(t, mem), len(mem))
		}
	}
	p.n[1].got = nil
	n := p.fill(0, 100)
	if p.tx(0).first {
		t.Error("the ring has not grown")
	}
	p.until("what was sent", func() bool { return len(p.n[1].got) == n })
}

// A rank that computes is woken for a full ring that is half full, not for one
// that can still grow.
func TestARankThatComputesIsNotWokenForARingThatCanGrow(t *testing.T) {
	p := patientPair(t)
	if err := p.n[1].d.Arm(fabric.WakeUrgent); err != nil {
		t.Fatal(err)
	}
	for p.n[1].d.Poll(p.n[1], 64) > 0 {
	}
	word := func() uint64 { return loadWake(p.ep[0].(*endpoint).wake) }
	for n := 1; word() != 0; n++ {
		if err := p.ep[0].Send(1, 0, nil, nil); err != nil {
			t.Fatal(err)
		}
		if n > 2*ringLines {
			t.Fatal("nobody rang")
		}
	}
	if tx := p.tx(0); tx.first || tx.tail != ringLines/2 {
		t.Errorf("it rang at message %d of the ring, the first ring: %t", tx.tail, tx.first)
	}
}

// A rank has three descriptors for each peer.
func TestAPeerTakesThreeDescriptors(t *testing.T) {
	const peers = 8
	ds := openJob(t, peers+1)
	before := openFiles(t)
	nodes := make([]*node, peers+1)
	for i, d := range ds {
		nodes[i] = newNode(t, d)
	}
	for i := 1; i <= peers; i++ {
		for _, c := range [][2]int{{0, i}, {i, 0}} {
			if _, err := ds[c[0]].Connect(fabric.Peer(c[1]), ds[c[1]].Addr()); err != nil {
				t.Fatal(err)
			}
		}
	}
	isUp := func(n *node, p int) bool { e := n.d.peers[p]; return e != nil && e.up && e.rx != nil }
	waitFor(t, "all connections", func() bool {
		up := true
		for i, n := range nodes {
			n.d.Poll(n, 64)
			up = up && (i == 0 || isUp(n, 0) && isUp(nodes[0], i))
		}
		return up
	})
	// Both ends are here, without the descriptor of a process: two for each.
	waitFor(t, "the descriptors of the greetings to be closed", func() bool { return openFiles(t) <= before+2*2*peers })
}

// The news that a ring grows lies on no message that is still unread.
func TestAFullFirstRingKeepsALineForItsGrowth(t *testing.T) {
	p, c := newRing(leastPayload)
	defer unix.Munmap(p.mem)
	var sent []byte
	for p.put(1, 0, nil, []byte{byte(len(sent))}) {
		sent = append(sent, byte(len(sent)))
	}
	if err := p.grow(); err != nil {
		t.Fatal(err)
	}
	if !p.put(1, 0, nil, []byte("last")) {
		t.Fatal("no room in the full ring")
	}
	var got []byte
	for _, body, ok := c.take(); ok; _, body, ok = c.take() {
		got = append(got, body...)
	}
	if want := string(sent) + "last"; string(got) != want {
		t.Errorf("%d bytes came, want %d: %q", len(got), len(want), got)
	}
}
