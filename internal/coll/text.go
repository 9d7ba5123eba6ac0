package coll

import "fmt"

// String is a step as a report has it: "receive Out[4:8] from 3".
func (s Step) String() string {
	switch s.Do {
	case Send:
		return fmt.Sprintf("send %v to %d", s.A, s.Peer)
	case Recv:
		return fmt.Sprintf("receive %v from %d", s.To, s.Peer)
	case Wait:
		return "wait"
	case Combine:
		return fmt.Sprintf("%v = %v ⊕ %v", s.To, s.A, s.B)
	case Copy:
		return fmt.Sprintf("%v = %v", s.To, s.A)
	}
	return fmt.Sprintf("step %d", s.Do)
}

// String is a range of memory as a slice of Go.
func (r Ref) String() string {
	if r == (Ref{}) {
		return "nothing"
	}
	return fmt.Sprintf("%v[%d:%d]", r.Mem, r.At, r.At+r.N)
}

var memNames = [...]string{None: "None", In: "In", Out: "Out", Temp: "Temp"}

func (m Mem) String() string { return memNames[m] }
