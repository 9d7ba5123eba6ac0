package comm

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/weft-mpi/weft/internal/group"
)

// modelComm is a communicator of the program, whether any rank has made it or not.
type modelComm struct {
	id     int
	worlds []int        // its ranks in the job
	calls  []*modelCall // of all members, in this order
	maker  *modelCall   // nil: World, or a Self
	number uint32       // its context id at the first rank that has made it
	places []*modelPlace
	meets  bool // it is none, but a group that meets again and again, or two
	first  int  // members of the first side of an intercommunicator, else 0
}

// modelPlace is a communicator at a rank.
type modelPlace struct {
	c     *Comm // nil: not made
	next  int   // call
	freed bool
}

// modelCall is a collective call of the program, or the creation of communicators.
type modelCall struct {
	comm     *modelComm
	index    int
	data     *modelData   // nil: a creation
	specs    []Spec       // of the members
	children []*modelComm // what it makes
	child    []*modelComm // what each member gets, or nil
	high     []bool       // a Merge: what each member says
	connect  *modelConnect
	wrong    []error    // why each member can't take part, or nil
	ops      []*modelOp // of the members that have begun
}

func (k *modelCall) String() string {
	if k.data != nil {
		return fmt.Sprintf("call %d of communicator %d, %v", k.index, k.comm.id, k.data)
	}
	var made []int
	for _, c := range k.children {
		made = append(made, c.id)
	}
	with := ""
	if k.connect != nil {
		with = fmt.Sprintf(" between communicators %d and %d", k.connect.calls[0].comm.id, k.connect.calls[1].comm.id)
	}
	return fmt.Sprintf("call %d of communicator %d, the creation of %v%s with the failures %v", k.index, k.comm.id, made, with, k.wrong)
}

// errModel is why a rank can't take part in a creation.
type errModel struct{ code int }

func (e *errModel) Error() string { return fmt.Sprintf("failure %d of the program", e.code) }

// modelCode is the class of an error.
func modelCode(err error) int {
	var own *errModel
	switch {
	case errors.As(err, &own):
		return own.code
	case errors.As(err, new(*GroupsError)):
		return 11
	case errors.As(err, new(*OutsiderError)):
		return 12
	}
	return 13
}

// modelProgram is what all ranks run.
type modelProgram struct {
	rng   *rand.Rand
	size  int
	comms []*modelComm
	calls uint64
	most  int // communicators
}

func drawProgram(rng *rand.Rand, size int, faults bool) *modelProgram {
	p := &modelProgram{rng: rng, size: size, most: 3 + rng.IntN(10)}
	roots := []*modelComm{p.add(numbers(size), nil)}
	for r := range size {
		roots = append(roots, p.add([]int{r}, nil))
	}
	p.fill(roots[0], 2+rng.IntN(6), 0)
	for _, self := range roots[1:] {
		if rng.IntN(4) == 0 {
			p.fill(self, 1+rng.IntN(2), 2)
		}
	}
	for range rng.IntN(3) {
		p.meetings(rng.Perm(size)[:1+rng.IntN(size)])
	}
	if !faults { // a rank waits for ever for a group that never comes
		for range 4 {
			p.connections()
		}
	}
	return p
}

// meetings has a group meet a few times, with one key.
func (p *modelProgram) meetings(worlds []int) {
	c, n := p.add(worlds, nil), len(worlds)
	if c.meets = true; p.rng.IntN(2) == 0 {
		c.first = p.rng.IntN(n) // two groups
	}
	if slices.ContainsFunc(p.comms, func(o *modelComm) bool { return o != c && o.meets && o.who() == c.who() }) {
		return // these groups meet already
	}
	for i := range 1 + p.rng.IntN(3) {
		k := &modelCall{comm: c, index: i, ops: make([]*modelOp, n), specs: make([]Spec, n), child: make([]*modelComm, n), wrong: make([]error, n)}
		c.calls = append(c.calls, k)
		if p.rng.IntN(6) == 0 {
			p.spoil(k, nil)
			continue
		}
		child := p.add(worlds, k)
		child.first = c.first
		k.children = []*modelComm{child}
		for i := range k.child {
			k.child[i] = child
		}
		p.fill(child, p.rng.IntN(4), 2)
	}
}

func numbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func (p *modelProgram) add(worlds []int, maker *modelCall) *modelComm {
	c := &modelComm{id: len(p.comms), worlds: worlds, maker: maker, places: make([]*modelPlace, p.size)}
	for _, w := range worlds {
		c.places[w] = &modelPlace{}
	}
	p.comms = append(p.comms, c)
	return c
}

// fill draws n calls of a communicator, and those of the communicators they make.
func (p *modelProgram) fill(c *modelComm, n, depth int) {
	for range n {
		k := &modelCall{comm: c, index: len(c.calls), ops: make([]*modelOp, len(c.worlds))}
		c.calls = append(c.calls, k)
		if p.rng.IntN(8) < 5-depth && len(p.comms) < p.most+p.size+1 {
			p.creation(k)
		} else {
			p.calls++
			if k.data = drawData(p.rng, p.calls, len(c.worlds)); c.first > 0 {
				k.data = drawBetween(p.rng, p.calls, len(c.worlds), c.first)
			}
		}
	}
	for _, k := range c.calls {
		for _, child := range k.children {
			p.fill(child, p.rng.IntN(5), depth+1)
		}
	}
}

