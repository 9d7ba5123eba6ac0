package mpi

import (
	"cmp"
	"errors"
	"fmt"
	"iter"

	"github.com/weft-mpi/weft/internal/comm"
	"github.com/weft-mpi/weft/internal/group"
)

// Group is an ordered set of ranks of a job (MPI-4.0 §7.2.1). Each has its number in
// the group, from 0 on. Comm.Group gives the ranks of a communicator; methods make
// further groups, as this rank's own business: no other rank need do the same. A
// Group does not change and is safe for concurrent use. It needs no Free, and
// remains usable when its communicator has been freed.
//
// Groups belong to the World, or the Session, that they come from. A call with groups
// of two fails with ErrGroup, also of two sessions of one rank, of a session and the
// World, and of the Worlds of two ranks of one job that are goroutines: each rank
// makes its own groups.
type Group struct {
	in    *comm.Instance // nil: GroupEmpty
	of    *World         // whose communicators it may make, nil: any of its instance's
	ranks *group.Map     // nil: none
}

// GroupEmpty is a group of no ranks (MPI_GROUP_EMPTY, MPI-4.0 §7.2.1), which goes
// with those of every World. Other groups may be empty too: Size tells.
var GroupEmpty = &Group{}

// none is the Map of groups without members.
var none = group.All(0)

// Range is the ranks First, First+Stride, First+2·Stride and so on that do not lie
// beyond Last. Stride is negative if Last is below First, and never 0.
type Range struct{ First, Last, Stride int }

// Comparison is how two groups, or two communicators, compare: Ident, Congruent,
// Similar or Unequal. The values are those of MPI-5's ABI.
type Comparison int

const (
	// Ident are groups of the same ranks in the same order, and a communicator
	// and itself (MPI_IDENT, MPI-4.0 §7.3.1).
	Ident Comparison = 201
	// Congruent are communicators whose groups are Ident, and whose messages do
	// not match each other's (MPI_CONGRUENT, MPI-4.0 §7.4.1).
	Congruent Comparison = 202
	// Similar are those of the same ranks in another order (MPI_SIMILAR, MPI-4.0
	// §7.3.1).
	Similar Comparison = 203
	// Unequal are all others (MPI_UNEQUAL, MPI-4.0 §7.3.1).
	Unequal Comparison = 204
)

func (c Comparison) String() string {
	switch c {
	case Ident:
		return "ident"
	case Congruent:
		return "congruent"
	case Similar:
		return "similar"
	case Unequal:
		return "unequal"
	}
	return fmt.Sprintf("comparison %d", int(c))
}

// Group is the group of the communicator's ranks (MPI_Comm_group, MPI-4.0 §7.3.2), the
// local group of an intercommunicator, or nil if c is nil. Local.
func (c *Comm) Group() *Group {
	if c == nil || c.core == nil {
		return nil
	}
	return &Group{in: c.core.Instance(), of: c.w, ranks: c.members()}
}

// members are the ranks in the job of the communicator's ranks, or of its local group.
func (c *Comm) members() *group.Map {
	if c.core.Ranks != nil {
		return c.core.Ranks
	}
	return group.All(c.size)
}

// Compare compares two communicators (MPI_Comm_compare, MPI-4.0 §7.4.1). A
// communicator and what WithContext has made of it are Ident. Intercommunicators are
// as alike as the less alike of their two groups, and Unequal to other communicators.
// It fails with ErrComm if one of them is nil or has been freed, or if they belong to
// two Worlds or sessions. Local.
func (c *Comm) Compare(other *Comm) (Comparison, error) {
	const call = "Comm.Compare"
	for _, comm := range []*Comm{c, other} {
		if comm.lost() {
			return Unequal, comm.explain(call, 0, 0, false)
		}
	}
	if c.core.Instance() != other.core.Instance() {
		return Unequal, c.raise(badArg(call, ErrComm, "the communicators belong to two Worlds: compare those of one"))
	}
	if c.w != other.w {
		return Unequal, c.raise(badArg(call, ErrComm, "the communicators belong to two sessions, or to a session and the World: compare those of one"))
	}
	if c.core == other.core {
		return Ident, nil
	}
	if c.TestInter() != other.TestInter() {
		return Unequal, nil
	}
	how := compare(c.members(), other.members())
	if c.TestInter() {
		how = max(how, compare(c.ranks, other.ranks)) // a greater one is less alike
	}
	if how == Ident {
		how = Congruent
	}
	return how, nil
}

func compare(a, b *group.Map) Comparison {
	switch a.Compare(b) {
	case group.Ident:
		return Ident
	case group.Similar:
		return Similar
	}
	return Unequal
}

// members is the Map of the group, also if it is nil or empty.
func (g *Group) members() *group.Map {
	if g == nil || g.ranks == nil {
		return none
	}
	return g.ranks
}

// Size is the number of ranks (MPI_Group_size, MPI-4.0 §7.3.1), or 0 if g is nil.
// Local.
func (g *Group) Size() int { return g.members().Len() }

// Rank is the caller's number in the group (MPI_Group_rank, MPI-4.0 §7.3.1), or
// Undefined if the caller is not in it or g is nil. Local.
func (g *Group) Rank() int {
	if g == nil || g.in == nil {
		return Undefined
	}
	if r := g.members().Rank(g.in.World.Rank); r >= 0 {
		return r
	}
	return Undefined
}

// All yields each number in the group, in order, and the rank of World.Comm that
// has it. Local.
func (g *Group) All() iter.Seq2[int, int] {
	return func(yield func(rank, world int) bool) {
		m := g.members()
		for i := range m.Len() {
			if !yield(i, m.World(i)) {
				return
			}
		}
	}
}

