package comm

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/group"
	"github.com/weft-mpi/weft/progress"
)

// Intercommunicators in the model. The members are those of the first side and then
// those of the second.

// betweenCalls are the calls that the model makes on intercommunicators.
var betweenCalls = []coll.Call{coll.Barrier, coll.Bcast, coll.Gather, coll.Scatter, coll.Allgather, coll.Alltoall, coll.Reduce, coll.Allreduce}

// drawBetween draws a call of two groups of which the first has so many ranks.
func drawBetween(rng *rand.Rand, name uint64, size, first int) *modelData {
	d := drawData(rng, name, size)
	d.call, d.first, d.inPlace, d.kept = betweenCalls[rng.IntN(len(betweenCalls))], first, false, rng.IntN(2) == 0
	return d
}

// between is prepare for a call of two groups.
func (d *modelData) between(member int) (s coll.Shape, b *modelBuffers) {
	base, n, other, remote := 0, d.first, d.first, d.size-d.first
	if member >= d.first {
		base, n, other, remote = d.first, d.size-d.first, 0, d.first
	}
	rank := member - base
	s = coll.Shape{Rank: rank, Size: n, Remote: remote, Count: d.count, RecvCount: d.count, Bytes: d.elem, Commutes: d.commutes}
	rootHere := (d.root >= d.first) == (member >= d.first)
	switch {
	case !d.rooted():
	case d.root == member:
		s.Root = coll.RootHere
	case rootHere:
		s.Root = coll.RootFellow
	default:
		s.Root = d.root - other
	}
	var in, want []byte
	root, leaf := member == d.root, !rootHere
	switch d.call {
	case coll.Bcast:
		if root {
			in = d.vector(member, 0, d.count)
		} else if leaf {
			want = d.vector(d.root, 0, d.count)
		}
	case coll.Scatter:
		if root {
			in = d.vector(member, 0, remote*d.count)
		} else if leaf {
			want = d.vector(d.root, rank*d.count, d.count)
		}
	case coll.Reduce, coll.Allreduce:
		if leaf || d.call == coll.Allreduce {
			in = d.vector(member, 0, d.count)
		}
		if root || d.call == coll.Allreduce {
			want = d.fold(other, other+remote, 0, d.count)
		}
	case coll.Gather, coll.Allgather:
		if leaf || d.call == coll.Allgather {
			in = d.vector(member, 0, d.count)
		}
		if root || d.call == coll.Allgather {
			for i := range remote {
				want = append(want, d.vector(other+i, 0, d.count)...)
			}
		}
	case coll.Alltoall:
		in = d.vector(member, 0, remote*d.count)
		for i := range remote {
			want = append(want, d.vector(other+i, rank*d.count, d.count)...)
		}
	}
	b = d.memory(false, in, want, -1, 0)
	b.before = bytes.Clone(in)
	return s, b
}

// addBetween adds an intercommunicator of two sides.
func (p *modelProgram) addBetween(a, b []int, maker *modelCall) *modelComm {
	c := p.add(append(slices.Clone(a), b...), maker)
	c.first = len(a)
	return c
}

// sides are a rank's side of a communicator, and that to which its messages go.
func (c *modelComm) sides(world int) (own, peers []int) {
	a, b := c.worlds[:c.first], c.worlds[c.first:]
	switch {
	case c.first == 0:
		return c.worlds, c.worlds
	case slices.Contains(a, world):
		return a, b
	}
	return b, a
}

// creationBetween draws a creation on an intercommunicator.
func (p *modelProgram) creationBetween(k *modelCall) {
	rng, worlds, first := p.rng, k.comm.worlds, k.comm.first
	n := len(worlds)
	var makes []*modelComm
	how := rng.IntN(3)
	if rng.IntN(6) == 0 {
		p.spoil(k, nil)
		how = 3
	}
	switch a, b := worlds[:first], worlds[first:]; how {
	case 0:
		makes = append(makes, p.addBetween(a, b, k))
	case 1:
		k.high = make([]bool, n)
		high := [2]bool{rng.IntN(2) == 0, rng.IntN(2) == 0}
		for i := range n {
			k.high[i] = high[0]
			if i >= first {
				k.high[i] = high[1]
			}
		}
		if high[0] && !high[1] || high[0] == high[1] && b[0] < a[0] {
			a, b = b, a
		}
		makes = append(makes, p.add(append(slices.Clone(a), b...), k))
	case 2:
		sides := [2]map[int][]int{p.colors(k, 0, first), p.colors(k, first, n)}
		for color := range 3 {
			if a, b := sides[0][color], sides[1][color]; a != nil && b != nil {
				makes = append(makes, p.addBetween(a, b, k))
			}
		}
	}
	k.children = makes
	for _, c := range makes {
		for _, w := range c.worlds {
			k.child[slices.Index(worlds, w)] = c
		}
	}
}

