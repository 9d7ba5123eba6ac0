package shm

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/weft-mpi/weft/fabric"
)

// Cooperative Get. The reader asks the owner of the memory for help, by a
// message in the ring, and starts to read from the front. Both claim blocks on
// one shared counter, in the slot of the ring segment that the request names.
// The helper copies its blocks from the back and publishes after each how many
// there are. A side that finds the counter used up, or can't go on, stops. The
// reader then waits for the blocks it has not copied, and copies those left by a
// helper that has stopped. work.go has the order in which each side takes
// blocks.
//
// A rank with transfers of its own declines: two ranks that help each other only
// carry buffers from one cache to the other.
//
// A slot is used again only after the helper has answered, so a late helper
// counts on the right counter. In this file, to answer means to store
// coopAnswer.

// Words of a slot.
const (
	coopClaims = 0 // blocks claimed by either side
	coopAnswer = 8 // the helper's: blocks copied, and whether it has stopped
	coopStride = lineSize
)

const (
	coopAnswered = 1 << 63
	coopCopied   = 1<<32 - 1
)

// Kinds of messages between transports.
const (
	internalHelp = iota + 1
	internalGrown
)

// coopSlots are the slots of the reader's ring.
type coopSlots struct {
	busy  uint32 // bit i: slot i awaits its helper's answer
	gets  uint32 // bit i: slot i still serves a Get
	pause int    // bytes still to come for which no help is requested
	last  int    // the last pause, 0 once the peer has helped
}

// paused counts a transfer of n bytes if it is to go without help.
func (c *coopSlots) paused(n int) bool {
	if c.pause <= 0 {
		return false
	}
	c.pause -= n
	return true
}

// declined begins a pause, at the first of several requests.
func (c *coopSlots) declined() {
	if c.pause <= 0 {
		c.last = max(c.last, coopPause)
		c.pause = c.last
	}
}

// asked makes the request after a pause the only one, and the next pause twice
// as long, until the peer helps.
func (c *coopSlots) asked() {
	c.last = min(2*c.last, mostCoopPause)
	c.pause = c.last
}

func (c *coopSlots) helped() { c.pause, c.last = 0, 0 }

func slotWord(mem []byte, slot, word int) *uint64 {
	return word64(mem, offCoop+slot*coopStride+word)
}

// take returns a free slot, or -1.
func (c *coopSlots) take(tx *producer) int {
	for i := range coopSlotCount {
		bit := uint32(1) << i
		if c.gets&bit != 0 || c.busy&bit != 0 && atomic.LoadUint64(slotWord(tx.mem, i, coopAnswer))&coopAnswered == 0 {
			continue
		}
		atomic.StoreUint64(slotWord(tx.mem, i, coopClaims), 0)
		atomic.StoreUint64(slotWord(tx.mem, i, coopAnswer), 0)
		c.busy |= bit
		c.gets |= bit
		return i
	}
	return -1
}

// claim takes one block for the caller.
func (c *coopSlots) claim(tx *producer, slot, blocks int) bool {
	return atomic.AddUint64(slotWord(tx.mem, slot, coopClaims), 1) <= uint64(blocks)
}

// askHelp gives the job a slot and sends the request, if there is a slot and
// room.
func (e *endpoint) askHelp(j *getJob) {
	slot := e.coop.take(&e.tx)
	if slot < 0 {
		return
	}
	b := e.d.out[:32]
	le := binary.LittleEndian
	dst, flags := addressOf(j.local), uint32(0)
	if j.remote.Key == keyArena {
		dst, _ = e.d.arena.offset(j.local)
		flags = helpArena
	}
	le.PutUint64(b[0:], dst)
	le.PutUint64(b[8:], j.remote.Addr)
	le.PutUint64(b[16:], uint64(len(j.local)))
	le.PutUint32(b[24:], uint32(slot)|flags)
	le.PutUint32(b[28:], uint32(j.block))
	if e.sendInternal(internalHelp, b) {
		j.coop = slot
		e.coop.asked()
		return
	}
	e.coop.busy &^= 1 << slot
	e.coop.gets &^= 1 << slot
}

// awaitHelp completes a job whose blocks are all claimed once the helper's are
// there. A block that the helper failed to copy is copied here.
func (j *getJob) awaitHelp() (over bool, err error) {
	if j.err != nil {
		if !j.settled() {
			return false, nil // the helper still writes to the buffer
		}
		j.e.coop.gets &^= 1 << j.coop
		return true, j.err
	}
	theirs := j.blocks - j.front
	if theirs > 0 {
		// Pairs with the helper's store: its blocks were written before.
		answer := atomic.LoadUint64(slotWord(j.e.tx.mem, j.coop, coopAnswer))
		copied := int(answer & coopCopied)
		if copied < theirs && answer&coopAnswered == 0 {
			return false, nil
		}
		if copied > 0 {
			j.e.coop.helped()
		}
		for missing := theirs - copied; missing > 0 && err == nil; missing-- {
			off := j.front * j.block
			err = j.e.move(j, off, min(j.block, len(j.local)-off))
			j.front++
		}
	}
	j.e.coop.gets &^= 1 << j.coop
	return true, err
}

