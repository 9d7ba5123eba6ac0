package comm

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/weft-mpi/weft/coll"
	"github.com/weft-mpi/weft/group"
	"github.com/weft-mpi/weft/progress"
)

// A communicator is made by a collective call on its parent, in parts:
//
//	tell   each rank tells the others which new communicator it is to be in
//	       (Split, Create); a duplicate needs no telling
//	draw   the first member of each new communicator draws a context id and reserves
//	       it at its engine, and the members hear of it
//	agree  every member reserves the id. The ranks of the parent agree on the worst
//	       outcome: well, an id is taken at some rank, or a rank has failed
//
// If all went well each member makes its communicator. If an id was taken all begin
// to draw again. If a rank has failed all fail alike, and the parent remains usable:
// nothing is half made. Until then a reservation keeps other creations from the id,
// so of two that draw the same id at once one goes on at most. A death, or a context
// that ends, fails the call as any collective call.

// CreationError is the error of the ranks of a creation that has failed at another
// rank.
type CreationError struct {
	Rank int   // in the parent
	Code int32 // the class of its error
}

func (e *CreationError) Error() string {
	return fmt.Sprintf("no rank has got the communicator, since rank %d could not take part; its error says why", e.Rank)
}

// GroupsError is the error of a creation whose members give different groups.
type GroupsError struct {
	Rank int // in the parent, whose group is another one
}

func (e *GroupsError) Error() string {
	return fmt.Sprintf("rank %d is in the group and gives another one: all its members give the same ranks in the same order", e.Rank)
}

// OutsiderError is the error of a creation whose group is no part of the parent's.
type OutsiderError struct {
	Rank int // in the job, that is in the group and not in the parent
}

func (e *OutsiderError) Error() string {
	return fmt.Sprintf("rank %d of the job is in the group and not in the communicator: only its ranks can be", e.Rank)
}

// Spec says which communicator a rank of the parent is to be in.
type Spec struct {
	// Failed is why this rank can't take part in what all ranks do, or nil. Then all
	// fail.
	Failed error
	// Split: ranks of the same color get a communicator, in the order of key and then
	// of their ranks in the parent; those of NoColor get none.
	Split bool
	Color int
	Key   int
	// Group are the ranks of the job that get a communicator; this rank gets none if
	// it is not one of them. It is nil for a Split, and for a duplicate.
	Group *group.Map
	// Place is what reports say made the call (progress.Callers).
	Place [3]uintptr
}

// NoColor is the color of a rank that is to be in no communicator.
const NoColor = -32766

// creation is one that is under way at a rank. Its fields are the owner's of the
// loop, once the call has begun.
type creation struct {
	c    *Comm
	spec Spec
	made func(*Comm)
	told func() // of a failure

	failed error
	ranks  *group.Map // of the new communicator, nil: those of the parent
	leader int        // rank in the parent of its first member, -1 if this rank is in none
	place  int        // of this rank in it
	id     uint32     // reserved here, or 0
	well   bool       // all have agreed that the creation succeeds

	part    func() (*coll.Plan, *Operands, error) // the next one
	in, out []byte
}

// Create makes a communicator of ranks of this one, which all call it. It returns nil
// for a rank that is to be in none. Non-local.
func (c *Comm) Create(ctx context.Context, spec Spec) (*Comm, error) {
	var d *Comm
	h := c.Icreate(ctx, spec, func(made *Comm) { d = made }, nil)
	_, err := progress.WaitResult(&h)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Icreate starts a Create and returns its request. Before that completes, made is
// called at a rank that gets a communicator, and failed, unless nil, if the call has
// failed: both under ownership. Local.
func (c *Comm) Icreate(ctx context.Context, spec Spec, made func(*Comm), failed func()) progress.Handle {
	k := &creation{c: c, spec: spec, made: made, told: failed, failed: spec.Failed}
	if g := spec.Group; g != nil && k.failed == nil {
		for i := range g.Len() {
			if w := g.World(i); c.rankOf(w) < 0 || c.rankOf(w) >= c.Size {
				k.failed = &OutsiderError{w}
				break
			}
		}
	}
	x := &schedule{more: func() (*coll.Plan, *Operands, error) { return k.part() }, closed: k.close}
	switch {
	case spec.Split, spec.Group != nil:
		x.take(k.tell())
	default:
		k.ranks, k.place = c.Ranks, c.Rank
		k.part = k.draw
		x.take(&coll.Plan{}, &Operands{})
	}
	return c.begin(ctx, createCall, x, spec.Place)
}

// createCall is the call of creations in their messages' tags.
const createCall coll.Call = 31

// plan is one of the parent's ranks.
func (k *creation) plan(call coll.Call, bytes, root int) *coll.Plan {
	p := coll.Make(call, &coll.Shape{Rank: k.c.Rank, Size: k.c.Size, Root: root, Count: 1, Bytes: bytes, Commutes: true})
	return &p
}

const tellSize = 16

// tell has every rank hear of every rank's color and key, or of the first member and
// the hash of its group.
func (k *creation) tell() (*coll.Plan, *Operands) {
	k.in, k.out, k.part = make([]byte, tellSize), make([]byte, tellSize*k.c.Size), k.heard
	a, b := k.spec.Color, k.spec.Key
	if k.spec.Group != nil {
		a, b = k.groupWords()
	}
	binary.LittleEndian.PutUint64(k.in, uint64(a))
	binary.LittleEndian.PutUint64(k.in[8:], uint64(b))
	return k.plan(coll.Allgather, tellSize, 0), &Operands{In: k.in, Out: k.out, Elem: tellSize}
}

// groupWords are the first member of the group in the parent and the hash of all.
func (k *creation) groupWords() (first, hash int) {
	g := k.spec.Group
	if k.failed != nil || g.Rank(k.c.world(k.c.Rank)) < 0 {
		return NoColor, 0
	}
	h := fnv.New64a()
	var b [4]byte
	for i := range g.Len() {
		binary.LittleEndian.PutUint32(b[:], uint32(g.World(i)))
		h.Write(b[:])
	}
	return k.c.rankOf(g.World(0)), int(h.Sum64())
}

// heard finds the members of the new communicator.
func (k *creation) heard() (*coll.Plan, *Operands, error) {
	at := func(rank int) (a, b int) {
		w := k.out[tellSize*rank:]
		return int(binary.LittleEndian.Uint64(w)), int(binary.LittleEndian.Uint64(w[8:]))
	}
	mine, hash := at(k.c.Rank)
	k.leader = -1
	switch {
	case k.failed != nil || mine == NoColor:
	case k.spec.Split:
		type member struct{ key, rank int }
		var all []member
		for r := range k.c.Size {
			if color, key := at(r); color == mine {
				all = append(all, member{key, r})
			}
		}
		slices.SortFunc(all, func(a, b member) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.rank, b.rank)) })
		worlds := make([]int, len(all))
		for i, m := range all {
			if worlds[i] = k.c.world(m.rank); m.rank == k.c.Rank {
				k.place = i
			}
		}
		k.leader = all[0].rank
		k.ranks, k.failed = group.New(worlds)
	default:
		g := k.spec.Group
		for i := range g.Len() {
			r := k.c.rankOf(g.World(i))
			if first, h := at(r); first != mine || h != hash {
				k.failed = cmp.Or[error](k.failed, &GroupsError{r})
			}
		}
		k.leader, k.ranks, k.place = mine, g, g.Rank(k.c.world(k.c.Rank))
	}
	return k.draw()
}

