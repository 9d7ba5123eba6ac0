package match

// posted is the queue of posted receives.
type posted struct {
	slab
	run   run
	wild  int // live entries outside the exact class
	class [classes]bins
}

// Post queues a receive for messages of context ctx from src with tag; src may
// be [AnySource] and tag may be [AnyTag] (MPI-4.0 §3.2.4). id is the caller's
// name for it, returned when it matches. The receive stands behind all that were
// posted before it (MPI-4.0 §3.5).
func (t *Table) Post(ctx uint32, src, tag int32, id uint32) Entry {
	q := &t.posted
	i := q.take()
	q.fill(i, ctx, src, tag, id)
	if q.live == 1 && src >= 0 && tag >= 0 { // the only one is a run
		q.run = run{ctx, src, tag, i, i}
		return name(i, q.seq)
	}
	if q.run.is(ctx, src, tag) {
		q.run.push(q.e, i)
		return name(i, q.seq)
	}
	c := classOf(src, tag)
	if c != exact {
		q.stow()
		q.wild++
	} else if q.begin(i, ctx, src, tag) {
		return name(i, q.seq)
	}
	q.class[c].file(q.e, i, hash(ctx, src, tag))
	return name(i, q.seq)
}

// Arrive takes the posted receive that a message of context ctx from src with
// tag matches, the first posted if there are several (MPI-4.0 §3.5), and
// returns its id. It returns false if none matches: the message is unexpected.
func (t *Table) Arrive(ctx uint32, src, tag int32) (id uint32, ok bool) {
	if t.posted.live != 0 {
		id, ok = t.posted.arrive(ctx, src, tag)
	}
	return
}

func (q *posted) arrive(ctx uint32, src, tag int32) (id uint32, ok bool) {
	if r := &q.run; r.is(ctx, src, tag) {
		e := &q.e[r.head]
		id = e.id
		i := r.head
		r.head = e.next
		q.release(i)
		return id, true
	}
	if q.wild != 0 {
		return q.arriveAny(ctx, src, tag)
	}
	b := &q.class[exact]
	if b.keys == 0 {
		return 0, false
	}
	h := hash(ctx, src, tag)
	at, s := b.home(h)
	i := s.head
	if i == 0 {
		return 0, false
	}
	e := &q.e[i]
	if s.hash != h || e.tag != tag || e.src != src || e.ctx != ctx {
		if at, i = b.find(q.e, h, ctx, src, tag); i == 0 {
			return 0, false
		}
		e = &q.e[i]
	}
	if e.next == 0 {
		b.clear(at)
	} else {
		b.advance(q.e, at, e)
	}
	q.release(i)
	return e.id, true
}

// arriveAny is arrive with wildcards posted.
func (q *posted) arriveAny(ctx uint32, src, tag int32) (id uint32, ok bool) {
	b, at, i := q.earliest(ctx, src, tag)
	if i == 0 {
		return 0, false
	}
	if b != &q.class[exact] {
		q.wild--
	}
	e := &q.e[i]
	b.pop(q.e, at, e)
	q.release(i)
	return e.id, true
}

// earliest compares the classes that are not empty. Within a class the head of
// the key's list is the earliest, so it compares heads only.
func (q *posted) earliest(ctx uint32, src, tag int32) (b *bins, at, first uint32) {
	for c := range q.class {
		cb := &q.class[c]
		if cb.keys == 0 {
			continue
		}
		s, t := class(c).mask().key(src, tag)
		k, head := cb.find(q.e, hash(ctx, s, t), ctx, s, t)
		if head != 0 && (first == 0 || q.e[head].seq < q.e[first].seq) {
			b, at, first = cb, k, head
		}
	}
	return b, at, first
}

// Withdraw removes a posted receive, as a cancel does (MPI-4.0 §3.8.4), and
// returns its id. It returns false if the receive has matched or was withdrawn
// before: either it is matched or it is cancelled, never both.
func (t *Table) Withdraw(e Entry) (id uint32, ok bool) {
	q := &t.posted
	i := q.lookup(e)
	if i == 0 {
		return 0, false
	}
	q.stow()
	c := classOf(q.e[i].src, q.e[i].tag)
	if c != exact {
		q.wild--
	}
	q.class[c].remove(q.e, i)
	id = q.e[i].id
	q.release(i)
	return id, true
}
