package match

import (
	"cmp"
	"slices"
)

// wildIndex is an index of the unexpected messages for the receives of one
// wildcard class: the messages strung up in order of arrival by source, by tag
// or by context alone. Its links stand beside the slab, index by index, so that
// a rank that never receives with wildcards has entries half the size.
type wildIndex struct {
	bins
	links []link
}

// push appends message i to the list of its wildcard key.
func (w *wildIndex) push(es []entry, i uint32) {
	if len(w.links) < len(es) {
		// The slab doubles, so this does.
		links := make([]link, len(es))
		copy(links, w.links)
		w.links = links
	}
	w.reserve()
	e := &es[i]
	l := link{0, i}
	src, tag := w.key(e.src, e.tag)
	if head := w.claim(es, hash(e.ctx, src, tag), i); head != 0 {
		l.prev = w.links[head].prev
		w.links[l.prev].next = i
		w.links[head].prev = i
	}
	w.links[i] = l
}

// remove takes message i out of its list, wherever in it i stands.
func (w *wildIndex) remove(es []entry, i uint32) {
	l := w.links[i]
	if l.next != 0 && w.links[l.prev].next == i {
		w.links[l.prev].next = l.next
		w.links[l.next].prev = l.prev
		return
	}
	e := &es[i]
	src, tag := w.key(e.src, e.tag)
	at, head := w.find(es, hash(e.ctx, src, tag), e.ctx, src, tag)
	switch {
	case head != i:
		w.links[l.prev].next = 0
		w.links[head].prev = l.prev
	case l.next == 0:
		w.clear(at)
	default:
		w.slots[at].head = l.next
		w.links[l.next].prev = l.prev
	}
}

// index enters message i, the latest to arrive, into every index kept.
func (q *unexpected) index(i uint32) {
	for c := anyTag; c < classes; c++ {
		if q.kept&(1<<c) != 0 {
			q.wild[c].push(q.e, i)
		}
	}
}

// unindex takes message i out of every index kept.
func (q *unexpected) unindex(i uint32) {
	for c := anyTag; c < classes; c++ {
		if q.kept&(1<<c) != 0 {
			q.wild[c].remove(q.e, i)
		}
	}
	if q.live == 1 {
		q.forgo()
	}
}

// forgo stops keeping the indices that are not in use. An index of nothing costs
// nothing until the next arrival, and one goes only after as many arrivals
// without use as build visits slots: they have paid for building it again.
// Precondition: every index kept is empty.
func (q *unexpected) forgo() {
	for c := anyTag; c < classes; c++ {
		if q.kept&(1<<c) != 0 && q.seq-q.used[c] > uint64(len(q.e)) {
			q.kept &^= 1 << c
		}
	}
}

// build makes the index of class c, which is empty, complete. The slab does not
// keep messages in order of arrival, hence the sort; slots are handed out mostly
// in order, which the sort is quick to notice.
//
//go:noinline
func (q *unexpected) build(c class) {
	order := q.order[:0]
	for i := range q.e {
		if q.e[i].seq != 0 {
			order = append(order, uint32(i))
		}
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(q.e[a].seq, q.e[b].seq) })
	w := &q.wild[c]
	w.mask = c.mask()
	for _, i := range order {
		w.push(q.e, i)
	}
	q.order = order
	q.kept |= 1 << c
}
