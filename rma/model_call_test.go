package rma

import (
	"errors"

	"github.com/weft-mpi/weft/progress"
)

// call calls an operation.
func (k *modelRank) call(it item) error {
	o, w := it.op, k.m.wins[it.win]
	x := w.all[k.rank]
	o.flushes = k.flushes[[2]int{it.win, it.target}]
	o.round = k.round
	o.from, o.to = k.m.clock.Add(1), 1<<62
	k.open = append(k.open, o)
	var h progress.Handle
	var err error
	switch y := o.typed; {
	case y != nil:
		y.x.At = w.at(it.target, o.b.at) + y.shift
		if !o.named {
			return x.DoTyped(&y.x)
		}
		h, err = x.BeginTyped(&y.x)
	default:
		o.x.At = w.at(it.target, o.x.At)
		if !o.named {
			return x.Do(&o.x)
		}
		h, err = x.Begin(&o.x)
	}
	if err != nil {
		return err
	}
	k.handles[o] = h
	if o.waits {
		return k.finish(o)
	}
	return nil
}

// finish waits for an operation's request.
func (k *modelRank) finish(o *modelOp) error {
	h, ok := k.handles[o]
	if !ok {
		return nil
	}
	delete(k.handles, o)
	_, err := progress.WaitResult(&h)
	k.returned(o)
	return err
}

// returned takes the memory of an operation back.
func (k *modelRank) returned(o *modelOp) {
	y := o.typed
	if o.x.Old != nil && o.got == nil {
		if y == nil {
			o.got = append([]byte{}, o.x.Old...)
		} else {
			var err error
			if o.got, err = y.old.gather(); err != nil {
				k.failed = errors.Join(k.failed, err)
			}
		}
		o.to = k.m.clock.Add(1)
	}
	spoil(o.x.Src, 0xEE)
	spoil(o.x.Old, 0xDD)
	if y != nil {
		spoil(y.x.Src.Mem, 0xEE)
		spoil(y.x.Old.Mem, 0xDD)
	}
}

// spoil makes memory useless.
func spoil(b []byte, with byte) {
	for i := range b {
		b[i] = with
	}
}

// settle follows a flush of a target, or of all.
func (k *modelRank) settle(win, target int, remote bool) {
	rest := k.open[:0]
	for _, o := range k.open {
		if o.b.win != win || target >= 0 && o.b.rank != target {
			rest = append(rest, o)
			continue
		}
		if err := k.finish(o); err != nil {
			k.failed = errors.Join(k.failed, err)
		}
		k.returned(o)
		if !remote {
			rest = append(rest, o)
		} else if o.x.Old == nil {
			o.to = k.m.clock.Add(1)
		}
	}
	k.open = rest
	if remote {
		for t := range k.m.p.n {
			if target < 0 || t == target {
				k.flushes[[2]int{win, t}]++
			}
		}
	}
}
