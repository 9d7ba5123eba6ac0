package rma

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"sort"
	"sync/atomic"

	ops "github.com/weft-mpi/weft/internal/op"
)

// check compares what ranks have found with what the model allows, and goes on from
// there.
func (m *modelRun) check(s *modelStep) error {
	calls := map[*modelBlock][][]*modelOp{} // by origin, in their order
	for o := range s.items {
		for round := range s.items[o] {
			gather(s.items[o][round], func(op *modelOp) {
				if calls[op.b] == nil {
					calls[op.b] = make([][]*modelOp, m.p.n)
				}
				calls[op.b][o] = append(calls[op.b][o], op)
			})
		}
	}
	for _, b := range s.blocks {
		w := m.wins[b.win]
		now, after := w.now[b.rank][b.at:b.at+b.n], w.after[b.rank][b.at:b.at+b.n]
		if b.first != nil {
			copy(now, b.first)
		}
		var err error
		switch b.role {
		case bytesOfAnybody:
			err = b.checkBytes(calls[b], now, after)
		case elementsOfAnybody:
			err = b.checkElements(calls[b], now, after)
		case ofOne:
			if all := calls[b]; all != nil {
				err = b.checkAlone(all[b.origin], now)
			}
			if err == nil && !bytes.Equal(plain(b.kind, now), plain(b.kind, after)) {
				err = fmt.Errorf("% x, want % x", after, now)
			}
		case counted:
			want := binary.NativeEndian.Uint64(now)
			if n, ok := w.counts.Load(b); ok {
				want += uint64(n.(*atomic.Int64).Load())
			}
			if got := binary.NativeEndian.Uint64(after); got != want {
				err = fmt.Errorf("counted %d too far", int64(got-want))
			}
		}
		if err != nil {
			return fmt.Errorf("window %d (%+v), %d bytes at %d of rank %d, role %d of %v: %w", b.win, *s.use[b.win], b.n, b.at, b.rank, b.role, b.kind, err)
		}
		copy(now, after)
	}
	for _, i := range s.wins {
		for r := range m.p.n {
			if w := m.wins[i]; !bytes.Equal(w.now[r], w.after[r]) {
				return fmt.Errorf("window %d: rank %d has bytes that no operation was about", i, r)
			}
		}
	}
	return nil
}

func gather(items []item, f func(*modelOp)) {
	for _, it := range items {
		if it.op != nil {
			f(it.op)
		}
		gather(it.items, f)
	}
}

// plain makes NaNs alike, and zeros.
func plain(k ops.Kind, b []byte) []byte {
	part := map[ops.Kind]int{ops.Float32: 4, ops.Complex64: 4, ops.Float64: 8, ops.Complex128: 8}[k]
	if part == 0 {
		return b
	}
	b = bytes.Clone(b)
	for at := 0; at+part <= len(b); at += part {
		switch x := floatIn(b[at : at+part]); {
		case x != x:
			setFloat(b[at:at+part], math.NaN())
		case x == 0:
			setFloat(b[at:at+part], 0)
		}
	}
	return b
}

// checkBytes: a byte is what any Put has left that no later one has covered. Those of
// one rank are ordered by its flushes, those of several by rounds.
func (b *modelBlock) checkBytes(calls [][]*modelOp, first, last []byte) error {
	type result struct {
		by    *modelOp
		value byte
	}
	var puts []*modelOp
	got := make([][]result, b.n)
	for _, list := range calls {
		for _, o := range list {
			if o.x.Old == nil {
				puts = append(puts, o)
				continue
			}
			for i, v := range o.got {
				at := o.cell(i) - b.at
				got[at] = append(got[at], result{o, v})
			}
		}
	}
	before := func(p, q *modelOp) bool {
		return p.round < q.round || p.origin == q.origin && p.flushes < q.flushes
	}
	for i := range b.n {
		var here []*modelOp
		for _, p := range puts {
			if p.index(b.at+i) >= 0 {
				here = append(here, p)
			}
		}
		// of is what the byte may be for o, or in the end.
		of := func(o *modelOp, v byte) bool {
			fresh := false
			for _, p := range here {
				past := o == nil || before(p, o)
				fresh = fresh || past
				covered := false
				for _, q := range here {
					covered = covered || (o == nil || before(q, o)) && before(p, q)
				}
				if !covered && (o == nil || !before(o, p)) && p.value[p.index(b.at+i)] == v {
					return true
				}
			}
			return !fresh && v == first[i]
		}
		if !of(nil, last[i]) {
			return fmt.Errorf("byte %d is %#x: no Put has left that", i, last[i])
		}
		for _, g := range got[i] {
			if !of(g.by, g.value) {
				return fmt.Errorf("rank %d has got %#x of byte %d: no Put has left that", g.by.origin, g.value, i)
			}
		}
	}
	return nil
}

