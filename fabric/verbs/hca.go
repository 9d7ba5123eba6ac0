package verbs

import "github.com/weft-mpi/weft/fabric/verbs/internal/ibv"

// hca is an open port of an adapter (IBTA: host channel adapter) with its queues:
// the seam between the protocol and the library. ibv.Context is one, and says
// what its methods do; tests have one of their own.
//
// PostPoll, ReqNotify and calls on one queue pair belong to the owner of the
// domain; the others are for any goroutine.
type hca interface {
	Rings() *ibv.Rings
	PostPoll(sends, recvs, maxRecv, maxSend, looks int) ibv.Polled
	SetSlots(base uint64, size, lkey uint32)

	ReqNotify(solicited bool) error
	AckEvents() int
	EventFD() int
	AsyncFD() int
	AsyncEvent() (ibv.Event, bool)

	RegMR(addr uint64, n int, access uint32) (ibv.MR, error)
	DeregMR(ibv.MR) error

	CreateQP() (q ibv.QP, inline int, err error)
	ConnectQP(ibv.QP, ibv.Path) error
	FailQP(ibv.QP) error
	DestroyQP(ibv.QP) error

	Close() error
}

// openHCA opens a port through libibverbs.
func openHCA(o ibv.Options) (hca, error) {
	x, err := ibv.Open(o)
	if err != nil {
		return nil, err
	}
	return x, nil
}
