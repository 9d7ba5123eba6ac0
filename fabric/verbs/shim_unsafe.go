//go:build cgo && linux

package verbs

// #cgo LDFLAGS: -ldl
// #cgo noescape weft_turn
// #cgo nocallback weft_turn
// #cgo noescape weft_arm
// #cgo nocallback weft_arm
// #cgo noescape weft_drain
// #cgo nocallback weft_drain
// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"
)

// The structs of work.go are those of shim.h: a difference does not compile.
var (
	_ [C.sizeof_struct_weft_send]byte = [unsafe.Sizeof(sendDesc{})]byte{}
	_ [C.sizeof_struct_weft_done]byte = [unsafe.Sizeof(doneDesc{})]byte{}

	_ [C.WEFT_AT_NEXT]byte     = [unsafe.Offsetof(sendDesc{}.next)]byte{}
	_ [C.WEFT_AT_LIST]byte     = [unsafe.Offsetof(sendDesc{}.list)]byte{}
	_ [C.WEFT_AT_SEGMENTS]byte = [unsafe.Offsetof(sendDesc{}.work) + unsafe.Offsetof(work{}.segments)]byte{}
	_ [C.WEFT_AT_OP]byte       = [unsafe.Offsetof(sendDesc{}.work) + unsafe.Offsetof(work{}.op)]byte{}
	_ [C.WEFT_AT_FLAGS]byte    = [unsafe.Offsetof(sendDesc{}.work) + unsafe.Offsetof(work{}.flags)]byte{}
	_ [C.WEFT_AT_NOTE]byte     = [unsafe.Offsetof(sendDesc{}.work) + unsafe.Offsetof(work{}.note)]byte{}
	_ [C.WEFT_AT_REMOTE]byte   = [unsafe.Offsetof(sendDesc{}.remote)]byte{}
	_ [C.WEFT_AT_RKEY]byte     = [unsafe.Offsetof(sendDesc{}.rkey)]byte{}
	_ [C.WEFT_AT_SWAP]byte     = [unsafe.Offsetof(sendDesc{}.swap)]byte{}
	_ [C.WEFT_AT_WORD_KEY]byte = [unsafe.Offsetof(sendDesc{}.wordKey)]byte{}
	_ [C.WEFT_AT_SEG]byte      = [unsafe.Offsetof(sendDesc{}.seg)]byte{}
	_ [C.WEFT_AT_QP]byte       = [unsafe.Offsetof(sendDesc{}.qp)]byte{}
	_ [C.WEFT_AT_REFUSED]byte  = [unsafe.Offsetof(sendDesc{}.refused)]byte{}
	_ [C.WEFT_AT_OWN]byte      = [unsafe.Offsetof(sendDesc{}.own)]byte{}
	_ [C.WEFT_AT_LENGTH]byte   = [unsafe.Offsetof(segment{}.length)]byte{}
	_ [C.WEFT_AT_LKEY]byte     = [unsafe.Offsetof(segment{}.lkey)]byte{}
	_ [C.WEFT_AT_STATUS]byte   = [unsafe.Offsetof(doneDesc{}.status)]byte{}
	_ [C.WEFT_AT_DONE_OP]byte  = [unsafe.Offsetof(doneDesc{}.op)]byte{}
	_ [C.WEFT_AT_VENDOR]byte   = [unsafe.Offsetof(doneDesc{}.vendor)]byte{}
	_ [C.WEFT_AT_BYTES]byte    = [unsafe.Offsetof(doneDesc{}.bytes)]byte{}
	_ [C.WEFT_AT_DATA]byte     = [unsafe.Offsetof(doneDesc{}.data)]byte{}
	_ [C.WEFT_AT_QPN]byte      = [unsafe.Offsetof(doneDesc{}.qpn)]byte{}

	_ [C.WEFT_SENDS]byte = [sendRing]byte{}
	_ [C.WEFT_RECVS]byte = [recvRing]byte{}
	_ [C.WEFT_DONES]byte = [doneRing]byte{}
)

// library is an open port of a device through libibverbs.
type library struct {
	c *C.struct_weft_nic
	r rings
	m []byte // the rings' memory
}

// loadLibrary opens libibverbs, or says why it can't.
func loadLibrary() error {
	if why := C.weft_load(); why != nil {
		return errors.New(C.GoString(why))
	}
	return nil
}

// callError is the failure of a library call.
func callError(e C.int, call *C.char) error {
	if e == 0 {
		return nil
	}
	name := "libibverbs"
	if call != nil {
		name = C.GoString(call)
	}
	return fmt.Errorf("%s: %w", name, syscall.Errno(e))
}

// queryLibrary asks the library what a port of a device can do.
func queryLibrary(device string, port int) (attributes, error) {
	name := C.CString(device)
	defer C.free(unsafe.Pointer(name))
	var a C.struct_weft_attr
	var call *C.char
	if err := callError(C.weft_query(name, C.uint32_t(port), &a, &call), call); err != nil {
		return attributes{}, err
	}
	return attributes{
		maxMessage: int(a.max_msg), maxCQE: int(a.max_cqe), maxSRQ: int(a.max_srq_wr),
		answers: int(a.max_rd_atom), reads: int(a.max_init_rd_atom),
		atomics: a.atomics != 0, global: a.atomics == 2,
		mtu: uint8(a.active_mtu), lid: uint16(a.lid), firmware: C.GoString(&a.fw[0]),
	}, nil
}

