package match

import "sync/atomic"

// Wildcards of a receive (MPI-4.0 §3.2.4), with the values of MPI-5's ABI. A
// message has a definite source and tag, so neither value may stand in an
// arrival. Other negative values are ordinary ones here; which tags a user may
// choose is the caller's concern.
const (
	AnySource int32 = -1
	AnyTag    int32 = -2
)

// class says which parts of a receive are wildcards; it is also the index of
// the bins that serve it.
type class uint32

const (
	exact  class = 0
	anyTag class = 1
	anySrc class = 2
	// anySrc|anyTag is the fourth.
	classes = 4
)

func classOf(src, tag int32) (c class) {
	if tag == AnyTag {
		c = anyTag
	}
	if src == AnySource {
		c |= anySrc
	}
	return c
}

// mask makes a message's source and tag into the key under which a class files
// it. Its fields are 0, or -1 where the class has a wildcard.
type mask struct{ srcAny, tagAny int32 }

func (c class) mask() mask { return mask{-int32(c >> 1), -int32(c & 1)} }

// key puts the wildcards in: AnySource has all bits set, AnyTag all but the
// lowest.
func (m mask) key(src, tag int32) (int32, int32) {
	return src | m.srcAny, tag&^m.tagAny | AnyTag&m.tagAny
}

// Table holds the posted receives and the unexpected messages of one rank.
//
// The zero Table is empty and ready to use. A Table must not be copied after
// first use. It is not safe for concurrent use: one owner at a time makes all
// calls, even those that only read ([Table.PeekUnexpected] may build an index).
// No call blocks.
//
// The two queues are independent. To keep MPI's order the owner calls
// [Table.TakeUnexpected] before [Table.Post], and [Table.Arrive] before
// [Table.AddUnexpected], with no other call between the two.
type Table struct {
	posted     posted
	unexpected unexpected
	watch      *atomic.Uint32
}

// Watch has the number of unexpected messages stored in n whenever it changes, for others
// than the owner.
func (t *Table) Watch(n *atomic.Uint32) { t.watch = n }

func (t *Table) changed() {
	if t.watch != nil {
		t.watch.Store(uint32(t.unexpected.live))
	}
}

// Posted returns the number of posted receives that have not matched yet.
func (t *Table) Posted() int { return t.posted.live }

// Unexpected returns the number of unexpected messages queued.
func (t *Table) Unexpected() int { return t.unexpected.live }

// Probes returns how many slots of the hash tables have been looked at, without
// look-ups that end in the slot they begin in or beside the tables.
func (t *Table) Probes() uint64 {
	n := t.unexpected.exact.seen
	for c := range t.posted.class {
		n += t.posted.class[c].seen + t.unexpected.wild[c].seen
	}
	return n
}

// EachPosted calls f for the posted receives, in no particular order, until f
// returns false; it takes time in proportion to the greatest number there ever
// were. f may call [Table.Withdraw] on any entry. A receive that f posts may or
// may not be visited.
func (t *Table) EachPosted(f func(e Entry, ctx uint32, src, tag int32, id uint32) bool) {
	t.posted.each(f)
}

// EachUnexpected calls f for the unexpected messages, in no particular order,
// until f returns false; it takes time in proportion to the greatest number
// there ever were. f may call [Table.DropUnexpected] on any entry. A message
// that f adds may or may not be visited.
func (t *Table) EachUnexpected(f func(e Entry, ctx uint32, src, tag int32, id uint32) bool) {
	t.unexpected.each(f)
}
