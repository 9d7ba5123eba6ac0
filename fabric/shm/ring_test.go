package shm

import (
	"bytes"
	"encoding/binary"
	"errors"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/weft-mpi/weft/fabric"
)

// Bodies lie inside the area, and never on one that may still be unread.
func TestBodiesNeverOverlapNorLeaveTheArea(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type body struct{ off, end, pos, next uint64 }
		m := ringMem{area: rapid.SampledFrom([]uint64{firstPayload, leastPayload, mostPayload}).Draw(t, "area")}
		var live []body // what a consumer that has read nothing still needs
		pos := rapid.Uint64Range(0, 1<<40).Draw(t, "start") &^ (lineSize - 1)
		freed := pos
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(live) > 0 && rapid.Bool().Draw(t, "consume") {
				freed = live[0].next
				live = live[1:]
				continue
			}
			n := rapid.OneOf(rapid.IntRange(0, maxEager), rapid.SampledFrom([]int{0, 1, 63, 64, 65, maxEager - 1, maxEager})).Draw(t, "n")
			off, next := m.place(pos, n)
			if next-freed > m.area && pos != freed {
				continue // the producer finds no room
			}
			if off%lineSize != 0 || off+uint64(n) > m.area {
				t.Fatalf("%d bytes at %d leave the area or the lines", n, off)
			}
			if next < pos+uint64(n) || next%lineSize != 0 || next-pos >= 2*maxEager {
				t.Fatalf("after %d bytes at position %d comes %d", n, pos, next)
			}
			for _, b := range live {
				if b.off < b.end && off < b.end && b.off < off+uint64(n) {
					t.Fatalf("%d bytes at %d overlap those at %d to %d", n, off, b.off, b.end)
				}
			}
			live = append(live, body{off, off + uint64(n), pos, next})
			pos = next
		}
	})
}

// A body of any length that comes near the end of the area is put whole before it
// or at the beginning.
func TestABodyIsNotSplit(t *testing.T) {
	for _, area := range []uint64{firstPayload, leastPayload, mostPayload} {
		m := ringMem{area: area}
		for lines := uint64(0); lines <= maxEager/lineSize+1; lines++ {
			pos := 3*area - lines*lineSize
			for n := 0; n <= maxEager; n++ {
				off, next := m.place(pos, n)
				if off+uint64(n) > area || next < pos+uint64(n) {
					t.Fatalf("%d bytes %d lines before the end of %d are put at %d", n, lines, area, off)
				}
			}
		}
	}
}

// Rings shrink as a job grows, until they are as small as they may be.
func TestRingsOfLargeJobsAreSmaller(t *testing.T) {
	for _, c := range []struct{ ranks, want int }{{1, mostPayload}, {2, mostPayload}, {32, mostPayload}, {33, mostPayload / 2},
		{64, mostPayload / 2}, {100, mostPayload / 4}, {129, leastPayload}, {100_000, leastPayload}} {
		if got := payloadFor(c.ranks); got != c.want {
			t.Errorf("with %d ranks a ring has %d bytes, want %d", c.ranks, got, c.want)
		}
	}
}

func TestAControlWordKeepsItsParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pos := rapid.Uint64().Draw(t, "pos")
		kind := rapid.Byte().Draw(t, "kind")
		hdr := rapid.IntRange(0, fabric.MaxHeader).Draw(t, "hdr")
		body := rapid.IntRange(0, maxEager).Draw(t, "body")
		for _, flags := range []uint64{0, ctlPayload, ctlInternal, ctlPayload | ctlInternal} {
			c := control(pos, kind, hdr, body) | flags
			if uint32(c) != uint32(pos)+1 || uint8(c>>ctlKindShift) != kind || int(c>>ctlHdrShift&ctlHdrMask) != hdr ||
				int(c>>ctlBodyShift&ctlBodyMask) != body || c&(ctlPayload|ctlInternal) != flags {
				t.Fatalf("control word %#x of %d, %d, %d, %d", c, pos, kind, hdr, body)
			}
		}
	})
}

// newRing makes both ends of a ring in one piece of memory.
func newRing(payload int) (*producer, *consumer) {
	mem, err := unix.Mmap(-1, 0, offPayload+payload, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		panic(err)
	}
	return &producer{ringMem: firstRing(mem)}, &consumer{ringMem: firstRing(mem)}
}