// openLibrary opens a port with its queues.
func openLibrary(o nicOptions) (nic, error) {
	name := C.CString(o.device)
	defer C.free(unsafe.Pointer(name))
	r, m, err := newRings()
	if err != nil {
		return nil, err
	}
	opt := C.struct_weft_options{
		port: C.uint32_t(o.port), gid_index: C.uint32_t(o.gidIndex), global: C.uint32_t(b2i(o.global)),
		srq_depth: C.uint32_t(o.srqDepth), recv_cqe: C.uint32_t(o.recvCQE), send_cqe: C.uint32_t(o.sendCQE),
		send_depth: queueDepth, inline_bytes: C.uint32_t(o.inline),
		ack_timeout: ackTimeout, ack_retries: ackRetries,
		service_level: C.uint32_t(o.marks.level), traffic_class: C.uint32_t(o.marks.class),
	}
	l := &library{r: r, m: m}
	var call *C.char
	e := C.weft_open(name, &opt, unsafe.Pointer(&r.sends[0]), unsafe.Pointer(&r.recvs[0]),
		unsafe.Pointer(&r.rdone[0]), unsafe.Pointer(&r.sdone[0]), &l.c, &call)
	if err := callError(e, call); err != nil {
		unmap(m)
		return nil, err
	}
	return l, nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (l *library) rings() *rings { return &l.r }

func (l *library) slots(base uint64, size, lkey uint32) {
	C.weft_slots(l.c, C.uint64_t(base), C.uint32_t(size), C.uint32_t(lkey))
}

func (l *library) turn(sends, recvs, maxRecv, maxSend, looks int) polled {
	return polled(C.weft_turn(l.c, C.int(sends), C.int(recvs), C.int(maxRecv), C.int(maxSend), C.int(looks)))
}

func (l *library) arm(solicited bool) error {
	if e := C.weft_arm(l.c, C.int(b2i(solicited))); e != 0 {
		return fmt.Errorf("ibv_req_notify_cq: %w", syscall.Errno(e))
	}
	return nil
}

func (l *library) drain() int   { return int(C.weft_drain(l.c)) }
func (l *library) eventFD() int { return int(C.weft_event_fd(l.c)) }
func (l *library) asyncFD() int { return int(C.weft_async_fd(l.c)) }

func (l *library) async() (asyncEvent, bool) {
	var kind, qpn C.uint32_t
	var name *C.char
	if C.weft_async(l.c, &kind, &qpn, &name) == 0 {
		return asyncEvent{}, false
	}
	return asyncEvent{asyncKind(kind), uint32(qpn), C.GoString(name)}, true
}

func (l *library) register(addr uint64, n int, access uint32) (mr, error) {
	var id C.uint64_t
	var lkey, rkey C.uint32_t
	e := C.weft_register(l.c, C.uint64_t(addr), C.uint64_t(n), C.uint32_t(access), &id, &lkey, &rkey)
	if e != 0 {
		return mr{}, fmt.Errorf("ibv_reg_mr: %w", syscall.Errno(e))
	}
	return mr{uint64(id), uint32(lkey), uint32(rkey)}, nil
}

func (l *library) deregister(m mr) error {
	if e := C.weft_deregister(l.c, C.uint64_t(m.id)); e != 0 {
		return fmt.Errorf("ibv_dereg_mr: %w", syscall.Errno(e))
	}
	return nil
}

func (l *library) createQP() (qp, int, error) {
	var id C.uint64_t
	var number, inline C.uint32_t
	var call *C.char
	if err := callError(C.weft_qp_create(l.c, &id, &number, &inline, &call), call); err != nil {
		return qp{}, 0, err
	}
	return qp{uint64(id), uint32(number)}, int(inline), nil
}

func (l *library) connectQP(q qp, p path) error {
	c := C.struct_weft_path{
		qpn: C.uint32_t(p.qpn), psn: C.uint32_t(p.psn), my_psn: C.uint32_t(p.myPSN),
		lid: C.uint32_t(p.lid), mtu: C.uint32_t(p.mtu), reads: C.uint32_t(p.reads), answers: C.uint32_t(p.answers),
	}
	for i, b := range p.gid {
		c.gid[i] = C.uint8_t(b)
	}
	var call *C.char
	return callError(C.weft_qp_connect(l.c, C.uint64_t(q.id), &c, &call), call)
}

func (l *library) failQP(q qp) error {
	if e := C.weft_qp_fail(l.c, C.uint64_t(q.id)); e != 0 {
		return fmt.Errorf("ibv_modify_qp to ERR: %w", syscall.Errno(e))
	}
	return nil
}

func (l *library) destroyQP(q qp) error {
	if e := C.weft_qp_destroy(l.c, C.uint64_t(q.id)); e != 0 {
		return fmt.Errorf("ibv_destroy_qp: %w", syscall.Errno(e))
	}
	return nil
}

func (l *library) close() error {
	var call *C.char
	err := callError(C.weft_close(l.c, &call), call)
	unmap(l.m)
	return err
}
