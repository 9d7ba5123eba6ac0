package rma

import (
	"bytes"
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
	o.x.At = w.at(it.target, o.x.At)
	k.open = append(k.open, o)
	if !o.named {
		return x.Do(&o.x)
	}
	h, err := x.Begin(&o.x)
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
	if o.x.Old != nil && o.got == nil {
		o.got = append([]byte{}, o.x.Old...)
		o.to = k.m.clock.Add(1)
	}
	copy(o.x.Src, bytes.Repeat([]byte{0xEE}, len(o.x.Src)))
	copy(o.x.Old, bytes.Repeat([]byte{0xDD}, len(o.x.Old)))
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