// creation draws a creation.
func (p *modelProgram) creation(k *modelCall) {
	rng, worlds := p.rng, k.comm.worlds
	n := len(worlds)
	k.specs, k.child, k.wrong = make([]Spec, n), make([]*modelComm, n), make([]error, n)
	if k.comm.first > 0 {
		p.creationBetween(k)
		return
	}
	var sets [][]int // of members, in their order
	switch rng.IntN(4) {
	case 0:
		sets = [][]int{numbers(n)}
	case 1:
		sets = p.split(k)
	case 2: // groups without a rank in common
		perm := rng.Perm(n)
		for len(perm) > 0 {
			cut := 1 + rng.IntN(len(perm))
			if rng.IntN(4) > 0 {
				sets = append(sets, perm[:cut])
			}
			perm = perm[cut:]
		}
		none, _ := group.New(nil)
		for i := range n {
			k.specs[i].Group = none
		}
		for _, s := range sets {
			for _, i := range s {
				k.specs[i].Group = p.group(k, s)
			}
		}
	default: // one group, which all give
		sets = [][]int{rng.Perm(n)[:rng.IntN(n+1)]}
		for i := range n {
			k.specs[i].Group = p.group(k, sets[0])
		}
	}
	if rng.IntN(5) == 0 {
		p.spoil(k, sets)
	}
	if slices.ContainsFunc(k.wrong, func(err error) bool { return err != nil }) {
		return
	}
	for _, s := range sets {
		if len(s) == 0 {
			continue
		}
		var members []int
		for _, i := range s {
			members = append(members, worlds[i])
		}
		c := p.add(members, k)
		k.children = append(k.children, c)
		for _, i := range s {
			k.child[i] = c
		}
	}
}

// group is the group of some members.
func (p *modelProgram) group(k *modelCall, members []int) *group.Map {
	var worlds []int
	for _, i := range members {
		worlds = append(worlds, k.comm.worlds[i])
	}
	g, err := group.New(worlds)
	if err != nil {
		panic(err)
	}
	return g
}

// split draws colors and keys.
func (p *modelProgram) split(k *modelCall) (sets [][]int) {
	by := map[int][]int{}
	for i := range k.specs {
		s := &k.specs[i]
		s.Split, s.Color, s.Key = true, p.rng.IntN(3), p.rng.IntN(3)-1
		if p.rng.IntN(6) == 0 {
			s.Color = NoColor
		}
		by[s.Color] = append(by[s.Color], i)
	}
	for color := range 3 {
		if set := by[color]; set != nil {
			slices.SortStableFunc(set, func(a, b int) int { return cmp.Compare(k.specs[a].Key, k.specs[b].Key) })
			sets = append(sets, set)
		}
	}
	return sets
}

// spoil has members do something wrong.
func (p *modelProgram) spoil(k *modelCall, sets [][]int) {
	rng, n := p.rng, len(k.specs)
	at := rng.IntN(n)
	g := k.specs[at].Group
	switch how := rng.IntN(3); {
	case how == 0 && g != nil && g.Len() >= 2: // another order, or a group without itself
		for _, s := range sets {
			x := slices.Index(s, at)
			if x < 0 {
				continue
			}
			other := slices.Clone(s)
			if rng.IntN(2) == 0 {
				i := 1 + rng.IntN(len(s)-1)
				other[i-1], other[i] = other[i], other[i-1]
			} else {
				other = slices.Delete(other, x, x+1)
			}
			k.specs[at].Group = p.group(k, other)
			for _, i := range s {
				if slices.Contains(other, i) {
					k.wrong[i] = &GroupsError{}
				}
			}
		}
	case how == 1 && g != nil:
		outside, _ := group.New([]int{k.comm.worlds[at], p.size})
		k.specs[at].Group, k.wrong[at] = outside, &OutsiderError{}
	default:
		for range 1 + rng.IntN(2) {
			i := rng.IntN(n)
			k.wrong[i] = &errModel{1 + rng.IntN(30)}
			k.specs[i].Failed = k.wrong[i]
		}
	}
}

// expected is the error of a member in a creation that can't succeed, or nil.
func (k *modelCall) expected(member int) error {
	worst := k.worst()
	switch {
	case worst == nil && k.connect != nil: // what the other group says
		for side, o := range k.connect.calls {
			if worst := o.worst(); worst != nil {
				if i := k.connect.leaders[side]; o.wrong[i] != nil { // the leader tells its own
					worst = &CreationError{Rank: i, Code: int32(modelCode(o.wrong[i]))}
				}
				return &CreationError{Rank: o.comm.worlds[worst.Rank], InJob: true, Code: worst.Code}
			}
		}
		return nil
	case worst == nil:
		return nil
	case k.wrong[member] != nil:
		return k.wrong[member]
	case k.comm.meets, k.comm.first > 0:
		return &CreationError{Rank: k.comm.worlds[worst.Rank], InJob: true, Code: worst.Code}
	}
	return worst
}

// worst is the failure that counts of those that the members have, or nil.
func (k *modelCall) worst() (worst *CreationError) {
	for i, err := range k.wrong {
		if err == nil {
			continue
		}
		code, worlds := int32(modelCode(err)), k.comm.worlds
		if worst == nil || code > worst.Code || code == worst.Code && worlds[i] > worlds[worst.Rank] {
			worst = &CreationError{Rank: i, Code: code}
		}
	}
	return worst
}
