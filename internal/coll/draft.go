package coll

// A draft is a plan in the making. It leaves out steps of no elements, and waits
// that have nothing to wait for: ranks that know that a block is empty send and
// receive nothing.
type draft struct {
	Plan
	started bool // something since the last Wait
}

func (d *draft) send(to int, a Ref) {
	if a.N > 0 {
		d.start(Step{Do: Send, Peer: to, A: a})
	}
}

func (d *draft) recv(from int, to Ref) {
	if to.N > 0 {
		d.start(Step{Do: Recv, Peer: from, To: to})
	}
}

// signal and await exchange a message of no bytes.
func (d *draft) signal(to int) { d.start(Step{Do: Send, Peer: to}) }

func (d *draft) await(from int) { d.start(Step{Do: Recv, Peer: from}) }

func (d *draft) start(s Step) {
	d.step(s)
	d.started = true
}

func (d *draft) wait() {
	if d.started {
		d.step(Step{Do: Wait})
		d.started = false
	}
}

func (d *draft) combine(a, b, to Ref) {
	if to.N > 0 {
		d.step(Step{Do: Combine, A: a, B: b, To: to})
	}
}

// step appends a step. Most plans of a few ranks need no second allocation.
func (d *draft) step(s Step) {
	if d.Steps == nil {
		d.Steps = make([]Step, 0, 8)
	}
	d.Steps = append(d.Steps, s)
}

// move copies a to a place that may be where it already is.
func (d *draft) move(a, to Ref) {
	if to.N > 0 && a != to {
		d.step(Step{Do: Copy, A: a, To: to})
	}
}

// temp returns n elements of temporary memory.
func (d *draft) temp(n int) Ref {
	r := Ref{Temp, d.Temp, n}
	d.Temp += n
	return r
}

// end returns the plan.
func (d *draft) end() Plan {
	d.wait()
	return d.Plan
}

// cut returns n elements of r, from its element at on.
func (r Ref) cut(at, n int) Ref { return Ref{r.Mem, r.At + at, n} }

// input is where the rank's input of n elements is.
func (s *Shape) input(n int) Ref {
	if s.InPlace {
		return Ref{Out, 0, n}
	}
	return Ref{In, 0, n}
}

// blocks says where the blocks of ranks are.
type blocks struct {
	mem            Mem
	n              int // length of each, without counts
	counts, displs []int
}

func (b blocks) at(i int) Ref {
	if b.counts == nil {
		return Ref{b.mem, i * b.n, b.n}
	}
	return Ref{b.mem, b.displs[i], b.counts[i]}
}

// blocks are those of Count, or of Counts and Displs, in mem.
func (s *Shape) blocks(mem Mem) blocks { return blocks{mem, s.Count, s.Counts, s.Displs} }

// right and left are the ranks at a distance of at most Size in the ring of ranks.
func (s *Shape) right(by int) int { return (s.Rank + by) % s.Size }

func (s *Shape) left(by int) int { return (s.Rank - by + s.Size) % s.Size }

// A fold is an operand of this rank to which operands of other ranks are added.
type fold struct {
	*draft
	mine  Ref // the operand so far: the caller's memory, or out
	out   Ref // where it is from the first addition on; no memory: temporary
	spare Ref // temporary, for what arrives
}

// add receives an operand and adds it: below mine if its ranks are lower.
func (f *fold) add(from int, lower bool) {
	if f.out.Mem == None {
		f.out = f.temp(f.mine.N)
	}
	into := f.out
	if f.mine.Mem != In {
		// out holds mine, or input in place that is still to be sent.
		if f.spare.Mem == None {
			f.spare = f.temp(f.mine.N)
		}
		into = f.spare
	}
	f.recv(from, into)
	f.wait()
	if lower {
		f.combine(into, f.mine, f.out)
	} else {
		f.combine(f.mine, into, f.out)
	}
	f.mine = f.out
}