// Translate is the numbers in to of ranks of g, in the order of ranks
// (MPI_Group_translate_ranks, MPI-4.0 §7.3.1): Undefined for one that is not in to,
// or not in g, and ProcNull for ProcNull. A group of another World has none of g's
// ranks, nor has nil. Local.
func (g *Group) Translate(ranks []int, to *Group) []int {
	there := none
	if g.mixes(to) == nil {
		there = to.members()
	}
	out := g.members().Translate(ranks, there)
	for i, r := range ranks {
		if out[i] < 0 && r != ProcNull {
			out[i] = Undefined
		}
	}
	return out
}

// Compare compares two groups (MPI_Group_compare, MPI-4.0 §7.3.1): the result is
// Ident, Similar or Unequal. It fails with ErrGroup if one is nil or they belong to
// two Worlds. Local.
func (g *Group) Compare(other *Group) (Comparison, error) {
	if err := g.mixes(other); err != nil {
		return Unequal, raiseSelf(&Error{Class: ErrGroup, Call: "Group.Compare", Err: err})
	}
	return compare(g.members(), other.members()), nil
}

// Incl is the group of the members with the given numbers, in the order given
// (MPI_Group_incl, MPI-4.0 §7.3.2). It fails with ErrRank if a number is not in the
// group or is given twice. Local.
func (g *Group) Incl(ranks ...int) (*Group, error) {
	return g.some("Group.Incl", func(m *group.Map) (*group.Map, error) { return m.Incl(ranks) })
}

// Excl is the group without the members with the given numbers, in its own order
// (MPI_Group_excl, MPI-4.0 §7.3.2). Errors are those of Incl. Local.
func (g *Group) Excl(ranks ...int) (*Group, error) {
	return g.some("Group.Excl", func(m *group.Map) (*group.Map, error) { return m.Excl(ranks) })
}

// RangeIncl is the group of the members whose numbers are in the ranges, in the
// order of these (MPI_Group_range_incl, MPI-4.0 §7.3.2). It fails with ErrRank if a
// number is not in the group or is in two ranges, and with ErrArg if a Stride is 0
// or leads away from Last. Local.
func (g *Group) RangeIncl(ranges ...Range) (*Group, error) {
	return g.some("Group.RangeIncl", func(m *group.Map) (*group.Map, error) { return m.RangeIncl(rangesOf(ranges)) })
}

// RangeExcl is the group without the members whose numbers are in the ranges, in
// its own order (MPI_Group_range_excl, MPI-4.0 §7.3.2). Errors are those of RangeIncl.
// Local.
func (g *Group) RangeExcl(ranges ...Range) (*Group, error) {
	return g.some("Group.RangeExcl", func(m *group.Map) (*group.Map, error) { return m.RangeExcl(rangesOf(ranges)) })
}

func rangesOf(ranges []Range) []group.Range {
	all := make([]group.Range, len(ranges))
	for i, r := range ranges {
		all[i] = group.Range(r)
	}
	return all
}

// Union is the group of the members of g in their order, then of those of other
// that are not in g (MPI_Group_union, MPI-4.0 §7.3.2). It fails with ErrGroup if one
// is nil or they belong to two Worlds. Local.
func (g *Group) Union(other *Group) (*Group, error) {
	return g.both("Group.Union", other, (*group.Map).Union)
}

// Intersection is the group of the members of g that are in other too, in the order
// of g (MPI_Group_intersection, MPI-4.0 §7.3.2). Errors are those of Union. Local.
func (g *Group) Intersection(other *Group) (*Group, error) {
	return g.both("Group.Intersection", other, (*group.Map).Intersection)
}

// Difference is the group of the members of g that are not in other, in the order
// of g (MPI_Group_difference, MPI-4.0 §7.3.2). Errors are those of Union. Local.
func (g *Group) Difference(other *Group) (*Group, error) {
	return g.both("Group.Difference", other, (*group.Map).Difference)
}

// some makes a group of members of g.
func (g *Group) some(call string, pick func(*group.Map) (*group.Map, error)) (*Group, error) {
	if g == nil {
		return nil, raiseSelf(&Error{Class: ErrGroup, Call: call, Err: errNilGroup})
	}
	m, err := pick(g.members())
	if err != nil {
		return nil, raiseSelf(fail(call, err))
	}
	return &Group{in: g.in, of: g.of, ranks: m}, nil
}

// both makes a group of the members of two.
func (g *Group) both(call string, other *Group, join func(a, b *group.Map) *group.Map) (*Group, error) {
	if err := g.mixes(other); err != nil {
		return nil, raiseSelf(&Error{Class: ErrGroup, Call: call, Err: err})
	}
	in, of := g.in, g.of
	if in == nil {
		in, of = other.in, other.of
	}
	return &Group{in: in, of: cmp.Or(of, other.of), ranks: join(g.members(), other.members())}, nil
}

var (
	errNilGroup  = errors.New("the group is nil: take Comm.Group, or GroupEmpty")
	errTwoWorlds = errors.New("the groups belong to two Worlds: take those of one")
	errTwoOwners = errors.New("the groups belong to two sessions, or to a session and the World: take those of one")
)

// mixes returns why the groups can't be used together, or nil.
func (g *Group) mixes(other *Group) error {
	switch {
	case g == nil || other == nil:
		return errNilGroup
	case g.in != other.in && g.in != nil && other.in != nil:
		return errTwoWorlds
	case g.of != other.of && g.of != nil && other.of != nil:
		return errTwoOwners
	}
	return nil
}
