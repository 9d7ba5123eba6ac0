package match

import "fmt"

// check verifies what every call relies on and leaves true.
func (t *Table) check() error {
	q := &t.posted
	lists := 0
	wild := 0
	for c := range q.class {
		n, err := q.class[c].check(q.e, func(i uint32) link { return q.e[i].link })
		if err != nil {
			return fmt.Errorf("posted class %d: %w", c, err)
		}
		lists += n
		if class(c) != exact {
			wild += n
		}
	}
	if r := &q.run; r.head != 0 {
		n := 0
		for i, seq := r.head, uint64(0); i != 0; i = q.e[i].next {
			if e := q.e[i]; e.ctx != r.ctx || e.src != r.src || e.tag != r.tag || e.seq <= seq || e.next == 0 && i != r.tail {
				return fmt.Errorf("posted: entry %d is not in its place in the run", i)
			}
			seq = q.e[i].seq
			n++
		}
		if b := &q.class[exact]; b.keys != 0 {
			if _, head := b.find(q.e, hash(r.ctx, r.src, r.tag), r.ctx, r.src, r.tag); head != 0 {
				return fmt.Errorf("posted: the bins know the key of the run")
			}
		}
		if wild != 0 {
			return fmt.Errorf("posted: a run beside %d wildcards", wild)
		}
		lists += n
	}
	if lists != q.live || wild != q.wild {
		return fmt.Errorf("posted: %d in lists, %d of them wild; counted %d, %d", lists, wild, q.live, q.wild)
	}
	if err := q.slab.check(); err != nil {
		return fmt.Errorf("posted: %w", err)
	}
	u := &t.unexpected
	if n, err := u.exact.check(u.e, func(i uint32) link { return u.e[i].link }); err != nil || n != u.live {
		return fmt.Errorf("unexpected: %d in lists of %d: %w", n, u.live, err)
	}
	for c := anyTag; c < classes; c++ {
		w := &u.wild[c]
		want := 0
		if u.kept&(1<<c) != 0 {
			want = u.live
		}
		if n, err := w.check(u.e, func(i uint32) link { return w.links[i] }); err != nil || n != want {
			return fmt.Errorf("unexpected index %d: %d in lists, want %d: %w", c, n, want, err)
		}
	}
	if err := u.slab.check(); err != nil {
		return fmt.Errorf("unexpected: %w", err)
	}
	return nil
}

// check verifies that every key can be found, and that its list is in order and
// knows its tail. It returns the number of entries in all lists.
func (b *bins) check(es []entry, at func(i uint32) link) (n int, err error) {
	keys := 0
	for k, s := range b.slots {
		if s.head == 0 {
			continue
		}
		keys++
		h := es[s.head]
		src, tag := b.key(h.src, h.tag)
		if got, head := b.find(es, hash(h.ctx, src, tag), h.ctx, src, tag); int(got) != k || head != s.head {
			return n, fmt.Errorf("head %d in slot %d, found %d in %d", s.head, k, head, got)
		}
		tail, seq := uint32(0), uint64(0)
		for i := s.head; i != 0; i = at(i).next {
			e := es[i]
			if i != s.head && at(i).prev != tail {
				return n, fmt.Errorf("entry %d: prev %d, want %d", i, at(i).prev, tail)
			}
			if s, t := b.key(e.src, e.tag); e.ctx != h.ctx || s != src || t != tag {
				return n, fmt.Errorf("entry %d in the list of another key", i)
			}
			if e.seq <= seq {
				return n, fmt.Errorf("entry %d out of order", i)
			}
			tail, seq = i, e.seq
			n++
		}
		if at(s.head).prev != tail {
			return n, fmt.Errorf("head %d: tail %d, want %d", s.head, at(s.head).prev, tail)
		}
	}
	if keys != int(b.keys) || 2*keys > len(b.slots) {
		return n, fmt.Errorf("%d keys, counted %d, %d slots", keys, b.keys, len(b.slots))
	}
	return n, nil
}

// check verifies that every slot is either live or free.
func (s *slab) check() error {
	live, free := 0, 0
	for i := range s.e {
		if s.e[i].seq != 0 {
			live++
		}
	}
	for i := s.free; i != 0; i = s.e[i].next {
		if s.e[i].seq != 0 {
			return fmt.Errorf("slot %d is live and free", i)
		}
		free++
	}
	if live != s.live || live+free != max(0, len(s.e)-1) {
		return fmt.Errorf("%d live (counted %d) and %d free of %d slots", live, s.live, free, len(s.e))
	}
	return nil
}
