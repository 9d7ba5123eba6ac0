package ibv

import (
	"fmt"
	"syscall"
)

// Options say what Open opens: a port of a device, and how long its queues are.
type Options struct {
	Device                     string
	Port, GIDIndex             int
	Global                     bool // packets carry GIDs (is_global of struct ibv_ah_attr), as on Ethernet
	SRQDepth, RecvCQE, SendCQE int  // max_wr of struct ibv_srq_init_attr; cqe of ibv_create_cq
	SendDepth                  int  // max_send_wr of struct ibv_qp_cap
	Inline                     int  // bytes: max_inline_data of struct ibv_qp_cap
	AckTimeout, AckRetries     int  // timeout and retry_cnt of struct ibv_qp_attr
	ServiceLevel, TrafficClass int  // sl of struct ibv_ah_attr, traffic_class of struct ibv_global_route
}

// Attr is what a device and a port can do: of struct ibv_device_attr and struct
// ibv_port_attr.
type Attr struct {
	MaxMessage     int // bytes: max_msg_sz
	MaxCQE, MaxSRQ int // max_cqe, max_srq_wr
	// READs and atomics outstanding on a queue pair, as responder and as
	// requester: max_qp_rd_atom, max_qp_init_rd_atom.
	Answers, Reads int
	Atomics        bool  // atomic_cap is not IBV_ATOMIC_NONE
	GlobalAtomics  bool  // IBV_ATOMIC_GLOB: atomic with the processor's own, too
	MTU            uint8 // active_mtu, enum ibv_mtu
	LID            uint16
	Firmware       string // fw_ver
}

// MR is a registration, struct ibv_mr. The zero value is none.
type MR struct {
	Handle     uint64
	LKey, RKey uint32
}

// QP is a queue pair, struct ibv_qp. The zero value is none.
type QP struct {
	Handle uint64
	Num    uint32 // qp_num
}

// Path is the way to the peer's queue pair: of struct ibv_qp_attr.
type Path struct {
	QPNum, PSN, MyPSN uint32 // dest_qp_num, rq_psn, sq_psn
	GID               [16]byte
	LID               uint16
	MTU               uint8 // path_mtu, enum ibv_mtu
	Reads             uint8 // max_rd_atomic: READs and atomics outstanding, as requester
	Answers           uint8 // max_dest_rd_atomic: the same as responder
}

// Event is an asynchronous event, struct ibv_async_event.
type Event struct {
	Kind  EventKind
	QPNum uint32 // of EventQP
	Name  string // ibv_event_type_str
}

// Polled is what a PostPoll has found: completions of receives in bits 0-15, of
// sends in bits 16-31, refused sends in bits 32-47, an errno in bits 48-62.
type Polled uint64

// Recvs is how many completions of receives are in Rings.RecvWC.
func (p Polled) Recvs() int { return int(p & 0xffff) }

// Sends is how many completions of sends are in Rings.SendWC.
func (p Polled) Sends() int { return int(p >> 16 & 0xffff) }

// Refused is how many sends ibv_post_send has not taken: see SendWR.Refused.
func (p Polled) Refused() int { return int(p >> 32 & 0xffff) }

// OK reports whether nothing was refused and nothing failed.
func (p Polled) OK() bool { return p>>32 == 0 }

// Err is why receives could not be posted, or a queue not be polled.
func (p Polled) Err() error {
	if e := p >> 48; e != 0 {
		return fmt.Errorf("post receives or poll: %w", syscall.Errno(e))
	}
	return nil
}
