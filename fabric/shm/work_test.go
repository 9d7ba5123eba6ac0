package shm

import (
	"bytes"
	"errors"
	"slices"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weft-mpi/weft/fabric"
)

// stream begins count Gets of n bytes by rank to, and answers what they read
// and where to.
func stream(t *testing.T, p *pair, to, count, n int) (src []byte, dst [][]byte) {
	t.Helper()
	src = bytes.Repeat([]byte{byte(7 + to)}, n)
	reg, err := p.n[1-to].d.Register(src, fabric.RemoteRead)
	if err != nil {
		t.Fatal(err)
	}
	needCMA(t, p.n[0])
	for i := range count {
		dst = append(dst, make([]byte, n))
		if err := p.ep[to].Get(fabric.Segment{Bytes: dst[i]}, reg.Remote, fabric.Op(i+1)); err != nil {
			t.Fatal(err)
		}
	}
	return src, dst
}

// ended polls until rank to's Gets have.
func ended(t *testing.T, p *pair, to int, src []byte, dst [][]byte, poll func()) {
	t.Helper()
	for i := 0; len(p.n[to].done) < len(dst); i++ {
		if i == 100_000 {
			t.Fatalf("%d of %d transfers have ended", len(p.n[to].done), len(dst))
		}
		poll()
	}
	for i, b := range dst {
		if err := p.n[to].done[fabric.Op(i+1)]; err != nil || !bytes.Equal(b, src) {
			t.Errorf("transfer %d: %v, bytes right: %t", i, err, bytes.Equal(b, src))
		}
	}
}

func TestEachSideOfAStreamMovesItsHalf(t *testing.T) {
	p := newPair(t)
	const n = 2 * minBlock
	src, dst := stream(t, p, 0, lead+1, n)
	reader, helper := p.n[0], p.n[1]
	for range lead {
		reader.d.Poll(reader, 64)
	}
	for i, b := range dst {
		half, none := i < lead && bytes.Equal(b[:n/2], src[:n/2]), bytes.Equal(b[n/2:], make([]byte, n/2))
		if half != (i < lead) || !none {
			t.Errorf("transfer %d before the helper has begun: the reader's half is there: %t, the helper's is not: %t", i, half, none)
		}
	}
	for range 1 + lead { // the first one takes the requests
		helper.d.Poll(helper, 64)
	}
	for i, b := range dst[:lead] {
		if !bytes.Equal(b, src) {
			t.Errorf("transfer %d is not whole although both sides have moved their halves", i)
		}
	}
	ended(t, p, 0, src, dst, p.poll)
}

func TestAReaderWhosePeerIsBusyMovesEverything(t *testing.T) {
	p := newPair(t)
	src, dst := stream(t, p, 0, 2*coopSlotCount, 3*minBlock+1)
	ended(t, p, 0, src, dst, func() { p.n[0].d.Poll(p.n[0], 64) })
	for _, b := range dst { // they are the reader's again
		clear(b)
	}
	for range 100 {
		p.n[1].d.Poll(p.n[1], 64) // finds nothing left to do
	}
	for i, b := range dst {
		if !bytes.Equal(b, make([]byte, len(b))) {
			t.Errorf("the peer has written to the buffer of transfer %d, which had ended", i)
		}
	}
	if left := len(p.n[1].d.helps); left > 0 {
		t.Errorf("the peer keeps %d transfers that have ended", left)
	}
}

// Either side claims each block that it moves: what the other moves meanwhile is
// another one.
func TestEachBlockIsClaimedOnce(t *testing.T) {
	for _, turns := range []string{"rrhhhrh", "hhhhh", "rhrhrhr", "hrrrrrrr"} {
		p, j, src := asked(t)
		reader, helper := p.n[0], p.n[1]
		helper.d.Poll(helper, 64) // takes the request
		var h *helpJob
		if h = helper.d.helps[0]; h.copied != 0 {
			t.Fatal("the helper has begun")
		}
		claims := slotWord(j.e.tx.mem, j.coop, coopClaims)
		for _, turn := range turns {
			n := reader
			if turn == 'h' {
				n = helper
			}
			if n.d.Poll(n, 64); len(reader.done) > 0 || j.waiting {
				break
			}
			if moved := uint64(j.front) + h.copied; *claims != moved {
				t.Fatalf("%s: %d blocks are claimed of %d that were moved", turns, *claims, moved)
			}
		}
		p.until("the end", func() bool { return len(reader.done) > 0 })
		if err := reader.done[1]; err != nil || !bytes.Equal(j.local, src) {
			t.Errorf("%s: the Get ends with %v", turns, err)
		}
	}
}

