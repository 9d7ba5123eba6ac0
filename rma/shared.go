package rma

import "math"

// Extent is the length of a part of a shared window, and its displacement unit, in
// bytes.
type Extent struct {
	Bytes, Unit int
	Adjoins     bool // the next part begins where this one ends
}

// apart is the alignment of the parts of a shared window: a cache line.
const apart = 64

// offset is how far behind this part the next one begins: if no part adjoins, all begin at
// multiples of apart.
func (x Extent) offset() int {
	if x.Adjoins {
		return x.Bytes
	}
	return (x.Bytes + apart - 1) &^ (apart - 1)
}

// Total is the length of the memory of a shared window with these parts, and whether
// there is such a length.
func Total(parts []Extent) (n int, ok bool) {
	for _, x := range parts {
		if x.Bytes < 0 || x.Bytes > math.MaxInt-apart || x.offset() > math.MaxInt-n {
			return 0, false
		}
		n += x.offset()
	}
	return n, true
}

// Divide makes a window, all of whose memory rank 0 has exposed, one of a part for each
// rank, one behind the other, and reports whether this rank reaches all of it. It
// follows Join. Local.
func (w *Win) Divide(parts []Extent) bool {
	whole, at := w.targets[0].mem, 0
	if !w.AllReached() {
		return false
	}
	for i, x := range parts {
		t := &w.targets[i]
		t.size, t.unit, t.mem = x.Bytes, x.Unit, whole[at:at+x.Bytes:at+x.Bytes]
		at += x.offset()
	}
	w.e.loop.Exclusive(func() { w.mem = w.targets[w.rank].mem }) // packets may be served
	return true
}

// AllReached reports whether loads and stores reach the parts of all ranks. Local.
func (w *Win) AllReached() bool {
	for i := range w.targets {
		if w.targets[i].mem == nil {
			return false
		}
	}
	return true
}
