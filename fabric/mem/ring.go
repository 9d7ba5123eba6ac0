package mem

import "github.com/weft-mpi/weft/fabric"

// finished is an operation that has been carried out and whose Complete is due.
type finished struct {
	op   fabric.Op
	peer fabric.Peer
}

type doneQueue = ring[finished]

// ring is a first-in first-out list of fixed capacity. push wants room, pop
// an element.
type ring[T any] struct {
	slots []T
	at    int
	len   int
}

func (r *ring[T]) full() bool { return r.len == len(r.slots) }

func (r *ring[T]) push(v T) {
	r.slots[(r.at+r.len)%len(r.slots)] = v
	r.len++
}

func (r *ring[T]) pop() T {
	v := r.slots[r.at]
	r.at = (r.at + 1) % len(r.slots)
	r.len--
	return v
}
