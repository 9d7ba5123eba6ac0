package verbs

import (
	"encoding/binary"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
	"github.com/weft-mpi/weft/fabric/verbs/internal/pin"
)

// endpoint is the way to one peer. It is the owner's.
type endpoint struct {
	fabric.Unoffered // loads and stores do not reach other machines

	d         *Domain
	peer      fabric.Peer
	connected bool       // Connect has been called
	sign      pin.Signer // of the peer's keys
	trusted   uint64     // the last key that it found good

	// The queue pairs beside the first, see rail.
	rails      []*rail
	stranded   []stripe // of rails that are lost
	inFailover bool     // it is on the domain's list
	reserved   int      // places in the ring for parts that wait for keys
	keysAddr   uint64   // of the peer's table of keys
	keysKey    uint32

	up       bool
	qp       ibv.QP // id 0 while there is none
	cut      bool   // the engine has ended it: nothing of its is handed over
	down     error  // why it is
	draining error  // why it will be, once its messages are taken
	failing  error  // why it will be, once its operations have ended
	failPoll uint64
	failBy   time.Time
	marked   bool // something is posted behind all that may be flushed

	// What is outstanding: entries head to tail of the ring.
	head, tail uint32
	ring       []entry
	unsignaled int   // at the ring's end
	held       int   // slots among these
	lost       error // of a piece of an operation that goes on

	// Flushes, see flush.go.
	number   uint64   // of transfers in stripes so far
	moving   int      // of these
	flushes  []uint32 // that wait for some of these
	unsaid   error    // first failure of a NoOp that no Flush has told of
	unsaidOf uint64   // its number

	// Operations that the peer's device has refused, see refused.go.
	refused  []refusedOp
	answers  int       // that came for these
	answerBy time.Time // when the next is due
	ended    bool      // the peer has ended the connection, and lived then
	gone     bool      // its socket is

	// Credit: of window messages the peer has taken acked.
	sent, acked, window uint64
	scarce              uint64 // of the window
	word                uint32 // the low half of acked, as the peer last wrote it
	creditAddr          uint64 // where the peer wants to be told
	creditKey           uint32
	taken, granted      uint64 // of the peer's messages
	owed                bool

	burst     int // work requests since Poll number burstPoll, outside Polls
	burstPoll uint64
}

// entry is a work request that is outstanding.
type entry struct {
	op     fabric.Op
	result *uint64 // of an Atomic
	slot   int32   // that it holds, or -1
	form   form
}

// noEntry is that of a plain work request which holds nothing: nothing is to be
// done at its end. It stands where there is none, too.
var noEntry = entry{slot: -1}

func (w *entry) bare() bool { return w.form == formPlain && w.slot < 0 }

type form uint8

// formOf is that of a work request with which op ends.
func formOf(op fabric.Op) form {
	if op == fabric.NoOp {
		return formQuiet
	}
	return formOp
}

const (
	formPlain  form = iota // nobody is told
	formOp                 // op completes with it
	formQuiet              // the same of a NoOp: it takes no completion of its own
	formPiece              // of the operation that ends with the next formOp
	formStripe             // of the transfer that op numbers
	formKeys               // for the transfer that op numbers
)

// Send copies a message into a slot, which may hold others that wait to go, or
// into the work request itself where the device takes it inline.
func (e *endpoint) Send(kind uint8, imm uint64, hdr, body []byte) error {
	if len(hdr) > fabric.MaxHeader || len(body) > maxEager {
		return fabric.ErrTooLong
	}
	if !e.up {
		return e.notUp()
	}
	if e.d.coalescing.sends != 0 && e.coalesce(kind, imm, hdr, body) {
		return nil
	}
	if !e.credit() || !e.room(1) {
		return fabric.ErrAgain
	}
	d := e.d
	slot, ok := d.takeSlot()
	if !ok {
		return fabric.ErrAgain
	}
	m := d.slot(slot)
	n := putHeader(m, kind, imm, e.grant(), hdr, len(body))
	n += copy(m[n:], body)
	s := d.next()
	s.Opcode, s.NumSGE = ibv.Send, 1
	s.SGE[0] = ibv.SGE{Addr: ibv.Addr(m), Length: uint32(n), LKey: d.sendMR.LKey}
	if n <= d.inline {
		s.Flags |= ibv.Inline
	}
	if e.urgent(kind) {
		s.Flags |= ibv.Solicited
	}
	e.sent++
	e.submit(s, entry{slot: int32(slot)})
	if d.sends > 0 {
		d.coalescing.sends, d.coalescing.slot = d.sends, slot
	}
	return nil
}

// urgent says whether a message is to wake a peer that sleeps for the urgent
// only: it is, or the peer has to tell of room soon.
func (e *endpoint) urgent(kind uint8) bool {
	return kind&fabric.Urgent != 0 || e.sent+1-e.acked > e.scarce
}

// notUp is why nothing can be sent now.
func (e *endpoint) notUp() error {
	if e.d.closed.Load() {
		return fabric.ErrClosed
	}
	if e.down != nil {
		return e.down
	}
	return fabric.ErrAgain
}

// The header of a message on the wire: 0 kind, 1 header length, 2 how many
// messages the sender has taken, 4 body length, 8 imm; little-endian.

func putHeader(m []byte, kind uint8, imm uint64, credit uint16, hdr []byte, body int) int {
	m[0], m[1] = kind, uint8(len(hdr))
	binary.LittleEndian.PutUint16(m[2:], credit)
	binary.LittleEndian.PutUint32(m[4:], uint32(body))
	binary.LittleEndian.PutUint64(m[8:], imm)
	return headerSize + copy(m[headerSize:], hdr)
}

// parse finds the parts of the message at the beginning of m and its length n, 0
// if there can be none.
func parse(m []byte) (kind uint8, imm uint64, credit uint16, hdr, body []byte, n int) {
	if len(m) < headerSize {
		return
	}
	h, b := int(m[1]), binary.LittleEndian.Uint32(m[4:])
	if h > fabric.MaxHeader || uint64(headerSize+h)+uint64(b) > uint64(len(m)) {
		return
	}
	at := headerSize + h
	n = at + int(b)
	return m[0], binary.LittleEndian.Uint64(m[8:]), binary.LittleEndian.Uint16(m[2:]), m[headerSize:at:at], m[at:n:n], n
}

// room says whether n work requests more may be outstanding.
func (e *endpoint) room(n int) bool {
	return int(e.tail-e.head)+e.reserved+n <= queueDepth-sendReserve && e.d.outstanding+n <= e.d.budget
}
