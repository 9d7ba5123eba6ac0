package ibv

import "encoding/binary"

// Work requests and completions lie in memory as libibverbs takes and gives
// them, so that nothing is copied on the way. context_unsafe.go and wr.c check the
// layout.

// SendWR is a work request, struct ibv_send_wr, with what it names: its segment,
// its queue pair, and 8 bytes of data of its own.
type SendWR struct {
	request
	SGE     [2]SGE
	QP      uint64 // QP.Handle of the queue pair that it is posted to
	OwnAddr uint64 // where Own is
	Refused int32  // errno of ibv_post_send
	_       [4]byte
	Own     uint64
}

// request is struct ibv_send_wr.
type request struct {
	ID   uint64 // wr_id
	next uint64 // of a chain: C's
	list uint64 // sg_list: where SGE is
	work
	RemoteAddr uint64 // wr.rdma.remote_addr, wr.atomic.remote_addr
	RKey       uint32 // wr.rdma.rkey; of an atomic half of a word, see SetAtomic
	High       uint32
	Swap       uint64 // wr.atomic.swap
	AtomicRKey uint32 // wr.atomic.rkey
	_          [60]byte
}

// work is what is to be done.
type work struct {
	NumSGE  int32 // num_sge
	Opcode  Opcode
	Flags   uint32  // send_flags
	ImmData [4]byte // imm_data
}

// SGE is a piece of local memory, struct ibv_sge.
type SGE struct {
	Addr   uint64
	Length uint32
	LKey   uint32
}

// Reset makes a work request that was used one without segments, to be filled
// in. What a request of its kind does not need keeps its old value.
func (s *SendWR) Reset() *SendWR {
	s.work = work{}
	return s
}

// SetAtomic sets the word to compare with, or to add (wr.atomic.compare_add), and
// the key.
func (s *SendWR) SetAtomic(word uint64, rkey uint32) {
	var w [8]byte
	binary.NativeEndian.PutUint64(w[:], word)
	s.RKey, s.High, s.AtomicRKey = binary.NativeEndian.Uint32(w[:]), binary.NativeEndian.Uint32(w[4:]), rkey
}

// SetOwn makes v the data, taken inline.
func (s *SendWR) SetOwn(v uint64) {
	s.Own = v
	s.Flags |= Inline
	s.NumSGE, s.SGE[0].Addr, s.SGE[0].Length = 1, s.OwnAddr, 8
}

// WC is a completion, struct ibv_wc. With a status other than Success nothing but
// ID, QPNum and VendorErr means anything.
type WC struct {
	ID        uint64 // wr_id
	Status    uint32
	Opcode    uint32
	VendorErr uint32 // vendor_err
	ByteLen   uint32 // byte_len
	ImmData   [4]byte
	QPNum     uint32 // qp_num
	_         [16]byte
}

// WithImm reports whether it is that of a WRITE with immediate data, not of a
// SEND.
func (c *WC) WithImm() bool { return c.Opcode == RecvRDMAWithImm }

// Rings are memory that Go and PostPoll share. They are the caller's but during
// PostPoll.
type Rings struct {
	Sends  []SendWR
	Recvs  []uint32 // receive slots to post, see Context.SetSlots
	RecvWC []WC
	SendWC []WC
}
