package progress

// List links requests in order, by their Link and Back. A request is in one list
// at most. The zero List is empty. For the owner.
type List struct{ head, tail *Request }

// First is the oldest request, or nil. Its Link is the next.
func (q *List) First() *Request { return q.head }

// Empty reports whether there is none.
func (q *List) Empty() bool { return q.head == nil }

// Add puts a request behind all others.
func (q *List) Add(r *Request) {
	r.Link, r.Back = nil, q.tail
	if q.tail == nil {
		q.head = r
	} else {
		q.tail.Link = r
	}
	q.tail = r
}

// Remove takes out a request that is in the list.
func (q *List) Remove(r *Request) {
	if r.Back == nil {
		q.head = r.Link
	} else {
		r.Back.Link = r.Link
	}
	if r.Link == nil {
		q.tail = r.Back
	} else {
		r.Link.Back = r.Back
	}
	r.Link, r.Back = nil, nil
}
