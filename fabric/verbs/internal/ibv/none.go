//go:build !cgo || !linux

package ibv

import "errors"

var errNoCgo = errors.New("this program was built without cgo (CGO_ENABLED=0)")

// Load says why libibverbs can't be used: this program was built without cgo.
func Load() error { return errNoCgo }

// Query answers what Load does.
func Query(device string, port int) (Attr, error) { return Attr{}, errNoCgo }

// Open answers what Load does.
func Open(Options) (*Context, error) { return nil, errNoCgo }

// Context is what no Open returns in this form of the program.
type Context struct{ unopened }

// unopened has the methods of a Context. None is ever called.
type unopened struct{}

func (unopened) Rings() *Rings                                             { return nil }
func (unopened) PostPoll(sends, recvs, maxRecv, maxSend, looks int) Polled { return 0 }
func (unopened) SetSlots(base uint64, size, lkey uint32)                   {}
func (unopened) ReqNotify(solicited bool) error                            { return errNoCgo }
func (unopened) AckEvents() int                                            { return 0 }
func (unopened) EventFD() int                                              { return -1 }
func (unopened) AsyncFD() int                                              { return -1 }
func (unopened) AsyncEvent() (Event, bool)                                 { return Event{}, false }
func (unopened) RegMR(addr uint64, n int, access uint32) (MR, error)       { return MR{}, errNoCgo }
func (unopened) DeregMR(MR) error                                          { return errNoCgo }
func (unopened) CreateQP() (QP, int, error)                                { return QP{}, 0, errNoCgo }
func (unopened) ConnectQP(QP, Path) error                                  { return errNoCgo }
func (unopened) FailQP(QP) error                                           { return errNoCgo }
func (unopened) DestroyQP(QP) error                                        { return errNoCgo }
func (unopened) Close() error                                              { return errNoCgo }