// take is what poll does with a line, without a handler. It follows a ring that
// has grown.
func (c *consumer) take() (hdr, body []byte, ok bool) {
	line := c.line(c.head)
	ctl := line.control()
	if uint32(ctl) != uint32(c.head+1) {
		return nil, nil, false
	}
	if ctl&ctlInternal != 0 {
		if err := c.grow(); err != nil {
			panic(err)
		}
		return c.take()
	}
	hl, bl := int(ctl>>ctlHdrShift&ctlHdrMask), int(ctl>>ctlBodyShift&ctlBodyMask)
	var b []byte
	if ctl&ctlPayload == 0 {
		b = line.data(hl, bl)
	} else {
		var off uint64
		off, c.payHead = c.place(c.payHead, bl)
		b = c.payload(off, bl)
	}
	hdr, body = bytes.Clone(line.data(0, hl)), bytes.Clone(b)
	c.head++
	c.tell()
	return hdr, body, true
}

// A ring against a queue: what goes in comes out, in order, over many laps and
// past the wrap of the 32-bit position, whatever the sizes, and wherever it grows.
func TestARingIsAQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, c := newRing(rapid.SampledFrom([]int{leastPayload, mostPayload}).Draw(t, "payload"))
		defer unix.Munmap(p.mem)
		if rapid.Bool().Draw(t, "full from the beginning") {
			p.ringMem, c.ringMem = fullRing(p.mem), fullRing(p.mem)
		}
		if rapid.Bool().Draw(t, "near the wrap") {
			start := uint64(1<<32 - 300)
			p.tail, p.seen, c.head, c.told = start, start, start, start
			p.setConsumed(start, 0)
		}
		growing := rapid.SampledFrom([]string{"at once", "at random", "when full", "never"}).Draw(t, "growing")
		var model []string
		for range rapid.IntRange(1, 2000).Draw(t, "steps") {
			if p.first && (growing == "at once" || growing == "at random" && rapid.IntRange(0, 200).Draw(t, "grow") == 0) {
				if err := p.grow(); err != nil {
					t.Fatal(err)
				}
			}
			if rapid.IntRange(0, 2).Draw(t, "take") == 0 {
				hdr, body, ok := c.take()
				switch {
				case !ok && len(model) > 0:
					t.Fatalf("the ring is empty, %d messages are due", len(model))
				case ok && len(model) == 0:
					t.Fatal("a message came from nowhere")
				case ok:
					if got := string(hdr) + "|" + string(body); got != model[0] {
						t.Fatalf("%d bytes came, want %d others", len(got), len(model[0]))
					}
					model = model[1:]
				}
				continue
			}
			n := rapid.SampledFrom([]int{0, 1, 40, 48, 49, 64, 65, 1000, 4096, 8191, 8192}).Draw(t, "n")
			h := rapid.SampledFrom([]int{0, 8, 32, 48}).Draw(t, "h")
			hdr, body := bytes.Repeat([]byte{byte(len(model))}, h), bytes.Repeat([]byte{byte(n), byte(len(model) + 1)}, n)[:n]
			taken := p.put(1, 0, hdr, body)
			if !taken && p.first && growing != "never" {
				if err := p.grow(); err != nil {
					t.Fatal(err)
				}
				if taken = p.put(1, 0, hdr, body); !taken {
					t.Fatal("a ring that has just grown has no room")
				}
			}
			if taken {
				model = append(model, string(hdr)+"|"+string(body))
			} else if len(model) < int(p.area)/8192/2 || len(model) == 0 {
				t.Fatalf("no room behind %d messages", len(model))
			}
			if p.scribbled() {
				t.Fatal("the consumer is taken for one that scribbles")
			}
		}
	})
}

// The same for a ring that is filled to the last line whenever there is room: a line
// is used again only once its message was taken.
func TestARingIsAQueueWhenFull(t *testing.T) {
	for name, whole := range map[string]bool{"first": false, "full": true} {
		t.Run(name, func(t *testing.T) {
			p, c := newRing(mostPayload)
			defer unix.Munmap(p.mem)
			if whole {
				p.ringMem, c.ringMem = fullRing(p.mem), fullRing(p.mem)
			}
			put := 0
			for taken := range 5000 {
				for p.put(1, 0, binary.LittleEndian.AppendUint64(nil, uint64(put)), nil) {
					put++
				}
				if hdr, _, ok := c.take(); !ok || binary.LittleEndian.Uint64(hdr) != uint64(taken) {
					t.Fatalf("message %d of %d: %x, %t", taken, put, hdr, ok)
				}
			}
		})
	}
}

