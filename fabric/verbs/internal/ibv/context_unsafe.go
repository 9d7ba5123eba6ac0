//go:build cgo && linux

package ibv

// #cgo LDFLAGS: -ldl
// #cgo noescape weft_post_poll
// #cgo nocallback weft_post_poll
// #cgo noescape weft_req_notify
// #cgo nocallback weft_req_notify
// #cgo noescape weft_ack_events
// #cgo nocallback weft_ack_events
// #include <stdlib.h>
// #include "ibv.h"
import "C"

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"
)

// The structs of wr.go are those of ibv.h: a difference does not compile.
var (
	_ [C.sizeof_struct_weft_send]byte = [unsafe.Sizeof(SendWR{})]byte{}
	_ [C.sizeof_struct_weft_done]byte = [unsafe.Sizeof(WC{})]byte{}

	_ [C.WEFT_AT_NEXT]byte     = [unsafe.Offsetof(SendWR{}.next)]byte{}
	_ [C.WEFT_AT_LIST]byte     = [unsafe.Offsetof(SendWR{}.list)]byte{}
	_ [C.WEFT_AT_SEGMENTS]byte = [unsafe.Offsetof(SendWR{}.work) + unsafe.Offsetof(work{}.NumSGE)]byte{}
	_ [C.WEFT_AT_OP]byte       = [unsafe.Offsetof(SendWR{}.work) + unsafe.Offsetof(work{}.Opcode)]byte{}
	_ [C.WEFT_AT_FLAGS]byte    = [unsafe.Offsetof(SendWR{}.work) + unsafe.Offsetof(work{}.Flags)]byte{}
	_ [C.WEFT_AT_NOTE]byte     = [unsafe.Offsetof(SendWR{}.work) + unsafe.Offsetof(work{}.ImmData)]byte{}
	_ [C.WEFT_AT_REMOTE]byte   = [unsafe.Offsetof(SendWR{}.RemoteAddr)]byte{}
	_ [C.WEFT_AT_RKEY]byte     = [unsafe.Offsetof(SendWR{}.RKey)]byte{}
	_ [C.WEFT_AT_SWAP]byte     = [unsafe.Offsetof(SendWR{}.Swap)]byte{}
	_ [C.WEFT_AT_WORD_KEY]byte = [unsafe.Offsetof(SendWR{}.AtomicRKey)]byte{}
	_ [C.WEFT_AT_SEG]byte      = [unsafe.Offsetof(SendWR{}.SGE)]byte{}
	_ [C.WEFT_AT_QP]byte       = [unsafe.Offsetof(SendWR{}.QP)]byte{}
	_ [C.WEFT_AT_REFUSED]byte  = [unsafe.Offsetof(SendWR{}.Refused)]byte{}
	_ [C.WEFT_AT_OWN]byte      = [unsafe.Offsetof(SendWR{}.Own)]byte{}
	_ [C.WEFT_AT_LENGTH]byte   = [unsafe.Offsetof(SGE{}.Length)]byte{}
	_ [C.WEFT_AT_LKEY]byte     = [unsafe.Offsetof(SGE{}.LKey)]byte{}
	_ [C.WEFT_AT_STATUS]byte   = [unsafe.Offsetof(WC{}.Status)]byte{}
	_ [C.WEFT_AT_DONE_OP]byte  = [unsafe.Offsetof(WC{}.Opcode)]byte{}
	_ [C.WEFT_AT_VENDOR]byte   = [unsafe.Offsetof(WC{}.VendorErr)]byte{}
	_ [C.WEFT_AT_BYTES]byte    = [unsafe.Offsetof(WC{}.ByteLen)]byte{}
	_ [C.WEFT_AT_DATA]byte     = [unsafe.Offsetof(WC{}.ImmData)]byte{}
	_ [C.WEFT_AT_QPN]byte      = [unsafe.Offsetof(WC{}.QPNum)]byte{}

	_ [C.WEFT_SENDS]byte = [MaxSends]byte{}
	_ [C.WEFT_RECVS]byte = [MaxRecvs]byte{}
	_ [C.WEFT_DONES]byte = [MaxWC]byte{}
)

