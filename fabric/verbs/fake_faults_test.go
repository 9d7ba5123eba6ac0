package verbs

import "github.com/weft-mpi/weft/fabric/verbs/internal/ibv"

// faults are what devices of a fakeNet do wrong.
type faults struct {
	halt bool // READs and WRITEs of more than some words stop halfway, until it is false
	mute bool // what is outstanding on a queue pair that fails is not flushed
	full bool // nothing can be posted
}

// halted says whether a request stays halfway, and does it so far. data is what
// it takes along.
func (w *fakeNet) halted(d *ibv.SendWR, data []byte) bool {
	if !w.halt || d.Opcode != ibv.RDMARead && d.Opcode != ibv.RDMAWrite || len(data) <= 64 {
		return false
	}
	half := len(data) / 2
	if d.Opcode == ibv.RDMARead {
		copy(memoryAt(d.SGE[0].Addr, half), memoryAt(d.RemoteAddr, half))
	} else {
		copy(memoryAt(d.RemoteAddr, half), data)
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
func (w *fakeNet) cling(q ibv.QP) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.qps[q.Num].clings = 1
}

// has says how many queue pairs and registrations a domain's devices have.
func (w *fakeNet) has(d *Domain) (qps, mrs int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range d.hcas() {
		qps += len(n.(*fakeHCA).qps)
		mrs += n.(*fakeHCA).registered
	}
	return qps, mrs
}
