package datatype

// marks gathers the bounds of a type from those of its parts: copies of types at
// displacements. The zero value is that of no parts.
type marks struct {
	lb, ub       int
	lbSet, ubSet bool
	any          bool // there is data
	lo, hi       int  // of the data
	align        int
}

// put adds copies of t, of which the first lies at the displacement first and the
// last at last; all are between.
func (m *marks) put(k *checked, t *Type, first, last int) {
	first, last = min(first, last), max(first, last)
	if t.lbSet {
		lb := k.add(first, t.lb)
		if !m.lbSet || lb < m.lb {
			m.lb, m.lbSet = lb, true
		}
	}
	if t.ubSet {
		ub := k.add(last, t.ub)
		if !m.ubSet || ub > m.ub {
			m.ub, m.ubSet = ub, true
		}
	}
	if t.place.node == nil {
		return
	}
	lo, hi := k.add(first, t.at+t.lo), k.add(last, t.at+t.hi)
	if !m.any {
		m.any, m.lo, m.hi, m.align = true, lo, hi, t.align
		return
	}
	m.lo, m.hi, m.align = min(m.lo, lo), max(m.hi, hi), max(m.align, t.align)
}

// bounds applies MPI's definition (MPI-4.0 §5.1.7).
func (m *marks) bounds(k *checked) (b bounds) {
	b = bounds{m.lb, m.ub, m.lbSet, m.ubSet}
	if !b.lbSet {
		b.lb = m.lo
	}
	if !b.ubSet {
		b.ub = m.hi
		if m.any {
			if over := k.sub(b.ub, b.lb) % m.align; over > 0 {
				b.ub = k.add(b.ub, m.align-over)
			}
		}
	}
	return b
}