// draw has every first member draw an id, and the members hear of it.
func (k *creation) draw() (*coll.Plan, *Operands, error) {
	k.part = k.drawn
	k.in = make([]byte, 8)
	if k.leader == k.c.Rank && k.failed == nil {
		k.id = k.c.in.draw()
		binary.LittleEndian.PutUint64(k.in, uint64(k.id))
	}
	if k.alone() {
		k.out = k.in
		return k.plan(coll.Bcast, 8, 0), &Operands{In: k.in, Out: k.out, Elem: 8}, nil
	}
	k.out = make([]byte, 8*k.c.Size)
	return k.plan(coll.Allgather, 8, 0), &Operands{In: k.in, Out: k.out, Elem: 8}, nil
}

// alone reports whether there is one new communicator, of all ranks.
func (k *creation) alone() bool { return !k.spec.Split && k.spec.Group == nil }

// Outcomes of a rank's part, of which the greatest counts.
const (
	outcomeWell   = 0
	outcomeClash  = 1 << 62
	outcomeFailed = 1 << 63 // with the class of the error and the rank
)

// drawn reserves the id and has the ranks agree.
func (k *creation) drawn() (*coll.Plan, *Operands, error) {
	k.part = k.agreed
	outcome := uint64(outcomeWell)
	switch {
	case k.failed != nil:
		code := 0
		if k.c.in.classify != nil {
			code = k.c.in.classify(k.failed)
		}
		outcome = outcomeFailed | uint64(uint32(code)&0x3fffffff)<<32 | uint64(uint32(k.c.Rank))
	case k.leader >= 0 && k.leader != k.c.Rank:
		at := 0
		if !k.alone() {
			at = 8 * k.leader
		}
		switch id := binary.LittleEndian.Uint64(k.out[at:]); {
		case id == 0: // the first member has failed
		case !k.c.P2P.Reserve(uint32(id)):
			outcome = outcomeClash
		default:
			k.id = uint32(id)
		}
	}
	k.in, k.out = make([]byte, 8), make([]byte, 8)
	binary.LittleEndian.PutUint64(k.in, outcome)
	return k.plan(coll.Allreduce, 8, 0), &Operands{In: k.in, Out: k.out, Elem: 8, Combine: greatest}, nil
}

// greatest is the operator of agreements.
func greatest(lower, upper, to []byte) {
	binary.LittleEndian.PutUint64(to, max(binary.LittleEndian.Uint64(lower), binary.LittleEndian.Uint64(upper)))
}

// agreed makes the communicator, or draws again, or fails.
func (k *creation) agreed() (*coll.Plan, *Operands, error) {
	switch outcome := binary.LittleEndian.Uint64(k.out); {
	case k.failed != nil:
		return nil, nil, k.failed
	case outcome&outcomeFailed != 0:
		return nil, nil, &CreationError{Rank: int(uint32(outcome)), Code: int32(outcome >> 32 & 0x3fffffff)}
	case outcome == outcomeClash:
		k.giveUp()
		return k.draw()
	case k.leader < 0:
		k.well = true
		return nil, nil, nil
	}
	k.well = true
	size := k.c.Size
	if k.ranks != nil {
		size = k.ranks.Len()
	}
	k.c.P2P.Open(k.id, k.ranks, nil)
	k.made(k.c.in.addOwned(&Comm{P2P: k.c.P2P, ID: k.id, Rank: k.place, Size: size, Ranks: k.ranks, in: k.c.in}))
	k.id = 0
	return nil, nil, nil
}

// giveUp gives the id up.
func (k *creation) giveUp() {
	if k.id != 0 {
		k.c.P2P.Unreserve(k.id)
		k.id = 0
	}
}

// close ends a creation, whatever has become of it.
func (k *creation) close() {
	k.giveUp()
	if !k.well && k.told != nil {
		k.told()
	}
}
