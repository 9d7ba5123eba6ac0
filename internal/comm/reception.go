package comm

import (
	"slices"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/progress"
)

// reception is the receive of a letter, and the sink of its request.
type reception struct {
	progress.Passive
	l    *letters
	i    *inbox
	into []byte
	r    *progress.Request // nil: the letter is dropped
}

// receive receives the next letter of a rank with a key. hook is called at once or
// later and finds the letter's length in the request's Result, which may be more than
// into has room for.
func (l *letters) receive(from int, key letterKey, into []byte, place [3]uintptr, hook func(*progress.Request, error)) *reception {
	x := &reception{l: l, i: l.inbox(key, fabric.Peer(from)), into: into}
	r := l.in.Loop.New()
	r.Kind, r.Mode, r.Peer, r.Imm, r.Moved, r.Buf, r.Place = 0, 0, int32(from), 0, 0, into, place
	l.in.Loop.Step(x, r, func(r *progress.Request, err error) {
		x.leave()
		hook(r, err)
	})
	return x
}

// drop has the next letter of a rank with a key dropped.
func (l *letters) drop(from int, key letterKey) {
	if l.gone[fabric.Peer(from)] != nil {
		return
	}
	i := l.inbox(key, fabric.Peer(from))
	i.waiting = append(i.waiting, &reception{l: l, i: i})
	l.serve(i)
}

// Start begins to wait. A rank that is waited for is connected to, so that its death is
// seen.
func (x *reception) Start(r *progress.Request) {
	x.r = r
	x.i.waiting = append(x.i.waiting, x)
	x.l.serve(x.i)
	if x.r == nil {
		return
	}
	if err := x.l.gone[x.i.from]; err != nil {
		x.finish(0, err)
		return
	}
	x.l.in.Loop.Conn(x.i.from)
}

// hand gives a letter to the receive that waits the longest.
func (i *inbox) hand(letter []byte) {
	x := i.waiting[0]
	i.waiting = slices.Delete(i.waiting, 0, 1)
	if x.r != nil {
		copy(x.into, letter)
		x.finish(uint64(len(letter)), nil)
	}
}

// finish ends the receive.
func (x *reception) finish(bytes uint64, err error) {
	r := x.r
	x.r = nil
	r.Result = progress.Result{Source: int32(x.i.from), Bytes: bytes}
	x.l.in.Loop.Finish(r, err)
}

// leave is called when the request has completed, also by the loop's end.
func (x *reception) leave() {
	x.r = nil
	x.i.waiting = slices.DeleteFunc(x.i.waiting, func(y *reception) bool { return y == x })
	x.l.tidy(x.i)
}

// abandon ends the receive, if it has not ended. Its letter is dropped when it comes.
func (x *reception) abandon(err error) {
	at := slices.Index(x.i.waiting, x)
	if at < 0 {
		return
	}
	x.i.waiting[at] = &reception{l: x.l, i: x.i}
	x.finish(0, err)
}

// fail ends all receives.
func (i *inbox) fail(err error) {
	for _, x := range slices.Clone(i.waiting) {
		if x.r != nil {
			x.finish(0, err)
		}
	}
	i.waiting = nil
}

// Describe says what the receive is.
func (x *reception) Describe(*progress.Request, bool) progress.Info {
	return progress.Info{What: "message of the creation of a communicator", State: "waits for that rank's call"}
}
