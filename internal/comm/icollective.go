package comm

import (
	"context"

	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/expiry"
	"github.com/weft-mpi/weft/internal/frames"
	"github.com/weft-mpi/weft/progress"
)

// schedule is a nonblocking collective call: its plan, and how far it has come. It
// is the sink of its own request. All fields belong to the owner of the loop once
// the request has been submitted.
type schedule struct {
	progress.Passive
	m       medium
	c       *Comm // m, if that is one
	call    coll.Call
	away    bool    // a step's work is done without the loop
	kept    bool    // the request is persistent, see persistent.go
	starts  *uint64 // of a persistent call, see callCounts
	held    bool    // before a Recv, see progress.Loop.Hold
	carried bool    // by the goroutine that waits for it, which may poll
	busy    bool    // who has set it runs the plan, or is about to
	over    bool    // the request has been completed
	checks  bool    // the plan is that of a comparison, see check.go
	is      signature
	seq     uint32
	steps   []coll.Step
	elem    int
	o       Operands
	mem     mems

	r     *progress.Request
	next  int   // step
	open  int   // messages under way
	err   error // why it fails
	ended func(*progress.Request, error)
	hooks []func(*progress.Request, error) // of a persistent call: those of its receives

	// more, unless nil, is called when the plan has been carried out, for the next one
	// of the call, which gets the same messages' tag; it may change m. Without one the call ends with
	// err, which is no failure of its execution. closed, unless nil, is called when the
	// call has ended. Both are called under ownership.
	more   func() (p *coll.Plan, o *Operands, err error)
	closed func()
}

// longCombine is from how many bytes on a Combine, or a Copy of memory with gaps, is not
// done by the owner of the loop, which others wait for meanwhile.
const longCombine = 64 << 10

// Icollective starts a collective call and returns its request. Its place among the
// communicator's collective calls is that of this call, whenever it ends. The
// memory of o is the request's until it has completed; o itself is copied. It ends
// with ctx. Local.
func (c *Comm) Icollective(ctx context.Context, call coll.Call, p *coll.Plan, o *Operands) progress.Handle {
	x := &schedule{m: c, c: c, call: call, is: signed(call, o.Op, p.Alike).later()}
	x.take(p, o)
	c.place(x)
	c.made.start(call, p.By)
	var place [3]uintptr
	frames.Callers(&place)
	return x.begin(ctx, place)
}

// scheduled carries out a blocking call as the nonblocking one is.
func (c *Comm) scheduled(ctx context.Context, call coll.Call, p *coll.Plan, o *Operands) error {
	x := &schedule{m: c, c: c, call: call, is: signed(call, o.Op, p.Alike)}
	x.take(p, o)
	c.place(x)
	c.made.block(call, p.By)
	var place [3]uintptr
	frames.Callers(&place)
	h := x.begin(ctx, place)
	_, err := progress.WaitResult(&h)
	return err
}

// begin starts a call that has its first plan.
func (x *schedule) begin(ctx context.Context, place [3]uintptr) progress.Handle {
	x.ended = x.messageEnded
	l := x.m.Instance().Loop
	r := l.NewShared()
	r.Kind, r.Peer, r.Until, r.Place = 0, progress.AnySource, expiry.Of(ctx), place
	h := r.Handle()
	l.Submit(x, r)
	return h
}

// orphan starts such a call for the owner of the loop, whom hook tells of its end.
func (x *schedule) orphan(place [3]uintptr, hook func(*progress.Request, error)) {
	x.ended = x.messageEnded
	l := x.m.Instance().Loop
	r := l.New()
	r.Kind, r.Peer, r.Place = 0, progress.AnySource, place
	l.Step(x, r, hook)
}

// take sets the plan that is carried out next.
func (x *schedule) take(p *coll.Plan, o *Operands) {
	x.steps, x.next, x.elem, x.o = p.Steps, 0, o.Elem, *o
	x.mem = mems{coll.In: o.In, coll.Out: o.Out, coll.Temp: make([]byte, p.Temp*o.Elem)}
}

func (x *schedule) Start(r *progress.Request) {
	if x.held {
		x.held = false
		x.run()
		return
	}
	x.r, x.next, x.over = r, 0, false
	if x.kept {
		count(x.starts)
	}
	x.err = x.m.hold(x)
	x.run()
}

// run takes the call as far as it goes.
func (x *schedule) run() {
	x.busy = true
	for {
		x.walk()
		if x.open > 0 || x.away || x.held {
			x.busy = false
			return
		}
		if x.err != nil || x.more == nil {
			x.end(x.err)
			return
		}
		p, o, err := x.more()
		if p == nil {
			x.end(err)
			return
		}
		x.take(p, o)
	}
}

