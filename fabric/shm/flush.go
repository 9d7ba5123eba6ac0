package shm

import (
	"errors"

	"github.com/weft-mpi/weft/fabric"
)

// flush is a Flush that waits for jobs: transfers that Poll moves on, and that
// complete in any order. Other operations were carried out when they were
// accepted.
type flush struct {
	op     fabric.Op
	number uint64 // of the last job that it covers
	left   int    // of its jobs
	err    error
}

// Flush waits for the earlier transfers. The processor writes their bytes: a
// rank that learns of the completion by messages, from rank to rank, finds them.
func (e *endpoint) Flush(op fabric.Op) error {
	if !e.up || e.d.closed.Load() {
		return e.notUp()
	}
	if len(e.d.reads) > 0 {
		e.d.readLater(e, nil, flushAddr, op)
	} else {
		e.beginFlush(op)
	}
	return nil
}

func (e *endpoint) beginFlush(op fabric.Op) {
	err := e.unsaid
	if e.unsaid = nil; e.down != nil {
		err = e.down // a handler has ended the peer
	}
	if e.running == 0 {
		e.d.done = append(e.d.done, completion{op: op, err: err})
	} else {
		e.flushes = append(e.flushes, flush{op, e.begun, e.running, err})
	}
}

// over leaves the completion of an operation to Poll, and the failure of a NoOp
// to the next Flush.
func (e *endpoint) over(op fabric.Op, err error) {
	switch {
	case op != fabric.NoOp:
		e.d.done = append(e.d.done, completion{op: op, err: err})
	case e.unsaid == nil:
		e.unsaid = err
	}
}

// ended completes a job, and every Flush that has waited for it only.
func (e *endpoint) ended(j *getJob, err error) {
	e.running--
	untold, down := j.op == fabric.NoOp, err != nil && errors.Is(err, fabric.ErrPeerDown)
	for i := range e.flushes {
		f := &e.flushes[i]
		if f.number < j.number {
			continue
		}
		if f.left--; f.err == nil && (untold || down) {
			f.err = err
		}
		untold = false
	}
	if untold || j.op != fabric.NoOp {
		e.over(j.op, err)
	}
	n := 0
	for ; n < len(e.flushes) && e.flushes[n].left == 0; n++ { // a later one waits for at least as many
		e.d.done = append(e.d.done, completion{op: e.flushes[n].op, err: e.flushes[n].err})
	}
	e.flushes = e.flushes[:copy(e.flushes, e.flushes[n:])]
}