// Context is an open port of a device with its queues. PostPoll, ReqNotify and
// calls on one queue pair are one goroutine's at a time, as are SetSlots and
// Close; the others are for any.
type Context struct {
	c *C.struct_weft_context
	r Rings
	m []byte // the rings' memory
}

// Load opens libibverbs, or says why it can't.
func Load() error {
	if why := C.weft_load(); why != nil {
		return errors.New(C.GoString(why))
	}
	return nil
}

// failure is that of a library call, if its errno is not 0.
func failure(e C.int, call string) error {
	if e == 0 {
		return nil
	}
	return fmt.Errorf("%s: %w", call, syscall.Errno(e))
}

// failureOf is failure where C says which call it was.
func failureOf(e C.int, call *C.char) error {
	if call == nil {
		return failure(e, "libibverbs")
	}
	return failure(e, C.GoString(call))
}

// Query asks what a port of a device can do: ibv_query_device, ibv_query_port.
func Query(device string, port int) (Attr, error) {
	name := C.CString(device)
	defer C.free(unsafe.Pointer(name))
	var a C.struct_weft_attr
	var call *C.char
	if err := failureOf(C.weft_query(name, C.uint32_t(port), &a, &call), call); err != nil {
		return Attr{}, err
	}
	return Attr{
		MaxMessage: int(a.max_msg), MaxCQE: int(a.max_cqe), MaxSRQ: int(a.max_srq_wr),
		Answers: int(a.max_rd_atom), Reads: int(a.max_init_rd_atom),
		Atomics: a.atomics != 0, GlobalAtomics: a.atomics == 2,
		MTU: uint8(a.active_mtu), LID: uint16(a.lid), Firmware: C.GoString(&a.fw[0]),
	}, nil
}

