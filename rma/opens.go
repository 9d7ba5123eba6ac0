package rma

// opens are operations with a target that have not ended, in the order in which they
// began.
type opens struct{ first, last *action }

// add puts o behind the others.
func (q *opens) add(o *action) {
	o.before, o.behind = q.last, nil
	if q.last == nil {
		q.first = o
	} else {
		q.last.behind = o
	}
	q.last = o
}

// remove takes o out.
func (q *opens) remove(o *action) {
	if o.before == nil {
		q.first = o.behind
	} else {
		o.before.behind = o.behind
	}
	if o.behind == nil {
		q.last = o.before
	} else {
		o.behind.before = o.before
	}
	o.before, o.behind = nil, nil
}

// any reports whether f says so of one of them.
func (q *opens) any(f func(*action) bool) bool {
	for o := q.first; o != nil; o = o.behind {
		if f(o) {
			return true
		}
	}
	return false
}
