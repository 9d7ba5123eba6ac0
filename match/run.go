package match

// run is the list of one exact key, kept beside the bins. Receives come in runs
// of one key, a window of them or one after the other: those need neither hash
// nor look-up. There is none while wildcards are posted: an arrival then has all
// lists in the bins to compare.
type run struct {
	ctx        uint32
	src, tag   int32
	head, tail uint32 // head is 0: no run
}

func (r *run) is(ctx uint32, src, tag int32) bool {
	return r.head != 0 && r.tag == tag && r.src == src && r.ctx == ctx
}

// push appends entry i, a list of one of the run's key.
func (r *run) push(es []entry, i uint32) {
	es[r.tail].next, es[i].prev = i, r.tail
	r.tail = i
}

// begin makes entry i, a list of one, the run, unless there is one or the bins
// know the key.
func (q *posted) begin(i, ctx uint32, src, tag int32) bool {
	if q.run.head != 0 || q.wild != 0 {
		return false
	}
	if b := &q.class[exact]; b.keys != 0 {
		if _, head := b.find(q.e, hash(ctx, src, tag), ctx, src, tag); head != 0 {
			return false
		}
	}
	q.run = run{ctx, src, tag, i, i}
	return true
}

// stow moves the run into the bins.
func (q *posted) stow() {
	r := &q.run
	if r.head == 0 {
		return
	}
	q.e[r.head].prev = r.tail
	b := &q.class[exact]
	b.reserve()
	b.claim(q.e, hash(r.ctx, r.src, r.tag), r.head)
	r.head = 0
}
