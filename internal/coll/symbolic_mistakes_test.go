package coll

import (
	"strings"
	"testing"
)

// The machine tells each kind of mistake from a plan that is right. Two ranks have
// two elements in In, two in Out and two in Temp; rank 1's plan is often the first
// one's with the peers swapped.
func TestSymbolicMachineRejectsMistakes(t *testing.T) {
	in, out, temp := Ref{In, 0, 2}, Ref{Out, 0, 2}, Ref{Temp, 0, 2}
	send, recv := Step{Do: Send, A: in}, Step{Do: Recv, To: out}
	wait, sum := Step{Do: Wait}, Step{Do: Combine, A: in, B: out, To: out}
	move := Step{Do: Copy, A: in, To: out}
	for _, c := range []struct {
		what, want string
		a, b       []Step // of rank 0 and 1; b may be a
		temp       int
	}{
		{"right", "", []Step{send, recv, wait, sum}, nil, 0},
		{"right too, with temporary memory", "", []Step{send, {Do: Recv, To: temp}, wait, {Do: Combine, A: in, B: temp, To: temp}}, nil, 2},
		{"both send first", "deadlock", []Step{send, wait, recv, wait}, nil, 0},
		{"a receive too many", "deadlock", []Step{recv, wait}, []Step{move}, 0},
		{"a send too many", "deadlock", []Step{send, wait}, []Step{move}, 0},
		{"no Wait", "does not wait", []Step{send, recv}, nil, 0},
		{"a Wait too many", "a Wait for nothing", []Step{send, recv, wait, wait}, nil, 0},
		{"used before it is there", "before what is received", []Step{send, recv, sum, wait}, nil, 0},
		{"received twice at once", "written while", []Step{send, recv, recv, wait}, nil, 0},
		{"written while it is sent", "written while", []Step{move, {Do: Send, A: out}, sum, wait}, nil, 0},
		{"received over what is sent", "written while", []Step{move, {Do: Send, A: out}, recv, wait}, nil, 0},
		{"In is written", "In is written", []Step{send, {Do: Recv, To: in}, wait}, nil, 0},
		{"undefined", "is undefined", []Step{sum}, nil, 0},
		{"temporary memory is undefined", "is undefined", []Step{{Do: Copy, A: temp, To: out}}, nil, 2},
		{"beyond the end", "not memory of the call", []Step{{Do: Copy, A: Ref{In, 1, 2}, To: out}}, nil, 0},
		{"no memory", "not memory of the call", []Step{{Do: Send}, wait}, nil, 0},
		{"other lengths", "rank 0 sends 1 elements, rank 1 receives 2", []Step{{Do: Send, A: Ref{In, 0, 1}}, recv, wait}, []Step{recv, send, wait}, 0},
		{"other elements", "is combined with element", []Step{{Do: Combine, A: Ref{In, 0, 1}, B: Ref{In, 1, 1}, To: Ref{Out, 0, 1}}}, nil, 0},
		{"operands of unequal lengths", "unequal or no lengths", []Step{{Do: Combine, A: Ref{In, 0, 1}, B: in, To: out}}, nil, 0},
		{"too much temporary memory", "uses 0 of 2", []Step{move}, nil, 2},
		{"no such peer", "there is no peer", []Step{{Do: Send, Peer: 2, A: in}}, nil, 0},
		{"gaps: right", "", []Step{send, recv, wait, {Do: Copy, A: in, To: temp}, {Do: Combine, A: temp, B: out, To: temp}}, nil, 2},
		{"gaps: combined", "gaps is combined", []Step{send, recv, wait, sum}, nil, 0},
		{"gaps: direct, and does not say so", "the plan says false", []Step{send, {Do: Recv, To: temp}, wait}, nil, 2},
	} {
		if c.b == nil {
			c.b = c.a
		}
		var shapes []*Shape
		for rank := range 2 {
			shapes = append(shapes, &Shape{Rank: rank, Size: 2})
		}
		terms := newTerms(2, 2)
		m := newMachine(shapes, 2, terms)
		for rank, steps := range [2][]Step{c.a, c.b} {
			m.ranks[rank].plan = Plan{Temp: c.temp, Direct: c.what == "gaps: right"}
			if strings.HasPrefix(c.what, "gaps") {
				m.ranks[rank].gaps = GapsIn
			}
			for _, s := range steps {
				if s.Peer == 0 && (s.Do == Send || s.Do == Recv) {
					s.Peer = 1 - rank
				}
				m.ranks[rank].plan.Steps = append(m.ranks[rank].plan.Steps, s)
			}
			mem := blank(2)
			fill(mem, terms, rank, 0)
			m.ranks[rank].mem = [4][]term{In: mem, Out: blank(2), Temp: blank(c.temp)}
		}
		err := m.run()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.what, err, c.want)
		}
	}
}

// Terms tell the order of operands, ranks that are missing or twice, and elements.
func TestSymbolicTermsTellTheirOperands(t *testing.T) {
	terms := newTerms(3, 2)
	add := func(a, b term) term {
		x, err := terms.combine(a, b)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	a, b, c := terms.leaf(0, 1), terms.leaf(1, 1), terms.leaf(2, 1)
	if add(add(a, b), c) == add(a, add(b, c)) || add(a, c) == add(c, a) {
		t.Error("equal terms are not those of equal expressions")
	}
	for _, row := range []struct {
		x        term
		element  int
		commutes bool
		want     string
	}{
		{add(add(a, b), c), 1, false, ""},
		{add(a, add(b, c)), 1, false, ""},
		{add(c, add(b, a)), 1, true, ""},
		{add(c, add(b, a)), 1, false, "(2⊕(1⊕0)) is not in the order"},
		{add(add(a, c), b), 1, false, "not in the order"},
		{add(a, b), 1, true, "has not each"},
		{add(add(a, b), b), 1, true, "has not each"},
		{add(add(a, b), c), 0, true, "is of element 1"},
		{undefined, 0, true, "no result"},
	} {
		err := terms.check(row.x, row.element, 0, 3, row.commutes)
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", terms.text(row.x), err, row.want)
		}
	}
}
