package comm

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/group"
	"github.com/weft-mpi/weft/progress"
)

// A communicator is made by a collective call of ranks, those of a parent or of a
// meeting (meeting.go), in parts:
//
//	tell   each rank tells the others which new communicator it is to be in
//	       (Split, Create, Merge; members.go); a duplicate needs no telling
//	draw   the first member of each new communicator draws a context id and reserves
//	       it at its engine, and the members hear of it
//	agree  every member reserves the id. All ranks agree on the worst outcome: well,
//	       an id is taken at some rank, or a rank has failed
//
// If all went well each member makes its communicator. If an id was taken all begin
// to draw again. If a rank has failed all fail alike, and the parent remains usable:
// nothing is half made. Until then a reservation keeps other creations from the id,
// so of two that draw the same id at once one goes on at most. A death, or a context
// that ends, fails the call as any collective call. Then some members may have agreed
// already: those that have not tell them, and all calls on what they have made fail.
//
// The ranks of both groups of an intercommunicator take part as one group, in the
// canonical order: an id is unique in both.

// CreationError is the error of the ranks of a creation that has failed at another
// rank.
type CreationError struct {
	Rank  int   // in the parent
	InJob bool  // there is no parent, or it has two groups: Rank is that in the job
	Code  int32 // the class of its error
}

func (e *CreationError) Error() string {
	of := ""
	if e.InJob {
		of = " of the job"
	}
	return fmt.Sprintf("no rank has got the communicator, since rank %d%s could not take part; its error says why", e.Rank, of)
}