// colors draws colors and keys of some members, and returns the ranks of each color in
// their order.
func (p *modelProgram) colors(k *modelCall, from, to int) map[int][]int {
	by := map[int][]int{}
	for key := range 3 {
		for i := from; i < to; i++ {
			s := &k.specs[i]
			if key == 0 {
				s.Split, s.Color, s.Key = true, p.rng.IntN(3), p.rng.IntN(3)
			}
		}
		for i := from; i < to; i++ {
			if s := k.specs[i]; s.Key == key {
				by[s.Color] = append(by[s.Color], k.comm.worlds[i])
			}
		}
	}
	return by
}

// groupsOf are a member's groups of an intercommunicator, or of a meeting of two.
func (c *modelComm) groupsOf(world int) (own, remote *group.Map) {
	a, b := c.sides(world)
	own, _ = group.New(a)
	if c.first > 0 {
		remote, _ = group.New(b)
	}
	return own, remote
}

// modelConnect is a Connect, which is a call of two communicators.
type modelConnect struct {
	calls   [2]*modelCall
	leaders [2]int // members
	tag     int
}

// connections draws a Connect of two communicators without a rank in common, if there
// are two.
func (p *modelProgram) connections() {
	at := p.rng.Perm(len(p.comms))
	for i, x := range at {
		for _, y := range at[:i] {
			a, b := p.comms[x], p.comms[y]
			if a.meets || b.meets || a.first+b.first > 0 || slices.ContainsFunc(a.worlds, func(r int) bool { return slices.Contains(b.worlds, r) }) {
				continue
			}
			p.connect(a, b)
			return
		}
	}
}

func (p *modelProgram) connect(a, b *modelComm) {
	x := &modelConnect{tag: int(p.calls)}
	p.calls++
	for side, c := range []*modelComm{a, b} {
		n := len(c.worlds)
		k := &modelCall{comm: c, index: len(c.calls), ops: make([]*modelOp, n), specs: make([]Spec, n), child: make([]*modelComm, n), wrong: make([]error, n), connect: x}
		c.calls = append(c.calls, k)
		x.calls[side], x.leaders[side] = k, p.rng.IntN(n)
	}
	if p.rng.IntN(4) == 0 {
		p.spoil(x.calls[p.rng.IntN(2)], nil)
		return
	}
	child := p.addBetween(a.worlds, b.worlds, x.calls[0])
	for _, k := range x.calls {
		k.children = []*modelComm{child}
		for i := range k.child {
			k.child[i] = child
		}
	}
	p.fill(child, p.rng.IntN(4), 2)
}

// join begins a Connect, as a nonblocking call.
func (op *modelOp) join(ctx context.Context, c *Comm) progress.Handle {
	x, in := op.call.connect, c.in
	side := slices.Index(x.calls[:], op.call)
	other := x.calls[1-side].comm.worlds[x.leaders[1-side]]
	at := Connection{Leader: x.leaders[side], Peer: in.World, RemoteLeader: other, Tag: x.tag}
	j := &connecting{creation: c.creationOfAll(coll.IntercommCreate, op.call.specs[op.member].Failed), c: c, at: at, mine: in.listed(c.Ranks)}
	j.part, j.x.closed = j.agreeHere, j.close
	if c.Rank == at.Leader {
		j.failed = cmp.Or(j.failed, j.find())
	}
	j.made, j.told = func(c *Comm) { op.made = c }, func() { op.told++ }
	return j.x.begin(ctx, [3]uintptr{})
}

// key is that of the meetings of a group, or of two.
func (c *modelComm) key() letterKey {
	own, remote := c.groupsOf(c.worlds[0])
	return keyOf("meeting", "one for all groups", own, remote)
}

// who names the groups of meetings, two in any order.
func (c *modelComm) who() string {
	a, b := fmt.Sprint(c.worlds[:c.first]), fmt.Sprint(c.worlds[c.first:])
	return min(a+b, b+a)
}
