package pt2pt

import "github.com/weft-mpi/weft/progress"

// chain strings up requests in order. A request is in one at most.
type chain struct{ head, tail *progress.Request }

func (c *chain) empty() bool { return c.head == nil }

func (c *chain) add(r *progress.Request) {
	r.Link, r.Back = nil, c.tail
	if c.tail == nil {
		c.head = r
	} else {
		c.tail.Link = r
	}
	c.tail = r
}

func (c *chain) remove(r *progress.Request) {
	if r.Back == nil {
		c.head = r.Link
	} else {
		r.Back.Link = r.Link
	}
	if r.Link == nil {
		c.tail = r.Back
	} else {
		r.Link.Back = r.Back
	}
	r.Link, r.Back = nil, nil
}
