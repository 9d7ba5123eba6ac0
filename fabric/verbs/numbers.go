package verbs

// numbers finds endpoints by the number of their queue pair: a table with open
// addressing, since completions name nothing else.
type numbers struct {
	slots []numbered
	used  int
}

type numbered struct {
	number uint32
	e      *endpoint
}

func newNumbers() numbers { return numbers{slots: make([]numbered, 16)} }

func (t *numbers) at(number uint32) *numbered {
	mask := uint32(len(t.slots) - 1)
	for i := number * 0x9e3779b1 >> 7; ; i++ {
		if s := &t.slots[i&mask]; s.e == nil || s.number == number {
			return s
		}
	}
}

// find returns the endpoint of a queue pair, or nil.
func (t *numbers) find(number uint32) *endpoint { return t.at(number).e }

// add enters a queue pair. It stays for good, or until its number is given to
// another.
func (t *numbers) add(number uint32, e *endpoint) {
	if 2*t.used >= len(t.slots) {
		old := t.slots
		t.slots = make([]numbered, 2*len(old))
		for _, s := range old {
			if s.e != nil {
				*t.at(s.number) = s
			}
		}
	}
	s := t.at(number)
	if s.e == nil {
		t.used++
	}
	*s = numbered{number, e}
}