// A helper that comes late counts on the counter of its own transfer.
func TestASlotWaitsForItsHelpersAnswer(t *testing.T) {
	p, _ := newRing(leastPayload)
	defer unix.Munmap(p.mem)
	var c coopSlots
	for i := range coopSlotCount {
		if got := c.take(p); got != i {
			t.Fatalf("slot %d is taken, want %d", got, i)
		}
	}
	c.gets = 0 // their Gets have ended
	if got := c.take(p); got != -1 {
		t.Errorf("slot %d is taken, and its helper has not answered", got)
	}
	atomic.StoreUint64(slotWord(p.mem, 3, coopAnswer), coopAnswered)
	if got := c.take(p); got != 3 {
		t.Errorf("slot %d is taken, want 3, whose helper has answered", got)
	}
}

func TestRanksThatReadEachOtherDoWithoutHelp(t *testing.T) {
	p := newPair(t)
	const count, n = 6, 1 << 20
	src0, dst0 := stream(t, p, 0, count, n)
	src1, dst1 := stream(t, p, 1, count, n)
	ended(t, p, 0, src0, dst0, p.poll)
	ended(t, p, 1, src1, dst1, p.poll)
	for to := range 2 {
		if e := p.n[to].d.peers[1-to]; e.coop.pause <= 0 || e.coop.pause > coopPause {
			t.Errorf("rank %d asks again after %d bytes, want at most %d", to, e.coop.pause, coopPause)
		}
		if len(p.n[to].d.helps) > 0 {
			t.Errorf("rank %d still helps", to)
		}
	}
	e := p.n[0].d.peers[1]
	e.coop.pause = 1
	clear(p.n[0].done)
	src0, dst0 = stream(t, p, 0, 3, n)
	jobs := slices.Clone(p.n[0].d.jobs)
	if first, second := jobs[0].shared, jobs[1].shared; first || !second {
		t.Errorf("shared: %t at the end of the pause, %t after it", first, second)
	}
	for range n/soloBlock + n/2/blockSize(n) + 1 { // the first whole, half of the second, some of the third
		p.n[0].d.Poll(p.n[0], 64)
	}
	if second, third := jobs[1], jobs[2]; second.coop < 0 || third.coop >= 0 {
		t.Errorf("help is asked for with the slots %d and %d, want it once", second.coop, third.coop)
	}
	if e.coop.pause <= 0 || e.coop.last != 2*coopPause {
		t.Errorf("after a second request the pause is %d bytes, want %d", e.coop.last, 2*coopPause)
	}
	ended(t, p, 0, src0, dst0, p.poll)
	if e.coop.last != 0 {
		t.Error("the peer has helped and is asked seldom all the same")
	}
}

// reader asks for a Get in the middle of a message.
type reader struct {
	*node
	get  func() error
	soon bool // Complete came before Get returned
	err  error
}

func (r *reader) Deliver(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
	r.node.Deliver(from, kind, imm, hdr, body)
	r.err = r.get()
	_, r.soon = r.done[1]
}

func TestAGetOfAHandlerIsDoneWhenTheHandlerReturns(t *testing.T) {
	for _, c := range []struct {
		name string
		addr func(uint64) uint64
		want error
	}{
		{"right", func(a uint64) uint64 { return a }, nil},
		{"nobody's memory", func(uint64) uint64 { return 4096 }, fabric.ErrUnsupported},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t)
			needCMA(t, p.n[0])
			src, dst := bytes.Repeat([]byte{9}, 16<<10), make([]byte, 16<<10)
			reg, err := p.n[1].d.Register(src, fabric.RemoteRead)
			if err != nil {
				t.Fatal(err)
			}
			from := reg.Remote
			from.Addr = c.addr(from.Addr)
			r := &reader{node: p.n[0], get: func() error { return p.ep[0].Get(fabric.Segment{Bytes: dst}, from, 1) }}
			p.send(1, "read me")
			for len(r.done) == 0 && r.err == nil {
				if n := r.d.Poll(r, 1); len(r.got) > 0 && len(r.done) == 0 && r.err == nil {
					t.Fatalf("Poll answers %d with the Get still to be done", n)
				}
			}
			if r.soon {
				t.Error("Complete was called from within Get")
			}
			if err := r.done[1]; !errors.Is(err, c.want) || c.want == nil && !bytes.Equal(dst, src) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}