// checkAlone does what one rank has done, in order.
func (b *modelBlock) checkAlone(calls []*modelOp, now []byte) error {
	for _, o := range calls {
		n := max(len(o.value), len(o.got))
		was := make([]byte, n)
		for i := range was {
			was[i] = now[o.cell(i)-b.at]
		}
		to := append(alignedBytes(0), was...)
		kind := b.kind
		switch {
		case o.x.Kind == 0 && o.x.Old == nil:
			copy(to, o.value)
		case o.x.Kind == 0: // bytes
			kind = 0
		case o.x.Compare != nil:
			if bytes.Equal(to, o.x.Compare) {
				copy(to, o.value)
			}
		default:
			naive(o.x.Code, b.kind, to, o.value)
		}
		if o.x.Old != nil && !b.sameOld(kind, o, was) {
			return fmt.Errorf("rank %d has got % x at %d, want % x", o.origin, o.got, o.place-b.at, was)
		}
		if o.x.Kind != 0 || o.x.Old == nil {
			for i, v := range to {
				now[o.cell(i)-b.at] = v
			}
		}
	}
	return nil
}

// sameOld compares a result. A Get of bytes may begin within an element: numbers that
// are not whole are compared bit by bit only if they are no numbers with several forms.
func (b *modelBlock) sameOld(k ops.Kind, o *modelOp, was []byte) bool {
	if k == 0 && b.kind >= ops.Float32 {
		return len(o.got) == len(was)
	}
	return bytes.Equal(plain(k, o.got), plain(k, was))
}

// checkElements: for each element, some order of the operations on it explains its
// last value and all results. Those of one rank keep their order.
func (b *modelBlock) checkElements(calls [][]*modelOp, first, last []byte) error {
	size := b.kind.Size()
	for at := 0; at < b.n; at += size {
		h := history{kind: b.kind, last: string(plain(b.kind, last[at:at+size]))}
		for _, list := range calls {
			var mine []elementCall
			for _, o := range list {
				from := o.index(b.at + at)
				if from < 0 {
					continue
				}
				c := elementCall{code: o.x.Code, round: o.round, from: o.from, to: o.to, swaps: o.x.Compare != nil, compare: o.x.Compare}
				if o.value != nil {
					c.value = o.value[from : from+size]
				}
				if o.x.Old != nil {
					c.old = plain(b.kind, o.got[from:from+size])
				}
				mine = append(mine, c)
			}
			for i := len(mine) - 2; i >= 0; i-- { // what came before a result was there before
				mine[i].to = min(mine[i].to, mine[i+1].to)
			}
			h.calls = append(h.calls, mine)
		}
		if !h.explained(plain(b.kind, first[at:at+size])) {
			return fmt.Errorf("no order of %+v leads from % x to % x", h.calls, first[at:at+size], last[at:at+size])
		}
	}
	return nil
}

// elementCall is an operation on one element.
type elementCall struct {
	code           ops.Code
	swaps          bool
	value, compare []byte
	old            []byte // as it was found, or nil
	round          int
	from, to       int64
}

// history is what ranks have done with an element.
type history struct {
	kind  ops.Kind
	calls [][]elementCall
	last  string
	seen  map[string]bool
	next  []byte // of each rank, its next call
}

func (h *history) explained(now []byte) bool {
	if h.seen == nil {
		h.seen, h.next = map[string]bool{}, make([]byte, len(h.calls))
	}
	key := string(h.next) + string(now)
	if h.seen[key] {
		return false
	}
	h.seen[key] = true
	left, round, returned := false, math.MaxInt, int64(math.MaxInt64)
	for r, list := range h.calls {
		if i := int(h.next[r]); i < len(list) {
			left = true
			round, returned = min(round, list[i].round), min(returned, list[i].to)
		}
	}
	if !left {
		return string(now) == h.last
	}
	for r, list := range h.calls {
		i := int(h.next[r])
		if i == len(list) || list[i].round > round || list[i].from > returned {
			continue
		}
		c := list[i]
		if c.old != nil && !bytes.Equal(c.old, now) {
			continue
		}
		to := bytes.Clone(now)
		switch {
		case c.swaps && bytes.Equal(to, c.compare):
			copy(to, c.value)
		case !c.swaps:
			naive(c.code, h.kind, to, c.value)
		}
		h.next[r]++
		ok := h.explained(plain(h.kind, to))
		h.next[r]--
		if ok {
			return true
		}
	}
	return false
}

// ways tells of a program in short.
func (p *modelPlan) String() string {
	var all []string
	for a := range p.n {
		for b := range a {
			all = append(all, p.ways[a][b].String())
		}
	}
	sort.Strings(all)
	return fmt.Sprintf("%d ranks, packets of %d bytes, %v, windows %+v", p.n, p.eager, all, p.wins)
}
