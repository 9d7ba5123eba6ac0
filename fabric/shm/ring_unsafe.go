package shm

import (
	"sync/atomic"
	"unsafe"

	"github.com/weft-mpi/weft/internal/membar"
	"github.com/weft-mpi/weft/internal/prefetch"
)

// ringMem is the mapped memory of a ring segment, and which of its rings is in
// use.
type ringMem struct {
	lines unsafe.Pointer
	mask  uint64 // lines less one, of a power of two
	limit uint64 // lines that may be unread
	pay   unsafe.Pointer
	area  uint64         // bytes at pay, a power of two
	told  unsafe.Pointer // what is consumed
	first bool
	mem   []byte // the segment

	quarter uint64 // bytes of payload to consume before that is told
}

// firstRing is the ring that a segment begins with. Its last free line is
// reserved for the message that it grows.
func firstRing(mem []byte) ringMem {
	base := unsafe.Pointer(unsafe.SliceData(mem))
	return ringMem{
		lines: unsafe.Add(base, offFirstLines), mask: firstLines - 1, limit: firstLines - 1,
		pay: unsafe.Add(base, offFirstPayload), area: firstPayload,
		told: unsafe.Add(base, offConsumed), first: true, mem: mem, quarter: 1,
	}
}

// fullRing is the ring that a segment grows to.
func fullRing(mem []byte) ringMem {
	base := unsafe.Pointer(unsafe.SliceData(mem))
	area := uint64(len(mem) - offPayload)
	return ringMem{
		lines: unsafe.Add(base, offLines), mask: ringLines - 1, limit: ringLines,
		pay: unsafe.Add(base, offPayload), area: area,
		told: unsafe.Add(base, offFullConsumed), mem: mem, quarter: area / 4,
	}
}

// noLines is the lines of a ring without a producer.
var noLines [ringLines * lineSize / 8]uint64

// sever makes the ring empty for good, whatever its producer still writes. The
// mapping stays: a handler may be reading a body in it.
func (c *consumer) sever() {
	c.lines, c.head = unsafe.Pointer(&noLines), 0
	c.told, c.payTold = c.head, c.payHead
}

// line is one descriptor line.
type line struct{ p unsafe.Pointer }

func (m *ringMem) line(pos uint64) line {
	return line{unsafe.Add(m.lines, (pos&m.mask)*lineSize)}
}

// control is the load that sees publish.
func (l line) control() uint64 { return atomic.LoadUint64((*uint64)(l.p)) }

func (l line) publish(ctl uint64, fenced bool) {
	if fenced {
		atomic.StoreUint64((*uint64)(l.p), ctl)
		return
	}
	membar.StoreRelease((*uint64)(l.p), ctl)
}

func (l line) imm() uint64     { return *(*uint64)(unsafe.Add(l.p, 8)) }
func (l line) setImm(v uint64) { *(*uint64)(unsafe.Add(l.p, 8)) = v }

// data is n bytes of the line's data area from off on; off+n is at most
// maxInline.
func (l line) data(off, n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(l.p, 16+off)), n)
}

// payload is n bytes of the payload area; place keeps them inside.
func (m *ringMem) payload(off uint64, n int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(m.pay, off)), n)
}

// putString copies a long body into the payload area.
func (p *producer) putString(off uint64, body []byte) {
	copyString(unsafe.Add(p.pay, off), unsafe.Pointer(unsafe.SliceData(body)), uintptr(len(body)))
}

// claimLines makes the line eight lines ahead writable.
func (p *producer) claimLines() {
	prefetch.Write(unsafe.Add(p.lines, (p.tail+ahead)&p.mask*lineSize), lineSize)
}

// claimNext makes the next line writable a moment before it is used. The
// consumer that waits for it has it in its cache, and fetching it from there
// takes as long as the message takes to get there.
func (p *producer) claimNext() { prefetch.Write(p.line(p.tail).p, lineSize) }

// claimTwo claims the line in which a receiver publishes its counts, and the
// next one for a reply.
func (p *producer) claimTwo() {
	p.claimNext()
	prefetch.Write(p.line(p.tail+1).p, lineSize)
}

// expect prefetches the line eight lines ahead. It is called where several
// messages have come at once: the lines behind them are written already.
// Prefetching one that is not would take it from the producer.
func (c *consumer) expect() { prefetch.Read(c.line(c.head + ahead).p) }

// expectNext prefetches the next line. It is called for a header without a body,
// such as FIN: its sender often goes on with a message, whose line then arrives
// while this one is handled.
func (c *consumer) expectNext() { prefetch.Read(c.line(c.head).p) }

// expectBurst prefetches the lines before that one, at the second message of a
// burst.
func (c *consumer) expectBurst() {
	for k := uint64(1); k < ahead; k++ {
		prefetch.Read(c.line(c.head + k).p)
	}
}

// demotePayload pushes a short body towards the cache that both cores share. The
// consumer can begin to fetch it only after it has seen the line, and gets it
// sooner from there. In a stream the consumer prefetches, and pushing costs more
// than it gains: so only the body of a reply is pushed.
func (p *producer) demotePayload(off uint64, n int) { demote(unsafe.Add(p.pay, off), uintptr(n)) }

// claimPayload makes as much payload writable as the last message had.
func (p *producer) claimPayload(n int) {
	off, next := p.place(p.payTail, n)
	if next-p.paySeen > p.area {
		return
	}
	prefetch.Write(unsafe.Add(p.pay, off), uintptr(n))
}

// consumed pairs with setConsumed: the producer that sees a position may
// overwrite what lies before it.
func (m *ringMem) consumed() (lines, payload uint64) {
	payload = atomic.LoadUint64((*uint64)(unsafe.Add(m.told, 8)))
	lines = atomic.LoadUint64((*uint64)(m.told))
	return lines, payload
}

func (m *ringMem) setConsumed(lines, payload uint64) {
	membar.StoreRelease((*uint64)(unsafe.Add(m.told, 8)), payload)
	membar.StoreRelease((*uint64)(m.told), lines)
}

// word is an aligned 32-bit word of a mapping.
func word(mem []byte, off int) *uint32 {
	return (*uint32)(unsafe.Pointer(&mem[off : off+4][0]))
}

// word64 is an aligned 64-bit word of a mapping.
func word64(mem []byte, off int) *uint64 {
	return (*uint64)(unsafe.Pointer(&mem[off : off+8][0]))
}
