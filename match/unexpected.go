package match

// unexpected is the queue of messages that no receive has asked for yet. Every
// message is listed under its exact key, and in each wildcard index kept.
type unexpected struct {
	slab
	exact bins
	kept  uint32             // bit c: wild[c] is kept up to date
	used  [classes]uint64    // seq when wild[c] was last asked
	wild  [classes]wildIndex // wild[exact] is unused
	order []uint32           // scratch of build
}

// AddUnexpected queues a message of context ctx from src with tag that
// [Table.Arrive] found no receive for. id is the caller's name for it. The
// message stands behind all that arrived before it (MPI-4.0 §3.5).
func (t *Table) AddUnexpected(ctx uint32, src, tag int32, id uint32) Entry {
	q := &t.unexpected
	i := q.take()
	q.fill(i, ctx, src, tag, id)
	q.exact.file(q.e, i, hash(ctx, src, tag))
	if q.kept != 0 {
		q.index(i)
	}
	t.changed()
	return name(i, q.seq)
}

// TakeUnexpected takes the unexpected message that a receive matches, the first
// to have arrived if there are several (MPI-4.0 §3.5), and returns its id. src
// may be [AnySource] and tag may be [AnyTag] (MPI-4.0 §3.2.4). It returns false
// if no message matches: the receive is to be posted.
func (t *Table) TakeUnexpected(ctx uint32, src, tag int32) (id uint32, ok bool) {
	if t.unexpected.live != 0 {
		id, ok = t.unexpected.match(ctx, src, tag)
		t.changed()
	}
	return
}

// PeekUnexpected returns what [Table.TakeUnexpected] would, and leaves the
// message in the queue (probe, MPI-4.0 §3.8.1). A matched probe (§3.8.2) takes.
func (t *Table) PeekUnexpected(ctx uint32, src, tag int32) (id uint32, ok bool) {
	if t.unexpected.live == 0 {
		return 0, false
	}
	q := &t.unexpected
	i := q.find(ctx, src, tag)
	return q.e[i].id, i != 0
}

// DropUnexpected removes a message, when its sender cancels it or has died, and
// returns its id. It returns false if the message was taken or dropped before.
func (t *Table) DropUnexpected(e Entry) (id uint32, ok bool) {
	q := &t.unexpected
	i := q.lookup(e)
	if i == 0 {
		return 0, false
	}
	q.exact.remove(q.e, i)
	id = q.remove(i)
	t.changed()
	return id, true
}

// find returns the earliest message that the receive matches, or 0.
func (q *unexpected) find(ctx uint32, src, tag int32) (i uint32) {
	b := &q.exact
	if c := classOf(src, tag); c != exact {
		q.used[c] = q.seq
		if q.kept&(1<<c) == 0 {
			q.build(c)
		}
		b = &q.wild[c].bins
	}
	_, i = b.find(q.e, hash(ctx, src, tag), ctx, src, tag)
	return i
}

func (q *unexpected) match(ctx uint32, src, tag int32) (id uint32, ok bool) {
	if classOf(src, tag) == exact {
		at, i := q.exact.find(q.e, hash(ctx, src, tag), ctx, src, tag)
		if i == 0 {
			return 0, false
		}
		e := &q.e[i]
		if e.next == 0 {
			q.exact.clear(at)
		} else {
			q.exact.advance(q.e, at, e)
		}
		return q.remove(i), true
	}
	i := q.find(ctx, src, tag)
	if i == 0 {
		return 0, false
	}
	q.exact.remove(q.e, i)
	return q.remove(i), true
}

// remove frees message i, which has left its exact list.
func (q *unexpected) remove(i uint32) (id uint32) {
	if q.kept != 0 {
		q.unindex(i)
	}
	q.release(i)
	return q.e[i].id
}