// Open opens a port with its queues: ibv_open_device, ibv_alloc_pd,
// ibv_create_comp_channel, ibv_create_cq, ibv_create_srq.
func Open(o Options) (*Context, error) {
	name := C.CString(o.Device)
	defer C.free(unsafe.Pointer(name))
	r, m, err := newRings()
	if err != nil {
		return nil, err
	}
	opt := C.struct_weft_options{
		port: C.uint32_t(o.Port), gid_index: C.uint32_t(o.GIDIndex), global: C.uint32_t(b2i(o.Global)),
		srq_depth: C.uint32_t(o.SRQDepth), recv_cqe: C.uint32_t(o.RecvCQE), send_cqe: C.uint32_t(o.SendCQE),
		send_depth: C.uint32_t(o.SendDepth), inline_bytes: C.uint32_t(o.Inline),
		ack_timeout: C.uint32_t(o.AckTimeout), ack_retries: C.uint32_t(o.AckRetries),
		service_level: C.uint32_t(o.ServiceLevel), traffic_class: C.uint32_t(o.TrafficClass),
	}
	x := &Context{r: r, m: m}
	var call *C.char
	e := C.weft_open_device(name, &opt, unsafe.Pointer(&r.Sends[0]), unsafe.Pointer(&r.Recvs[0]),
		unsafe.Pointer(&r.RecvWC[0]), unsafe.Pointer(&r.SendWC[0]), &x.c, &call)
	if err := failureOf(e, call); err != nil {
		Unmap(m)
		return nil, err
	}
	return x, nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Rings are the work requests and completions that PostPoll reads and writes.
func (x *Context) Rings() *Rings { return &x.r }

// SetSlots says where receive slot 0 is: a receive of slot i is posted with its
// size bytes from base+i*size on, and with wr_id i.
func (x *Context) SetSlots(base uint64, size, lkey uint32) {
	C.weft_ring_slots(x.c, C.uint64_t(base), C.uint32_t(size), C.uint32_t(lkey))
}

// PostPoll posts the first sends and recvs of the rings (ibv_post_send, one chain
// for each queue pair; ibv_post_srq_recv), then polls for at most maxRecv and
// maxSend completions (ibv_poll_cq), which it leaves in the rings: one crossing for
// all of it. Where none is there it looks again, at most looks times in all. A
// send that can't be posted has its errno in Refused, as has everything behind it
// on the same queue pair.
func (x *Context) PostPoll(sends, recvs, maxRecv, maxSend, looks int) Polled {
	return Polled(C.weft_post_poll(x.c, C.int(sends), C.int(recvs), C.int(maxRecv), C.int(maxSend), C.int(looks)))
}

// ReqNotify asks for an event of the completion channel at the next receive, or
// the next solicited one, and at the next completion of a send: ibv_req_notify_cq.
func (x *Context) ReqNotify(solicited bool) error {
	return failure(C.weft_req_notify(x.c, C.int(b2i(solicited))), "ibv_req_notify_cq")
}

// AckEvents takes the events of the completion channel and says how many:
// ibv_get_cq_event, ibv_ack_cq_events. It never blocks.
func (x *Context) AckEvents() int { return int(C.weft_ack_events(x.c)) }

// EventFD is the completion channel's descriptor, which does not block.
func (x *Context) EventFD() int { return int(C.weft_event_fd(x.c)) }

// AsyncFD is where AsyncEvent has something to tell. It does not block.
func (x *Context) AsyncFD() int { return int(C.weft_async_fd(x.c)) }

// AsyncEvent takes an asynchronous event, if there is one: ibv_get_async_event,
// ibv_ack_async_event.
func (x *Context) AsyncEvent() (Event, bool) {
	var kind, qpn C.uint32_t
	var name *C.char
	if C.weft_async(x.c, &kind, &qpn, &name) == 0 {
		return Event{}, false
	}
	return Event{EventKind(kind), uint32(qpn), C.GoString(name)}, true
}

// RegMR registers n bytes from addr on, which the caller keeps there until
// DeregMR: ibv_reg_mr.
func (x *Context) RegMR(addr uint64, n int, access uint32) (MR, error) {
	var id C.uint64_t
	var lkey, rkey C.uint32_t
	e := C.weft_reg_mr(x.c, C.uint64_t(addr), C.uint64_t(n), C.uint32_t(access), &id, &lkey, &rkey)
	if err := failure(e, "ibv_reg_mr"); err != nil {
		return MR{}, err
	}
	return MR{uint64(id), uint32(lkey), uint32(rkey)}, nil
}

// DeregMR ends a registration: ibv_dereg_mr.
func (x *Context) DeregMR(m MR) error {
	return failure(C.weft_dereg_mr(x.c, C.uint64_t(m.Handle)), "ibv_dereg_mr")
}

// CreateQP makes a reliable connection's queue pair in the state INIT, and says
// how many bytes it takes inline: ibv_create_qp, ibv_modify_qp.
func (x *Context) CreateQP() (QP, int, error) {
	var id C.uint64_t
	var number, inline C.uint32_t
	var call *C.char
	if err := failureOf(C.weft_create_qp(x.c, &id, &number, &inline, &call), call); err != nil {
		return QP{}, 0, err
	}
	return QP{uint64(id), uint32(number)}, int(inline), nil
}

// ConnectQP makes a queue pair ready to receive and to send: ibv_modify_qp to RTR
// and RTS.
func (x *Context) ConnectQP(q QP, p Path) error {
	c := C.struct_weft_path{
		qpn: C.uint32_t(p.QPNum), psn: C.uint32_t(p.PSN), my_psn: C.uint32_t(p.MyPSN),
		lid: C.uint32_t(p.LID), mtu: C.uint32_t(p.MTU), reads: C.uint32_t(p.Reads), answers: C.uint32_t(p.Answers),
	}
	for i, b := range p.GID {
		c.gid[i] = C.uint8_t(b)
	}
	var call *C.char
	return failureOf(C.weft_connect_qp(x.c, C.uint64_t(q.Handle), &c, &call), call)
}

// FailQP flushes everything that is outstanding: ibv_modify_qp to ERR.
func (x *Context) FailQP(q QP) error {
	return failure(C.weft_fail_qp(x.c, C.uint64_t(q.Handle)), "ibv_modify_qp to ERR")
}

// DestroyQP ends all use of memory by the queue pair: ibv_destroy_qp.
func (x *Context) DestroyQP(q QP) error {
	return failure(C.weft_destroy_qp(x.c, C.uint64_t(q.Handle)), "ibv_destroy_qp")
}

// Close gives the port back. Queue pairs and registrations have ended by then.
func (x *Context) Close() error {
	var call *C.char
	err := failureOf(C.weft_close(x.c, &call), call)
	Unmap(x.m)
	return err
}
