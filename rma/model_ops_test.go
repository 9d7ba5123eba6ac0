package rma

import (
	"bytes"

	ops "github.com/weft-mpi/weft/internal/op"
)

// on draws what a rank does with a block in a round. passive epochs have flushes and
// requests.
func (d planner) on(b *modelBlock, o, round int, passive bool) (list []item) {
	add := func(x Transfer) {
		x.Target, x.At = b.rank, x.At+b.at
		m := &modelOp{b: b, x: x, place: x.At, value: bytes.Clone(x.Src), origin: o, round: round}
		m.named = passive && d.r.IntN(4) == 0
		m.waits = d.r.IntN(2) == 0
		if d.r.IntN(2) == 0 {
			d.spread(m)
		}
		list = append(list, item{kind: itemOp, win: b.win, target: b.rank, op: m, block: b})
	}
	flush := func(local bool) {
		it := item{kind: itemFlush, win: b.win, target: b.rank, local: local}
		if d.r.IntN(3) == 0 {
			it.kind = itemFlushAll
		}
		list = append(list, it)
	}
	switch b.role {
	case bytesOfAnybody:
		for range 1 + d.r.IntN(3) {
			at := d.r.IntN(b.n + 1)
			n := d.r.IntN(b.n - at + 1)
			x := Transfer{At: at}
			if d.r.IntN(2) == 0 {
				x.Old = make([]byte, n)
			} else {
				x.Src = make([]byte, n)
				for i := range x.Src {
					x.Src[i] = byte(d.r.Uint32())
				}
			}
			add(x)
			if passive && d.r.IntN(2) == 0 {
				flush(d.r.IntN(3) == 0)
			}
		}
		if passive && d.r.IntN(4) == 0 {
			list = append(list, item{kind: itemSync, win: b.win, target: b.rank})
		}
	case elementsOfAnybody:
		for range 1 + d.r.IntN(3) {
			if b.room--; b.room < 0 {
				return list
			}
			add(d.accumulate(b))
			if passive && d.r.IntN(3) == 0 {
				flush(d.r.IntN(2) == 0)
			}
		}
	case ofOne:
		if o == b.origin {
			d.alone(b, add, flush, passive)
		}
	case counted:
		kind := itemCount
		if d.r.IntN(3) == 0 {
			kind = itemPeek
		}
		list = append(list, item{kind: kind, win: b.win, target: b.rank, block: b})
	}
	return list
}

// accumulate draws an accumulate on a block.
func (d planner) accumulate(b *modelBlock) Transfer {
	size := b.kind.Size()
	from := d.r.IntN(b.n / size)
	count := d.r.IntN(b.n/size - from + 1)
	x := Transfer{At: from * size, Kind: b.kind, Code: b.codes[d.r.IntN(len(b.codes))]}
	if x.Code == 0 {
		x.Compare, x.Src, x.Old = d.elements(b, size), d.elements(b, size), make([]byte, size)
		if d.r.IntN(2) == 0 {
			copy(x.Compare, b.first[x.At:])
		}
		x.Code = ops.CodeReplace // which a compare-and-swap does not look at
		return x
	}
	if d.r.IntN(3) == 0 {
		count = 1
	}
	x.Src = d.elements(b, count*size)
	if d.r.IntN(2) == 0 || x.Code == ops.CodeNoOp {
		x.Old = make([]byte, count*size)
	}
	if x.Code == ops.CodeNoOp && d.r.IntN(2) == 0 {
		x.Src = nil
	}
	return x
}

// alone draws operations of one rank: accumulates in a row, or one Put, or Gets, and
// flushes between these.
func (d planner) alone(b *modelBlock, add func(Transfer), flush func(bool), passive bool) {
	size := b.kind.Size()
	for range 1 + d.r.IntN(4) {
		switch d.r.IntN(3) {
		case 0:
			for range 1 + d.r.IntN(4) {
				add(d.accumulate(b))
			}
		case 1:
			from := d.r.IntN(b.n / size)
			n := d.r.IntN(b.n/size - from + 1)
			add(Transfer{At: from * size, Src: d.elements(b, n*size)})
		default:
			for range 1 + d.r.IntN(2) {
				from := d.r.IntN(b.n)
				add(Transfer{At: from, Old: make([]byte, d.r.IntN(b.n-from+1))})
			}
		}
		if !passive {
			return
		}
		flush(false)
	}
}