// takeBack stops the helper of an unfinished transfer, if there is one: the
// helper claims no further block. It may be in the middle of one that it has
// claimed.
func (j *getJob) takeBack() {
	if j.coop < 0 || j.taken {
		return
	}
	const everything = 1 << 40
	claims := atomic.AddUint64(slotWord(j.e.tx.mem, j.coop, coopClaims), everything) - everything
	j.taken, j.owed = true, min(claims, uint64(j.blocks))-min(claims, uint64(j.front))
}

// settled reports whether the buffer of a transfer after takeBack has no writer
// any more. Its load pairs with the helper's store: the blocks were written
// before. A helper in the middle of a block rings once it has moved it.
func (j *getJob) settled() bool {
	if j.coop < 0 {
		return true
	}
	answer := atomic.LoadUint64(slotWord(j.e.tx.mem, j.coop, coopAnswer))
	return answer&coopAnswered != 0 || answer&coopCopied >= j.owed
}

// helpArena in the slot number of a request for help says that both addresses
// are offsets in the arenas of their processes.
const helpArena = 1 << 31

// helpJob is a peer's Get that this rank helps with. Both addresses come from
// the peer: the kernel, or the bounds of the arenas, check them at each copy.
type helpJob struct {
	e        *endpoint
	mem      []byte // the segment with the slot
	slot     int
	arena    bool
	dst, src uint64
	n, block uint64
	blocks   uint64
	copied   uint64
}

// startHelp takes a peer's request for help.
func (d *Domain) startHelp(r *inbound, hdr []byte) {
	if len(hdr) != 32 {
		return
	}
	le := binary.LittleEndian
	j := &helpJob{e: r.peer, mem: r.mem, dst: le.Uint64(hdr[0:]), src: le.Uint64(hdr[8:]), n: le.Uint64(hdr[16:])}
	slot := le.Uint32(hdr[24:])
	j.arena, j.slot, j.block = slot&helpArena != 0, int(slot&^helpArena), uint64(le.Uint32(hdr[28:]))
	if j.slot >= coopSlotCount || j.block < minBlock || j.block > maxBlock || r.peer.info == nil {
		return
	}
	if len(d.jobs) > 0 {
		j.answer(coopAnswered)
		r.peer.coop.declined()
		return
	}
	for _, other := range d.helps {
		if other.e == j.e && other.slot == j.slot {
			return // a slot in use: the peer breaks the protocol
		}
	}
	j.blocks = (j.n + j.block - 1) / j.block
	d.helps = append(d.helps, j)
}

// help copies one block and reports whether that was all.
func (d *Domain) help(j *helpJob) (over bool) {
	if atomic.AddUint64(slotWord(j.mem, j.slot, coopClaims), 1) > j.blocks || j.copied >= j.blocks {
		j.answer(coopAnswered)
		return true
	}
	off := (j.blocks - 1 - j.copied) * j.block
	if j.copy(d.arena, off, min(j.block, j.n-off)) != nil {
		j.answer(coopAnswered)
		return true
	}
	j.copied++
	j.answer(0)
	return false
}

// answer publishes how many blocks have been copied, and whether more will be.
// It pairs with the load in awaitHelp, and with Arm as any message does.
func (j *helpJob) answer(over uint64) {
	atomic.StoreUint64(slotWord(j.mem, j.slot, coopAnswer), over|j.copied)
	if loadWake(j.e.wake) != 0 {
		j.e.ring(fabric.Urgent)
	}
}

// copy moves n bytes at off of the peer's Get.
func (j *helpJob) copy(own *Arena, off, n uint64) error {
	if !j.arena {
		return writePeer(j.e.info.thread, j.src+off, j.dst+off, int(n))
	}
	own.use.RLock()
	defer own.use.RUnlock()
	src, err := own.at(j.src+off, n)
	if err != nil {
		return err
	}
	dst, err := j.e.info.arena.at(j.dst+off, n)
	if err == nil {
		copy(dst, src)
	}
	return err
}

// sendInternal sends a message to the peer's transport; hdr is at most 48 bytes.
// It returns false when the ring is full.
func (e *endpoint) sendInternal(kind uint8, hdr []byte) bool {
	for !e.tx.write(control(e.tx.tail, kind, len(hdr), 0)|ctlInternal, 0, hdr, nil) {
		if !e.enlarge() {
			return false
		}
	}
	if loadWake(e.wake) != 0 {
		e.ring(0)
	}
	return true
}

// internal takes a message of a peer's transport. One of an unknown kind breaks
// the protocol and ends the peer.
func (d *Domain) internal(r *inbound, kind uint8, hdr []byte) {
	switch kind {
	case internalHelp:
		d.startHelp(r, hdr)
	case internalGrown:
		d.grown(r)
	default:
		d.corrupt(r, uint64(kind)<<ctlKindShift|ctlInternal)
	}
}