// GroupsError is the error of a creation whose members give different groups.
type GroupsError struct {
	Rank int // in its group of the parent, whose group is another one
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

// KindsError is the error of a creation to which ranks have given two kinds, or more: the
// least and the greatest.
type KindsError struct{ Least, Greatest uint64 }

func (e *KindsError) Error() string { return "the ranks make different calls for a window" }

// Spec says which communicator a rank of the parent is to be in.
type Spec struct {
	// Failed is why this rank can't take part in what all ranks do, or nil. Then all
	// fail.
	Failed error
	// Split: ranks of the same color get a communicator, in the order of key and then
	// of their ranks in the parent; those of NoColor get none. Of an
	// intercommunicator each side has its own colors, and gets none of a color that
	// the other side lacks.
	Split bool
	Color int
	Key   int
	// Group are the ranks of the job that get a communicator; this rank gets none if
	// it is not one of them. It is nil for a Split, and for a duplicate. Of an
	// intercommunicator it is a part of the local group, and the new one's.
	Group *group.Map
	// Kind, unless 0, is a number that all ranks give alike, of a window's kind. Else all
	// fail with a KindsError. All ranks give one, or none.
	Kind uint64
	// Place is what reports say made the call (frames.Callers).
	Place [3]uintptr
}

// call is the creation among the communicator's collective calls.
func (s *Spec) call() coll.Call {
	switch {
	case s.Split:
		return coll.Split
	case s.Group != nil:
		return coll.Create
	}
	return coll.Dup
}

// NoColor is the color of a rank that is to be in no communicator.
const NoColor = -32766

// creation is one that is under way at a rank. Its fields are the owner's of the
// loop, once the call has begun.
type creation struct {
	in   *Instance
	c    *Comm // the parent, or nil
	x    *schedule
	spec Spec
	made func(*Comm)
	told func() // of a failure

	// Who takes part.
	all        *group.Map // ranks of the job, nil: all
	rank, size int
	first      int // how many of them are of the first of two groups

	failed      error
	ranks       *group.Map // of the new communicator, or its local group; nil: all of the job
	remote      *group.Map // its remote group, or nil
	leader      int        // of those that take part, the first member, -1 if this rank is in none
	place, many int        // of this rank in ranks, and how many these are
	single      bool       // there is one new communicator, of all
	high        bool       // see Merge
	id          uint32     // reserved here, or 0
	well        bool       // all have agreed that the creation succeeds
	agrees      bool       // this rank has said so, and does not know what the others have

	part      func() (*coll.Plan, *Operands, error) // the next one
	word, out []byte
}

// Create makes a communicator of ranks of this one, which all call it. It returns nil
// for a rank that is to be in none. Non-local.
func (c *Comm) Create(ctx context.Context, spec Spec) (*Comm, error) {
	k := c.creation(spec)
	return k.wait(ctx, spec.Place)
}

// Icreate starts a Create and returns its request. Before that completes, made is
// called at a rank that gets a communicator, and failed, unless nil, if the call has
// failed: both under ownership. Local.
func (c *Comm) Icreate(ctx context.Context, spec Spec, made func(*Comm), failed func()) progress.Handle {
	k := c.creation(spec)
	k.made, k.told = made, failed
	return k.x.begin(ctx, spec.Place)
}

// creation returns one of ranks of the communicator, which takes its place among the
// collective calls.
func (c *Comm) creation(spec Spec) *creation {
	k := c.creationOfAll(spec.call(), spec.Failed)
	k.spec = spec
	if g := spec.Group; g != nil && k.failed == nil {
		for i := range g.Len() {
			if w := g.World(i); c.rankOf(w) < 0 || c.rankOf(w) >= c.Size {
				k.failed = &OutsiderError{w}
				break
			}
		}
	}
	if spec.Split || spec.Group != nil {
		k.single = false
		k.part = k.tell
	}
	return k
}

// creationOfAll returns one of a duplicate, as a call of this name.
func (c *Comm) creationOfAll(call coll.Call, failed error) *creation {
	k := &creation{in: c.in, c: c, failed: failed, all: c.Ranks, rank: c.Rank, size: c.Size, first: c.Size,
		ranks: c.Ranks, remote: c.Remote, place: c.Rank, many: c.Size, single: true}
	k.part = k.draw
	var m medium = c
	if c.Remote != nil {
		a, b := canonical(c.Ranks, c.Remote)
		k.of(a.Union(b))
		k.first = a.Len()
		m = union{c, k.all}
	}
	x := k.schedule(m)
	x.call, x.is = call, signed(call, 0, 0)
	c.place(x)
	return k
}

// of sets who takes part.
func (k *creation) of(all *group.Map) {
	k.all, k.rank, k.size = all, all.Rank(k.in.World.Rank), all.Len()
}

// makeOf sets of whom the one new communicator is to be.
func (k *creation) makeOf(own, remote *group.Map) {
	k.ranks, k.remote, k.place, k.many, k.single = own, remote, own.Rank(k.in.World.Rank), own.Len(), true
}

// world is the rank in the job of one that takes part.
func (k *creation) world(rank int) int { return k.all.World(rank) }

// schedule makes the call that carries the creation out.
func (k *creation) schedule(m medium) *schedule {
	k.x = &schedule{m: m, closed: k.close,
		more: func() (*coll.Plan, *Operands, error) { return k.part() }}
	k.x.take(emptyPlan())
	return k.x
}

// emptyPlan is the plan of a part that has no messages.
func emptyPlan() (*coll.Plan, *Operands) { return &coll.Plan{}, &Operands{} }

// wait carries the creation out.
func (k *creation) wait(ctx context.Context, place [3]uintptr) (d *Comm, err error) {
	k.made = func(made *Comm) { d = made }
	h := k.x.begin(ctx, place)
	if _, err = progress.WaitResult(&h); err != nil {
		return nil, err
	}
	return d, nil
}

// plan is one of the ranks that take part.
func (k *creation) plan(call coll.Call, bytes, root int) *coll.Plan {
	p := coll.Make(call, &coll.Shape{Rank: k.rank, Size: k.size, Root: root, Count: 1, Bytes: bytes, Commutes: true})
	return &p
}

// draw has every first member draw an id, and the members hear of it.
func (k *creation) draw() (*coll.Plan, *Operands, error) {
	k.part = k.drawn
	k.word = make([]byte, 8)
	if k.leader == k.rank && k.failed == nil {
		k.id = k.in.draw()
		binary.LittleEndian.PutUint64(k.word, uint64(k.id))
	}
	if k.single {
		k.out = k.word
		return k.plan(coll.Bcast, 8, 0), &Operands{In: k.word, Out: k.out, Elem: 8}, nil
	}
	k.out = make([]byte, 8*k.size)
	return k.plan(coll.Allgather, 8, 0), &Operands{In: k.word, Out: k.out, Elem: 8}, nil
}

// Outcomes of a rank's part, of which the greatest counts.
const (
	outcomeWell   = 0
	outcomeClash  = 1 << 62
	outcomeFailed = 1 << 63 // with the class of the error and the rank in the job
)

// outcomeOf is that of a rank of the job, which has failed with err unless that is nil.
func (in *Instance) outcomeOf(err error) uint64 {
	if err == nil {
		return outcomeWell
	}
	return outcomeFailed | uint64(uint32(in.class(err))&0x3fffffff)<<32 | uint64(uint32(in.World.Rank))
}

// failure is the error of an outcome that is another rank's failure.
func (k *creation) failure(outcome uint64) error {
	e := &CreationError{Rank: int(uint32(outcome)), InJob: true, Code: int32(outcome >> 32 & 0x3fffffff)}
	if k.c != nil && k.c.Remote == nil && k.c.rankOf(e.Rank) >= 0 {
		e.Rank, e.InJob = k.c.rankOf(e.Rank), false
	}
	return e
}

// drawn reserves the id and has the ranks agree.
func (k *creation) drawn() (*coll.Plan, *Operands, error) {
	k.part = k.agreed
	outcome := k.in.outcomeOf(k.failed)
	if k.failed == nil && k.leader >= 0 && k.leader != k.rank {
		at := 0
		if !k.single {
			at = 8 * k.leader
		}
		switch id := binary.LittleEndian.Uint64(k.out[at:]); {
		case id == 0: // the first member has failed
		case !k.in.P2P.Reserve(uint32(id)):
			outcome = outcomeClash
		default:
			k.id = uint32(id)
		}
	}
	k.agrees = outcome == outcomeWell
	words := []uint64{outcome}
	if k.spec.Kind != 0 {
		words = append(words, k.spec.Kind, ^k.spec.Kind)
	}
	p, o := k.agree(words...)
	return p, o, nil
}

// agree has the ranks hear of the greatest of each word.
func (k *creation) agree(words ...uint64) (*coll.Plan, *Operands) {
	k.word, k.out = nil, make([]byte, 8*len(words))
	for _, w := range words {
		k.word = binary.LittleEndian.AppendUint64(k.word, w)
	}
	return k.plan(coll.Allreduce, len(k.word), 0), &Operands{In: k.word, Out: k.out, Elem: len(k.word), Combine: greatest}
}

// greatest is the operator of agreements.
func greatest(lower, upper, to []byte) {
	for i := 0; i < len(to); i += 8 {
		binary.LittleEndian.PutUint64(to[i:], max(binary.LittleEndian.Uint64(lower[i:]), binary.LittleEndian.Uint64(upper[i:])))
	}
}

// agreed makes the communicator, or draws again, or fails.
func (k *creation) agreed() (*coll.Plan, *Operands, error) {
	k.agrees = false
	switch outcome := binary.LittleEndian.Uint64(k.out); {
	case k.failed != nil:
		return nil, nil, k.failed
	case outcome&outcomeFailed != 0:
		return nil, nil, k.failure(outcome)
	case k.differ() != nil:
		return nil, nil, k.differ()
	case outcome == outcomeClash:
		k.giveUp()
		return k.draw()
	case k.leader < 0:
		k.well = true
		return nil, nil, nil
	}
	k.well = true
	k.made(k.in.addOwned(k.open()))
	k.id = 0
	return nil, nil, nil
}

// differ is the error of ranks that have given kinds that differ, or nil. The greatest
// complement is that of the least.
func (k *creation) differ() error {
	if k.spec.Kind == 0 {
		return nil
	}
	e := &KindsError{^binary.LittleEndian.Uint64(k.out[16:]), binary.LittleEndian.Uint64(k.out[8:])}
	if e.Least == e.Greatest {
		return nil
	}
	return e
}

// open makes the id the new communicator's.
func (k *creation) open() *Comm {
	if k.remote != nil {
		k.ranks = k.in.listed(k.ranks)
	} else if k.ranks != nil && k.ranks.Compare(k.in.listed(nil)) == group.Ident {
		k.ranks = nil // numbered as the job, so that no rank is translated
	}
	k.in.P2P.Open(k.id, k.ranks, k.remote)
	return &Comm{P2P: k.in.P2P, ID: k.id, Rank: k.place, Size: k.many, Ranks: k.ranks, Remote: k.remote, in: k.in}
}

// abandon ends a creation that other members may take for a success. They may send in
// the new context, so its id rests like that of a communicator that was freed.
func (k *creation) abandon() {
	k.agrees = false
	if k.id == 0 || k.in.Loop.Over() {
		return
	}
	k.in.forgetEarly(k.id)
	k.in.forgetFailing(k.id)
	d := k.open()
	if why := k.x.err; why != nil {
		d.tellAbort(1, why)
	}
	k.in.P2P.Close(k.id)
	k.id = 0
}

// giveUp gives the id up.
func (k *creation) giveUp() {
	if k.id != 0 {
		k.in.P2P.Unreserve(k.id)
		k.id = 0
	}
}

// close ends a creation, whatever has become of it.
func (k *creation) close() {
	if k.agrees {
		k.abandon()
	}
	k.giveUp()
	if !k.well && k.told != nil {
		k.told()
	}
}