func TestAnImpossibleControlWordEndsThePeer(t *testing.T) {
	for _, c := range []struct {
		name string
		ctl  func(pos uint64) uint64
	}{
		{"inline too long", func(pos uint64) uint64 { return control(pos, 1, 0, maxInline+1) }},
		{"inline header and body too long", func(pos uint64) uint64 { return control(pos, 1, 40, 9) }},
		{"inline header too long", func(pos uint64) uint64 { return control(pos, 1, 63, 0) }},
		{"header too long", func(pos uint64) uint64 { return control(pos, 1, 49, 100) | ctlPayload }},
		{"body too long", func(pos uint64) uint64 { return control(pos, 1, 0, maxEager+1) | ctlPayload }},
		{"body far too long", func(pos uint64) uint64 { return control(pos, 1, 0, 1<<16-1) | ctlPayload }},
		{"a second growth", func(pos uint64) uint64 { return control(pos, internalGrown, 0, 0) | ctlInternal }},
		{"an unknown internal message", func(pos uint64) uint64 { return control(pos, 200, 0, 0) | ctlInternal }},
		{"everything set", func(pos uint64) uint64 { return uint64(0xffffffff_00000000) | uint64(uint32(pos+1)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := patientPair(t)
			tx := &p.ep[0].(*endpoint).tx
			if err := tx.grow(); err != nil {
				t.Fatal(err)
			}
			p.exchange("grown")
			pos := tx.tail
			tx.line(pos).publish(c.ctl(pos), true)
			for p.n[1].d.Poll(p.n[1], 64) > 0 { // 0 is to say that all has been told
			}
			if err := p.n[1].down[0]; !errors.Is(err, fabric.ErrPeerDown) {
				t.Errorf("PeerDown(%v)", err)
			}
			if err := p.ep[1].Send(1, 0, nil, nil); !errors.Is(err, fabric.ErrPeerDown) {
				t.Errorf("Send = %v", err)
			}
			if err := p.ep[1].Get(fabric.Segment{Bytes: make([]byte, 8)}, fabric.Remote{Len: 8}, 9); !errors.Is(err, fabric.ErrPeerDown) {
				t.Errorf("Get = %v", err)
			}
			// Nothing that it says afterwards is heard: Deliver checks.
			p.n[1].got = nil
			for i := range uint64(3) {
				tx.line(pos+i).publish(control(pos+i, 1, 0, 1), true)
			}
			for range 10 {
				p.poll()
			}
		})
	}
}

func TestAConsumerThatClaimsTooMuchIsEnded(t *testing.T) {
	for name, scribble := range map[string]func(tx *producer){
		"lines it can't have received":  func(tx *producer) { tx.setConsumed(tx.tail+1000, 0) },
		"payload it can't have seen":    func(tx *producer) { tx.setConsumed(0, tx.payTail+1<<30) },
		"less lines than before":        func(tx *producer) { tx.setConsumed(1<<64-1000, 0) },
		"less payload than before":      func(tx *producer) { tx.setConsumed(0, 1<<64-1<<20) },
		"the whole space and then some": func(tx *producer) { tx.setConsumed(1<<63, 1<<63) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t)
			e := p.ep[0].(*endpoint)
			var err error
			for i := 0; i < 4*ringLines && err == nil; i++ {
				scribble(&e.tx)
				err = p.ep[0].Send(1, 0, nil, make([]byte, 4096*(i%2)))
			}
			if !errors.Is(err, fabric.ErrPeerDown) {
				t.Fatalf("Send = %v, want ErrPeerDown", err)
			}
			p.n[1].got = nil
			for end := 0; p.n[0].down[1] == nil && end < 1000; end++ {
				p.n[0].d.Poll(p.n[0], 64)
			}
			if err := p.n[0].down[1]; !errors.Is(err, fabric.ErrPeerDown) {
				t.Errorf("PeerDown(%v)", err)
			}
			// What it sends now is not heard.
			p.ep[1].Send(1, 0, nil, []byte("late"))
			for range 10 {
				p.n[0].d.Poll(p.n[0], 64)
			}
		})
	}
}

