package progress

// Telling is a sink that says in words what its requests are, for reports.
type Telling interface {
	Sink
	// Tell returns what the operation is and how far it has come. For the owner.
	Tell(*Request) (what, state string)
}

// Tell returns the words of the request's sink, or none. For the owner.
func (r *Request) Tell() (what, state string) {
	if s, ok := r.sink.(Telling); ok {
		return s.Tell(r)
	}
	return "", ""
}

// Sink returns the request's sink, for reports. For the owner.
func (r *Request) Sink() Sink { return r.sink }
