package ibv

// Opcode is what a work request does: enum ibv_wr_opcode.
type Opcode uint32

const (
	RDMAWrite         Opcode = 0 // IBV_WR_RDMA_WRITE
	RDMAWriteWithImm  Opcode = 1 // IBV_WR_RDMA_WRITE_WITH_IMM
	Send              Opcode = 2 // IBV_WR_SEND
	RDMARead          Opcode = 4 // IBV_WR_RDMA_READ
	AtomicCmpAndSwp   Opcode = 5 // IBV_WR_ATOMIC_CMP_AND_SWP
	AtomicFetchAndAdd Opcode = 6 // IBV_WR_ATOMIC_FETCH_AND_ADD
)

// Flags of a work request: enum ibv_send_flags.
const (
	Signaled  = 1 << 1 // IBV_SEND_SIGNALED
	Solicited = 1 << 2 // IBV_SEND_SOLICITED
	Inline    = 1 << 3 // IBV_SEND_INLINE
)

// RecvRDMAWithImm is the opcode of the completion of a receive that a WRITE with
// immediate data took: IBV_WC_RECV_RDMA_WITH_IMM of enum ibv_wc_opcode.
const RecvRDMAWithImm = 129

// Statuses of a completion: enum ibv_wc_status.
const (
	Success        = 0  // IBV_WC_SUCCESS
	LocLenErr      = 1  // IBV_WC_LOC_LEN_ERR
	LocQPOpErr     = 2  // IBV_WC_LOC_QP_OP_ERR
	LocProtErr     = 4  // IBV_WC_LOC_PROT_ERR
	WRFlushErr     = 5  // IBV_WC_WR_FLUSH_ERR
	RemInvReqErr   = 9  // IBV_WC_REM_INV_REQ_ERR
	RemAccessErr   = 10 // IBV_WC_REM_ACCESS_ERR
	RetryExcErr    = 12 // IBV_WC_RETRY_EXC_ERR
	RNRRetryExcErr = 13 // IBV_WC_RNR_RETRY_EXC_ERR
	FatalErr       = 19 // IBV_WC_FATAL_ERR
	RespTimeoutErr = 20 // IBV_WC_RESP_TIMEOUT_ERR
)

// What a registration is for: enum ibv_access_flags. Without
// IBV_ACCESS_RELAXED_ORDERING, on which the order of a READ behind WRITEs
// depends.
const (
	LocalWrite   = 1 << 0 // IBV_ACCESS_LOCAL_WRITE
	RemoteWrite  = 1 << 1 // IBV_ACCESS_REMOTE_WRITE
	RemoteRead   = 1 << 2 // IBV_ACCESS_REMOTE_READ
	RemoteAtomic = 1 << 3 // IBV_ACCESS_REMOTE_ATOMIC
)

// EventKind sorts asynchronous events: enum ibv_event_type.
type EventKind uint8

const (
	EventOther    EventKind = iota // nothing has failed
	EventQP                        // IBV_EVENT_QP_FATAL, QP_REQ_ERR, QP_ACCESS_ERR: a queue pair has
	EventPortDown                  // IBV_EVENT_PORT_ERR
	EventPortUp                    // IBV_EVENT_PORT_ACTIVE
	EventDevice                    // IBV_EVENT_DEVICE_FATAL, CQ_ERR, SRQ_ERR: nothing works any more
)

// How many entries of Rings there are: what one PostPoll posts and finds at most.
const (
	MaxSends = 64
	MaxRecvs = 256
	MaxWC    = 64
)
