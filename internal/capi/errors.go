package capi

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/weft-mpi/weft/mpi"
)

// fail is an error of this package's.
func fail(class mpi.Class, format string, args ...any) error {
	return &mpi.Error{Class: class, Err: fmt.Errorf(format, args...)}
}

var (
	errDatatype = fail(mpi.ErrType, "the datatype is none: it is null, freed, or a handle of another kind")
	errRequest  = fail(mpi.ErrRequest, "the request is none: it has been completed or freed, or is a handle of another kind")
	errOp       = fail(mpi.ErrOp, "the operator is none: it is null, freed, or a handle of another kind")
	errNull     = fail(mpi.ErrArg, "a pointer is NULL, where the call needs memory")
)

// raised is an error and the object whose handler is to see it.
type raised struct {
	err    error
	kind   Kind
	handle func() uint64 // of the object; 0: it is gone
}

func (r *raised) Error() string { return r.err.Error() }
func (r *raised) Unwrap() error { return r.err }

// The handlers of all objects. They only note of which one an error is: what the program
// has set runs in C, when the call has returned.
var (
	noteComm = mpi.NewErrhandler(func(c *mpi.Comm, err error) error {
		return &raised{err, kindComm, func() uint64 { return comms.handleOf(func(o *comm) bool { return o.c == c }) }}
	})
	noteWin = mpi.NewWinErrhandler(func(w *mpi.Win, err error) error {
		return &raised{err, kindWin, func() uint64 { return wins.handleOf(func(o *win) bool { return o.w == w }) }}
	})
	noteSession = mpi.NewSessionErrhandler(func(s *mpi.Session, err error) error {
		return &raised{err, kindSession, func() uint64 { return sessions.handleOf(func(o *session) bool { return o.s == s }) }}
	})
)

// codes gives errors numbers for C: class + n<<16, where n counts them, and keeps the texts
// of the last ones.
type codes struct {
	mu    sync.Mutex
	last  int32
	texts [256]struct {
		code int32
		text string
	}
}

var said codes

// coded is an error of a function of the program's, which has a number.
type coded struct {
	code int32
	err  error
}

func (e *coded) Error() string { return e.err.Error() }
func (e *coded) Unwrap() error { return e.err }

// code is the number of an error.
func (c *codes) code(err error) int32 {
	if own := (*coded)(nil); errors.As(err, &own) && own.code > 0 && mpi.ErrorClass(err) != mpi.ErrInStatus {
		return own.code
	}
	class := int32(mpi.ErrorClass(err))
	if class <= 0 || class > 0xffff {
		class = int32(mpi.ErrOther)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = c.last%0x7fff + 1
	code := class | c.last<<16
	kept := &c.texts[c.last%int32(len(c.texts))]
	kept.code, kept.text = code, text(err)
	return code
}

// text is what there is to say of a code: its error's sentence, or MPI's of the class, or
// the program's, which is empty at first.
func (c *codes) text(code int32) string {
	c.mu.Lock()
	kept := c.texts[code>>16&0x7fff%int32(len(c.texts))]
	c.mu.Unlock()
	if code > maxCode && kept.code == code {
		return kept.text
	}
	code &= maxCode
	switch s := mpi.ErrorString(mpi.Class(code)); {
	case code == 0:
		return "no error"
	case mpi.Class(code) == errABI:
		return "invalid use of the ABI"
	case s != fmt.Sprintf("mpi: error class %d", code):
		return strings.TrimPrefix(s, "mpi: ")
	case code > lastCode:
		return ""
	}
	return "another error"
}

// text is an error in words, without the Go call that it begins with: the C program made
// another.
func text(err error) string {
	s := mpi.ErrorString(err)
	var e *mpi.Error
	if errors.As(err, &e) {
		s = strings.TrimPrefix(s, "mpi."+e.Call+": ")
	}
	return inC(strings.TrimPrefix(s, "mpi: "))
}

// failed is the number of a call's error for C, and says there whose handler sees it.
func (a *Args) failed(err error) int32 {
	var r *raised
	if errors.As(err, &r) {
		if h := r.handle(); h != 0 {
			a.kind, a.object = r.kind, h
		}
	}
	return said.code(err)
}

// Text writes what there is to say of an error code to out, with C's final zero.
func Text(code int32, out []byte) {
	roomForHandlers()
	if len(out) > 0 {
		out[copy(out[:len(out)-1], said.text(code))] = 0
	}
}
