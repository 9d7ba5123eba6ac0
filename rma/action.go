package rma

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/op"
	"github.com/weft-mpi/weft/progress"
)

// action is an operation that goes through the loop: a transfer with a target whose
// memory is not reached, a flush, or a wait for several of them. All of it belongs to
// the owner.
type action struct {
	w *Win
	t *target // nil of kindAll
	r *progress.Request

	before, behind *action // in the target's opens
	number         uint64  // among the operations with the target
	lane           *action // behind it in its peer's lane
	waits          bool    // it is in the lane
	given          bool    // the fabric has taken it, and will report its end
	over           bool

	// A transfer.
	named     bool // its request is the program's, and completes when the memory is its own again
	get, cas  bool
	code      op.Code
	kind      op.Kind
	elem      int // bytes of an element
	at        int // in the target's part, in bytes
	src, dst  []byte
	compare   []byte
	n         int     // bytes
	sent, got int     // of them
	act       *access // to be announced, or nil
	region    fabric.Region
	typed     *typedAction // of a Typed, which has its memory, or nil

	// A flush, or a wait for several.
	local   bool
	going   bool // its operations have ended
	asks    bool // for the target's confirmation
	fabric  bool // for the fabric's
	left    int
	parent  *action
	give    func() // called if the program gives the wait up
	failure error
	kept    []kept
	what    string // for reports
}

func (o *action) conn() *progress.Conn { return o.w.e.loop.Conn(o.t.peer) }

// start begins an operation for which nobody waits.
func (o *action) start(r *progress.Request) {
	e := o.w.e
	if e.loop.Over() {
		e.loop.Free(r)
		return
	}
	e.add(o, r)
	e.loop.Orphan(e, r, func(*progress.Request, error) {})
}

// fill sets what reports read.
func (o *action) fill(r *progress.Request, kind uint8, place [3]uintptr) {
	r.Kind, r.Step, r.Buf, r.Place = kind, 0, nil, place
	if r.Peer = progress.AnySource; o.t != nil {
		r.Peer = int32(o.t.peer)
	}
}

func (o *action) begin() {
	if o.r.Kind == kindFlush {
		o.beginFlush()
		return
	}
	o.beginTransfer()
}

func (o *action) beginTransfer() {
	t := o.t
	t.touch()
	t.count++
	o.number = t.count
	t.open.add(o)
	switch err := t.down(); {
	case err != nil:
		o.end(err)
	case o.n == 0:
		o.end(nil)
	case o.typed != nil:
		o.beginTyped()
	case t.rank == o.w.rank:
		o.onOwn()
	case o.code == codeBytes && !o.cas && !t.packets:
		if err := o.register(); err != nil {
			o.enlane()
			return
		}
		if c := o.conn(); c.Busy() || o.native() == fabric.ErrAgain {
			c.Enqueue(o.r)
		}
	default:
		o.enlane()
	}
}

// buf is the local memory of a Put or Get.
func (o *action) buf() []byte {
	if o.get {
		return o.dst
	}
	return o.src
}

func (o *action) register() (err error) {
	if o.t.caps.LocalUnregistered {
		return nil
	}
	a := fabric.Access(0)
	if o.get {
		a = fabric.LocalWrite
	}
	o.region, err = o.t.dom.Register(o.buf(), a)
	return err
}

func (t *target) deregister(r fabric.Region) {
	if r.Handle != 0 {
		t.dom.Deregister(r) // fails only for a region that is none
	}
}