// end completes the request.
func (x *schedule) end(err error) {
	x.over = true
	if x.closed != nil {
		x.closed()
	}
	x.m.release(x)
	x.m.Instance().Loop.Finish(x.r, err)
}

// walk takes the plan as far as it goes.
func (x *schedule) walk() {
	tag := tagOf(x.call, x.seq) | x.is.tagBit()
	if x.checks {
		tag = tagOf(noCall, x.seq)
	}
	for x.err == nil && !x.away && x.next < len(x.steps) {
		step := &x.steps[x.next]
		if step.Do == coll.Wait && x.open > 0 {
			return
		}
		x.next++
		switch step.Do {
		case coll.Send:
			if c := x.c; c == nil || x.o.Gaps != nil || !c.P2P.StepNow(c.world(step.Peer), c.Library(), tag, x.mem.at(step.A, x.elem)) {
				x.send(step, tag)
			}
		case coll.Recv:
			switch {
			case !x.kept || !x.lone(step):
				x.recv(step, tag)
			case x.carried:
				x.await(step, tag)
			case x.c.in.Loop.Hold(x.r):
				x.next--
				x.held = true
				return
			default:
				x.recv(step, tag)
			}
		case coll.Copy:
			x.copy(step)
		case coll.Combine:
			x.combine(step)
		}
	}
}

func (x *schedule) send(step *coll.Step, tag int32) {
	x.open++
	x.m.send(x.m.world(step.Peer), tag, x.o.data(&x.mem, step.A), x.r.Place, x.ended)
}

// recv is behind x.next++.
func (x *schedule) recv(step *coll.Step, tag int32) {
	x.open++
	x.m.recv(x.m.world(step.Peer), tag, x.o.data(&x.mem, step.To), x.r.Place, x.received(x.next-1))
}

func (x *schedule) combine(step *coll.Step) {
	lower, upper, to := x.mem.at(step.A, x.elem), x.mem.at(step.B, x.elem), x.mem.at(step.To, x.elem)
	if !x.o.User && len(to) < longCombine {
		x.o.Combine(lower, upper, to)
		return
	}
	x.aside(func() { x.o.Combine(lower, upper, to) })
}

// copy carries out a Copy, without the loop if it takes long.
func (x *schedule) copy(step *coll.Step) {
	if x.o.Gaps == nil || step.To.N*x.elem < longCombine {
		x.o.copy(&x.mem, step)
		return
	}
	x.aside(func() { x.o.copy(&x.mem, step) })
}

// aside has f run without the loop. The plan goes on behind it.
func (x *schedule) aside(f func()) {
	x.away = true
	x.m.Instance().Loop.Aside(x.r, f, func(err error) {
		x.away = false
		if c := x.c; c != nil && err == nil && c.stops(x) {
			err = c.Broken() // another rank has told of a failure meanwhile
		}
		x.goOn(operatorError(err))
	})
}

// received returns the hook of a receive, the step of that number.
func (x *schedule) received(number int) func(*progress.Request, error) {
	if x.hooks != nil {
		return x.hooks[number]
	}
	step := &x.steps[number]
	want := uint64(step.To.N * x.elem)
	return func(r *progress.Request, err error) {
		if got := r.Result.Bytes; err == nil && got != want {
			err = lengthError(x.m, x.call, step.Peer, got, want)
		}
		x.messageEnded(r, err)
	}
}

// messageEnded is the hook of a message.
func (x *schedule) messageEnded(_ *progress.Request, err error) {
	x.open--
	x.goOn(err)
}

// goOn takes the plan further after something of it has ended, with err.
func (x *schedule) goOn(err error) {
	if err != nil && x.err == nil {
		x.err = err
		busy := x.busy
		x.busy = true // the plan's other messages end meanwhile
		x.err = x.m.failed(x, err)
		x.busy = busy
	}
	if !x.busy && x.open == 0 {
		x.run()
	}
}

// Cancel ends the call with the user's context: all that can still be withdrawn is,
// and the other ranks are told.
func (x *schedule) Cancel(_ *progress.Request, err error) bool {
	x.goOn(err)
	return x.over
}

// Describe says what the call is.
func (x *schedule) Describe(*progress.Request, bool) progress.Info {
	what := "creation of a communicator"
	switch {
	case x.is.what&nonblocking != 0:
		what = "nonblocking " + x.call.String()
	case x.kept:
		what = "persistent " + x.call.String()
	case x.call.Known():
		what = x.call.String()
	}
	state := "waits for messages of other ranks"
	if x.away {
		state = "runs its operator, or a long copy"
	}
	return progress.Info{Class: "collective", Name: what, Firm: true, What: what, State: state}
}
