package rma

import (
	"github.com/weft-mpi/weft/internal/op"
	"github.com/weft-mpi/weft/progress"
	"github.com/weft-mpi/weft/progress/counters"
)

// Operations by loads and stores are not counted: they own no loop and write no
// line but the target's, and a count would cost as much as some of them take.

// manner is what an operation is to users.
type manner uint8

const (
	put manner = iota
	get
	accumulation
	getAccumulation
	compareSwap
	manners
)

var mannerNames = [manners]string{"put", "get", "accumulate", "get_accumulate", "compare_and_swap"}

// mannerOf is that of an operation with these arguments.
func mannerOf(code op.Code, result, compares bool) manner {
	switch {
	case compares:
		return compareSwap
	case code == codeBytes && result:
		return get
	case code == codeBytes:
		return put
	case result:
		return getAccumulation
	}
	return accumulation
}

// path is how an operation has gone.
type path uint8

const (
	pathFabric  path = iota
	pathPackets      // to the target, which has carried it out
	pathOwner        // by the owner of this rank's loop, with memory of this rank
	paths
)

var pathNames = [paths]string{"fabric", "packets", "owner"}

// tally counts operations and their bytes.
type tally struct{ operations, bytes uint64 }

func (t *tally) add(n int) {
	t.operations++
	t.bytes += uint64(n)
}

// counts are the engine's. The owner adds to them with plain stores.
type counts struct {
	done   [manners][paths]tally
	served [manners]tally // packets of others, carried out here
}

// count counts an operation of this rank that has ended well.
func (o *action) count() {
	p := pathFabric
	if o.sent > 0 {
		p = pathPackets
	}
	o.w.e.counts.done[mannerOf(o.code, o.get, o.cas)][p].add(o.n)
}

// owned counts an operation that the owner has carried out in its call.
func (x *Transfer) owned(e *Engine) {
	code := x.Code
	if x.Kind == 0 {
		code = codeBytes
	}
	e.counts.done[mannerOf(code, x.Old != nil, x.Compare != nil)][pathOwner].add(x.bytes())
}

// Observe adds the engine's counts to a snapshot.
func (e *Engine) Observe(s *counters.Snapshot) {
	const but = ", without those by loads and stores, which nobody counts."
	labels := []string{"op", "path"}
	ops := counters.Family{Name: "weft_rma_ops_total", Help: "One-sided operations of this rank that have ended well" + but, Labels: labels}
	bytes := counters.Family{Name: "weft_rma_bytes_total", Help: "Bytes of one-sided operations of this rank" + but, Unit: "bytes", Labels: labels}
	served := counters.Family{Name: "weft_rma_served_total", Help: "Packets of one-sided operations of other ranks that were carried out here.", Labels: labels[:1]}
	for k := range manners {
		for p := range paths {
			if t := e.counts.done[k][p]; t.operations > 0 {
				s.Add(ops, t.operations, mannerNames[k], pathNames[p])
				s.Add(bytes, t.bytes, mannerNames[k], pathNames[p])
			}
		}
		if t := e.counts.served[k]; t.operations > 0 {
			s.Add(served, t.operations, mannerNames[k])
		}
	}
	exposed := 0
	for _, w := range e.wins {
		exposed += len(w.mem)
	}
	s.Add(counters.Family{Name: "weft_windows", Help: "Windows that have not been freed.", Gauge: true}, uint64(len(e.wins)))
	s.Add(counters.Family{Name: "weft_window_bytes", Help: "Memory of this rank in windows that have not been freed.", Unit: "bytes", Gauge: true}, uint64(exposed))
}

// Describe says what a request is.
func (e *Engine) Describe(r *progress.Request, words bool) progress.Info {
	i := progress.Info{Class: "flush"}
	if r.Kind == kindTransfer {
		i.Class = "one-sided"
	}
	if r.Found >= uint64(len(e.ops)) || e.ops[r.Found] == nil || e.ops[r.Found].r != r {
		return i
	}
	o := e.ops[r.Found]
	if i.Name = o.what; r.Kind == kindTransfer {
		i.Name = mannerNames[mannerOf(o.code, o.get, o.cas)]
	}
	if words {
		i.What, i.State = o.tell()
	}
	return i
}
