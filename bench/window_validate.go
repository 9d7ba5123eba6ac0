package bench

// What a place holds before the round of a validation: the patterns of these iterations,
// that of rank r of r more.
const (
	heldBefore = 7
	originOf   = 50
)

// validate makes one more round, on known values, and returns on rank 0 how many
// elements are wrong behind it at both ranks.
func (w *oneSided[T]) validate(calls *rounds, size int) (int, error) {
	c, me := w.j.c, w.j.c.Rank()
	for i := range w.local {
		w.local[i] = pattern[T](i, size, heldBefore+me)
		w.origin[i] = pattern[T](i, size, originOf+me)
	}
	for i := range w.compare { // equal: all are swapped
		w.compare[i] = pattern[T](i, size, heldBefore+w.peer)
	}
	clear(w.result)
	if _, err := calls.measure(c, 1, 0, nil); err != nil {
		return 0, err
	}
	return w.j.addErrors(w.wrong(calls, size), 1)
}

// wrong counts the elements of this rank that are not what the round of validate makes
// of them.
func (w *oneSided[T]) wrong(calls *rounds, size int) (errors int) {
	me := w.j.c.Rank()
	// held is what the gaps between elements that are sent have had before.
	differ := func(got []T, want, held func(i int) T) {
		for i, v := range got {
			is := want
			if w.sent != nil && !w.sent[i%w.n] {
				is = held
			}
			if v != is(i) {
				errors++
			}
		}
	}
	old := func(i int) T { return pattern[T](i, size, heldBefore+me) }
	theirs := func(i int) T { return pattern[T](i, size, originOf+w.peer) }
	after := theirs
	switch w.j.Name {
	case "get_latency", "get_bw":
		after = old
	case "acc_latency", "get_acc_latency", "fop_latency":
		after = func(i int) T { return old(i) + theirs(i) }
	}
	if !calls.suffers {
		after = old
	}
	differ(w.local, after, old)
	if !calls.issues {
		return errors
	}
	fetched := w.result
	if w.j.gets() {
		fetched = w.origin
	}
	mine := func(i int) T { return pattern[T](i, size, originOf+me) }
	differ(fetched, func(i int) T { return pattern[T](i, size, heldBefore+w.peer) }, mine)
	return errors
}
