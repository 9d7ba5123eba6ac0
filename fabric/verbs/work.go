package verbs

import "encoding/binary"

// Work requests and completions lie in memory as libibverbs takes and gives
// them, so that nothing is copied on the way. shim_unsafe.go and shim_turn.c
// check the layout.

// sendDesc is a work request with what it names: its segments, and room for
// inline data of its own.
type sendDesc struct {
	request
	seg     [2]segment
	qp      uint64 // the queue pair it goes to
	ownAt   uint64 // where own is
	refused int32  // errno of the post
	_       [4]byte
	own     uint64
}

// request is struct ibv_send_wr.
type request struct {
	id   uint64
	next uint64 // of a chain; the shim's
	list uint64 // where seg is
	work
	remote  uint64
	rkey    uint32 // or half of a word, see setAtomic
	high    uint32
	swap    uint64
	wordKey uint32
	_       [60]byte
}

// work is what is to be done.
type work struct {
	segments int32 // of the list that count
	op       opcode
	flags    uint32
	note     [4]byte // see setNote
}

// segment is struct ibv_sge.
type segment struct {
	addr   uint64
	length uint32
	lkey   uint32
}

// opcode is enum ibv_wr_opcode.
type opcode uint32

const (
	opWrite       opcode = 0
	opWriteNote   opcode = 1
	opSend        opcode = 2
	opRead        opcode = 4
	opCompareSwap opcode = 5
	opFetchAdd    opcode = 6
)

// Flags of a request, as in enum ibv_send_flags.
const (
	flagSignaled  = 1 << 1
	flagSolicited = 1 << 2
	flagInline    = 1 << 3
)

// reset makes a descriptor that was used a request without segments, to be
// filled in. What a request of its kind does not need keeps its old value.
func (s *sendDesc) reset() *sendDesc {
	s.work = work{}
	return s
}

// setNote sets the immediate data.
func (s *sendDesc) setNote(note uint32) { binary.BigEndian.PutUint32(s.note[:], note) }

// setAtomic sets the word to compare with, or to add, and the key.
func (s *sendDesc) setAtomic(word uint64, rkey uint32) {
	var w [8]byte
	binary.NativeEndian.PutUint64(w[:], word)
	s.rkey, s.high, s.wordKey = binary.NativeEndian.Uint32(w[:]), binary.NativeEndian.Uint32(w[4:]), rkey
}

// setOwn makes n bytes of the descriptor's own the data.
func (s *sendDesc) setOwn(n uint32) {
	s.flags |= flagInline
	s.segments, s.seg[0].addr, s.seg[0].length = 1, s.ownAt, n
}

// doneDesc is a completion, struct ibv_wc. With a status other than 0 nothing
// else but id, qpn and vendor means anything.
type doneDesc struct {
	id     uint64
	status uint32
	op     uint32
	vendor uint32
	bytes  uint32
	data   [4]byte // see note
	qpn    uint32
	_      [16]byte
}

// recvNoted is IBV_WC_RECV_RDMA_WITH_IMM.
const recvNoted = 129

// noted says whether it is that of a WRITE with immediate, not of a SEND.
func (c *doneDesc) noted() bool { return c.op == recvNoted }

// note is the immediate data.
func (c *doneDesc) note() uint32 { return binary.BigEndian.Uint32(c.data[:]) }
