package match

// The lists of entries that share a key, linked through the entries themselves.
// Every entry is in exactly one: that of its own key.

// chain appends i, a list of one, to the list that begins with head.
func chain(es []entry, head, i uint32) {
	h := &es[head]
	es[i].prev = h.prev
	es[h.prev].next = i
	h.prev = i
}

// file appends i, a list of one, to the list of its key, whose hash is h.
func (b *bins) file(es []entry, i, h uint32) {
	b.reserve()
	_, s := b.home(h)
	if s.head == 0 {
		s.hash, s.head = h, i
		b.keys++
		return
	}
	if s.hash == h {
		// Mostly the key's own list: no need to search for it.
		e, first := &es[i], &es[s.head]
		if (first.tag^e.tag)&^b.tagAny == 0 && (first.src^e.src)&^b.srcAny == 0 && first.ctx == e.ctx {
			chain(es, s.head, i)
			return
		}
	}
	if head := b.claim(es, h, i); head != 0 {
		chain(es, head, i)
	}
}

// pop takes head off the list that slot at leads to.
func (b *bins) pop(es []entry, at uint32, head *entry) {
	if head.next == 0 {
		b.clear(at)
	} else {
		b.advance(es, at, head)
	}
}

// advance is pop for a list of more than one.
func (b *bins) advance(es []entry, at uint32, head *entry) {
	b.slots[at].head = head.next
	es[head.next].prev = head.prev
}

// remove takes entry i out of its list, wherever in it i stands.
func (b *bins) remove(es []entry, i uint32) {
	e := &es[i]
	if e.next != 0 && es[e.prev].next == i {
		es[e.prev].next = e.next
		es[e.next].prev = e.prev
		return
	}
	at, head := b.find(es, hash(e.ctx, e.src, e.tag), e.ctx, e.src, e.tag)
	if head == i {
		b.pop(es, at, e)
		return
	}
	es[e.prev].next = 0
	es[head].prev = e.prev
}