// The other end of a cooperative copy may write anything into the words they
// share: the copy ends, well or with an error, and stays inside its buffer.
func TestACooperativeCopyWithstandsScribbling(t *testing.T) {
	for _, c := range []struct {
		name     string
		scribble func(claims, answer *uint64)
		right    bool // the copy must succeed with the right bytes
	}{
		{"blocks given back", func(claims, answer *uint64) { *claims = 0 }, true},
		{"all blocks claimed and never copied, answered with none", func(claims, answer *uint64) {
			*claims, *answer = 1<<40, coopAnswered
		}, true},
		{"more copied than there are blocks", func(claims, answer *uint64) { *claims, *answer = 1<<40, coopAnswered|coopCopied }, false},
		{"noise", func(claims, answer *uint64) { *claims, *answer = *claims*77+13, *answer*31+1<<63 }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPair(t)
			needCMA(t, p.n[0])
			const n = 1<<20 + 5
			src := bytes.Repeat([]byte("0123456789abcde"), n/15+1)[:n]
			memory := bytes.Repeat([]byte{0xee}, n+4096)
			reg, err := p.n[1].d.Register(src, fabric.RemoteRead)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.ep[0].Get(fabric.Segment{Bytes: memory[:n:n]}, reg.Remote, 5); err != nil {
				t.Fatal(err)
			}
			tx := &p.ep[0].(*endpoint).tx
			over := func() bool { _, ok := p.n[0].done[5]; return ok }
			for i := 0; i < 10000 && !over(); i++ {
				for slot := range coopSlotCount {
					c.scribble(slotWord(tx.mem, slot, coopClaims), slotWord(tx.mem, slot, coopAnswer))
				}
				p.n[0].d.Poll(p.n[0], 64)
			}
			if !over() {
				t.Fatal("the copy did not end")
			}
			if err := p.n[0].done[5]; c.right && (err != nil || !bytes.Equal(memory[:n], src)) {
				t.Errorf("the copy is wrong: %v", err)
			}
			if !bytes.Equal(memory[n:], bytes.Repeat([]byte{0xee}, 4096)) {
				t.Error("bytes behind the buffer were touched")
			}
		})
	}
}

// A peer asks for help with nonsense: the kernel refuses the addresses, and
// slots out of range are not believed.
func TestNonsenseRequestsForHelpDoNoHarm(t *testing.T) {
	p := newPair(t)
	e := p.ep[0].(*endpoint)
	for i, words := range [][4]uint64{
		{0, 0, 1 << 20, 0}, {1, 1, 1<<64 - 1, 3}, {1 << 63, 1 << 63, 1 << 40, 15}, {0, 0, 0, 0}, {8, 8, 8, 16}, {8, 8, 8, 1<<64 - 1},
	} {
		var b [32]byte
		for k, v := range words {
			for s := range 8 {
				b[8*k+s] = byte(v >> (8 * s))
			}
		}
		p.until("room", func() bool { return e.sendInternal(internalHelp, b[:]) })
		for range 5 {
			p.poll()
		}
		if len(p.n[1].d.helps) > 1 {
			t.Errorf("request %d: %d helps go on", i, len(p.n[1].d.helps))
		}
	}
	for _, n := range []int{0, 31, 33, 48} {
		p.until("room", func() bool { return e.sendInternal(internalHelp, make([]byte, n)) })
	}
	p.exchange("alive")
}

// A Get that fails here goes on until the helper has let go of the buffer, and
// gives its slot back.
func TestAFailedCooperativeCopyWaitsForItsHelper(t *testing.T) {
	p := newPair(t)
	needCMA(t, p.n[0])
	e := p.ep[0].(*endpoint)
	nowhere := fabric.Remote{Addr: 4096, Len: 1 << 20} // never mapped
	for op := fabric.Op(1); op <= 2*coopSlotCount; op++ {
		if err := p.ep[0].Get(fabric.Segment{Bytes: make([]byte, 1<<20)}, nowhere, op); err != nil {
			t.Fatal(err)
		}
		j := p.n[0].d.jobs[0]
		j.start()
		slot := j.coop
		if slot >= 0 { // of the later ones none: the slots wait for their helper
			atomic.AddUint64(slotWord(e.tx.mem, slot, coopClaims), 1) // the helper's
		}
		for range 50 {
			p.n[0].d.Poll(p.n[0], 64)
		}
		if _, over := p.n[0].done[op]; over != (slot < 0) {
			t.Fatalf("the Get has ended: %t, with a helper in the middle of a block: %t", over, slot >= 0)
		}
		if slot >= 0 {
			atomic.AddUint64(slotWord(e.tx.mem, slot, coopAnswer), 1) // the block is moved
			p.n[0].d.Poll(p.n[0], 64)
		}
		if err, over := p.n[0].done[op]; !over || !errors.Is(err, fabric.ErrUnsupported) {
			t.Fatalf("the Get has ended: %t, %v, want ErrUnsupported", over, err)
		}
	}
	if e.coop.gets != 0 {
		t.Errorf("slots %#x are still taken", e.coop.gets)
	}
	p.exchange("alive")
}
