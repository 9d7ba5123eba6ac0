package verbs

// qpnTable finds endpoints by the number of their queue pair: a table with open
// addressing, since completions name nothing else.
type qpnTable struct {
	slots []qpnEntry
	used  int
}

type qpnEntry struct {
	qpn uint32
	e   *endpoint
}

func newQPNTable() qpnTable { return qpnTable{slots: make([]qpnEntry, 16)} }

func (t *qpnTable) at(number uint32) *qpnEntry {
	mask := uint32(len(t.slots) - 1)
	for i := number * 0x9e3779b1 >> 7; ; i++ {
		if s := &t.slots[i&mask]; s.e == nil || s.qpn == number {
			return s
		}
	}
}

// find returns the endpoint of a queue pair, or nil.
func (t *qpnTable) find(number uint32) *endpoint { return t.at(number).e }

// add enters a queue pair. It stays for good, or until its number is given to
// another.
func (t *qpnTable) add(number uint32, e *endpoint) {
	if 2*t.used >= len(t.slots) {
		old := t.slots
		t.slots = make([]qpnEntry, 2*len(old))
		for _, s := range old {
			if s.e != nil {
				*t.at(s.qpn) = s
			}
		}
	}
	s := t.at(number)
	if s.e == nil {
		t.used++
	}
	*s = qpnEntry{number, e}
}
