package verbs

// faults are what devices of a fakeNet do wrong.
type faults struct {
	halt bool // READs and WRITEs of more than some words stop halfway, until it is false
	mute bool // what is outstanding on a queue pair that fails is not flushed
	full bool // nothing can be posted
}

// halted says whether a request stays halfway, and does it so far. data is what
// it takes along.
func (w *fakeNet) halted(d *sendDesc, data []byte) bool {
	if !w.halt || d.op != opRead && d.op != opWrite || len(data) <= 64 {
		return false
	}
	half := len(data) / 2
	if d.op == opRead {
		copy(memoryAt(d.seg[0].addr, half), memoryAt(d.remote, half))
	} else {
		copy(memoryAt(d.remote, half), data)
	}
	return true
}

// set changes what devices do.
func (w *fakeNet) set(change func(*faults)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(&w.faults)
}

// cling has a device refuse once to destroy a queue pair.
func (w *fakeNet) cling(q qp) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.qps[q.number].clings = 1
}

// has says how many queue pairs and registrations a domain's devices have.
func (w *fakeNet) has(d *Domain) (qps, mrs int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range d.nics() {
		qps += len(n.(*fakeNIC).qps)
		mrs += n.(*fakeNIC).registered
	}
	return qps, mrs
}