// native has the fabric carry out a Put or Get. The fabric reports the end of each Get, so a
// flush has nothing to ask about them: that would be a round trip of its own.
func (o *action) native() error {
	t := o.t
	name, seg := o.r.Op(), fabric.Segment{Bytes: o.buf(), Region: o.region}
	nameless := !o.named && !o.get
	if nameless {
		name = fabric.NoOp
	}
	there := fabric.Remote{Addr: t.memory.Addr + uint64(o.at), Len: uint64(o.n), Key: t.memory.Key}
	var err error
	if ep := o.conn().Endpoint(); o.get {
		err = ep.Get(seg, there, name)
	} else {
		err = ep.Put(seg, there, name)
	}
	switch {
	case err == nil:
		o.w.e.loop.Rouse() // a Poll reports its end
		o.given = !nameless
		t.native = t.native || !o.get
		if nameless {
			t.kept = append(t.kept, kept{o.buf(), o.region})
			o.region = fabric.Region{}
			o.end(nil)
		}
	case err == fabric.ErrAgain:
	case errors.Is(err, fabric.ErrUnsupported):
		t.packets = true
		o.enlane()
		return nil
	default:
		o.end(err)
	}
	return err
}

func (o *action) resume() error {
	switch {
	case o.r.Kind == kindFlush:
		return o.flushFabric()
	case o.waits:
		return o.w.e.lanes[o.t.peer].pump(o)
	case o.typed != nil:
		return o.post()
	}
	return o.native()
}

// completed takes the end of a fabric operation.
func (o *action) completed(err error) {
	switch {
	case o.r.Kind == kindFlush:
		o.flushed(err)
	case o.typed != nil:
		o.postedOne(err)
	case errors.Is(err, fabric.ErrUnsupported):
		o.t.packets, o.given = true, false
		o.enlane()
	default:
		o.end(err)
	}
}

// end ends a transfer. A failure of one without a name is the next flush's, and so is the
// target's death.
func (o *action) end(err error) {
	t, n := o.t, o.number
	t.deregister(o.region)
	t.open.remove(o)
	if err == nil {
		o.count()
	}
	if !o.named || errors.Is(err, fabric.ErrPeerDown) {
		t.fail(err)
	}
	o.w.e.remove(o, err)
	t.ended(n)
}

// onOwn carries a transfer out with memory of this rank in a dynamic window. As with any
// other rank the request of a Get fails, and the flush behind a Put.
func (o *action) onOwn() {
	x := Transfer{Code: o.code, Kind: o.kind, At: o.at, Src: o.src, Old: o.dst, Compare: o.compare}
	o.endOwn(o.w.applyAttached(&x, o.line()))
}

// line is that of the program that has made the call, in a window that checks accesses.
func (o *action) line() string {
	if o.act == nil {
		return ""
	}
	return o.act.line
}

func (o *action) endOwn(err error) {
	if !o.get {
		o.t.fail(err)
		err = nil
	}
	o.end(err)
}

// fail keeps the first failure for the next flush.
func (t *target) fail(err error) { t.err = cmp.Or(t.err, err) }

// touch notes that a flush has something to do.
func (t *target) touch() {
	if !t.touched.Load() { // which only the owner stores
		t.touched.Store(true)
		t.w.touched = append(t.w.touched, t)
		t.w.any.Store(true)
	}
}

// down is why the target's rank can't be reached, or nil.
func (t *target) down() error {
	if t.rank == t.w.rank {
		return nil
	}
	if err := t.dead.Load(); err != nil { // pairs with the store in peerDown
		return *err
	}
	return t.w.e.loop.Conn(t.peer).Down()
}

// tell names the window by the context of its communicator, which has its name.
func (o *action) tell() (what, state string) {
	window := inWindow(o.w)
	switch {
	case o.r.Kind == kindTransfer && o.get:
		return fmt.Sprintf("one-sided operation with a result from rank %d", o.t.rank) + window, "waits for the result"
	case o.r.Kind == kindTransfer:
		return fmt.Sprintf("one-sided operation with rank %d", o.t.rank) + window, "waits for room or for its end"
	case o.what == "lock":
		state = "waits for the lock"
	default:
		state = "waits for the targets' confirmation"
	}
	return o.what + window, state
}

func inWindow(w *Win) string { return fmt.Sprintf(" in the window of context %d", w.id) }
