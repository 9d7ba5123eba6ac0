package progress

import "sync/atomic"

// node is pushed by goroutines that do not own the loop: a request to start, a
// waiter to serve, or a request that starts with its waiter already in place.
type node struct {
	next *node
	r    *Request
	sink Sink // of r
	w    *Waiter
}

// queue is a lock-free stack of nodes with many producers. Its one consumer,
// the owner, takes all and reverses them, so each producer's nodes keep their
// order.
type queue struct{ top atomic.Pointer[node] }

func (q *queue) empty() bool { return q.top.Load() == nil }

func (q *queue) push(n *node) {
	for {
		top := q.top.Load()
		n.next = top
		if q.top.CompareAndSwap(top, n) {
			return
		}
	}
}

// takeAll returns the nodes in the order they were pushed.
func (q *queue) takeAll() *node {
	n := q.top.Swap(nil)
	var first *node
	for n != nil {
		next := n.next
		n.next, first = first, n
		n = next
	}
	return first
}
