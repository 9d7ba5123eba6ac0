package comm

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/group"
	"github.com/weft-mpi/weft/internal/pt2pt"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/mpi/cause"
	"github.com/weft-mpi/weft/progress"
)

// A meeting makes a communicator of ranks that have none in common, by letters. Its key
// is a hash of the name that they give and of their groups, so meetings of which
// anything differs do not mix. Meetings with one key follow one another: each takes
// all letters of its own.
//
// A rank that can't go on, because its context has ended, breaks the meeting off: it
// tells all others. How far the others have come may then differ from rank to rank, so
// nobody uses the key again. A rank that had heard of all others that they
// are well has its communicator by then: the collective calls on it fail. A death ends
// a meeting, and every later one, as each rank learns of it.

// Meeting is what ranks give that make a communicator without a common parent.
type Meeting struct {
	Key    string     // all members give the same, and no other meeting of theirs at the same time has it
	Own    *group.Map // ranks in the job: of the new communicator, or of its local group; nil: all
	Remote *group.Map // the other group of a new intercommunicator, or nil
	Failed error      // as Spec.Failed
	Place  [3]uintptr // as Spec.Place
}

// SpentError is the error of a creation whose name, a tag, was that of one that was
// broken off.
type SpentError struct{ Err error }

func (e *SpentError) Error() string {
	return fmt.Sprintf("an earlier creation of these ranks with this tag was broken off, so that they may not be in step: use another tag (%v)", e.Err)
}
func (e *SpentError) Unwrap() error { return e.Err }

// OverlapError is the error of two groups of an intercommunicator that have a rank in
// common.
type OverlapError struct {
	Rank int // in the job
}

func (e *OverlapError) Error() string {
	return fmt.Sprintf("rank %d of the job is in both groups: an intercommunicator has two groups with no rank in common", e.Rank)
}

// ErrNotMember is returned by the creation of a communicator of a group, to a rank
// that is not in it.
var ErrNotMember = errors.New("this rank is not in the group: only its members make the communicator")

// Meet makes a communicator of the ranks of a group that all call it, and no others
// (MPI_Comm_create_group, MPI_Comm_create_from_group,
// MPI_Intercomm_create_from_groups, MPI-4.0 §7.4.2, §7.6.2). Non-local.
func (in *Instance) Meet(ctx context.Context, m Meeting) (*Comm, error) {
	own := in.listed(m.Own)
	if own.Rank(in.World.Rank) < 0 {
		return nil, ErrNotMember
	}
	if err := overlap(own, m.Remote); err != nil {
		return nil, err
	}
	k := &creation{in: in, failed: m.Failed}
	mt := k.meet(keyOf("meeting", m.Key, own, m.Remote), own, m.Remote)
	k.of(mt.all)
	k.makeOf(own, m.Remote)
	k.part = k.draw
	k.schedule(mt)
	return k.wait(ctx, m.Place)
}

// listed returns a group that is not nil.
func (in *Instance) listed(m *group.Map) *group.Map {
	if m == nil {
		return group.All(in.World.Size)
	}
	return m
}

// overlap returns the error of groups that have a rank in common, or nil.
func overlap(a, b *group.Map) error {
	if b != nil {
		if both := a.Intersection(b); both.Len() > 0 {
			return &OverlapError{both.World(0)}
		}
	}
	return nil
}

// canonical returns two groups in the order that all ranks put them in: first that
// whose first member has the lower rank in the job. A group without members is last.
func canonical(a, b *group.Map) (first, second *group.Map) {
	if b.Len() > 0 && (a.Len() == 0 || b.World(0) < a.World(0)) {
		return b, a
	}
	return a, b
}

// keyOf is the key of a kind of meeting with a name, of a group, or of two.
func keyOf(kind, name string, a, b *group.Map) (key letterKey) {
	var text []byte
	for _, s := range [...]string{kind, name} {
		text = binary.LittleEndian.AppendUint64(text, uint64(len(s)))
		text = append(text, s...)
	}
	if b != nil {
		a, b = canonical(a, b)
	}
	for _, g := range [...]*group.Map{a, b} {
		text = binary.LittleEndian.AppendUint64(text, uint64(int64(g.Len()))) // -1 for none
		text = appendRanks(text, g)
	}
	return sha256.Sum256(text)
}

// appendRanks appends a group's ranks in the job, 4 bytes each.
func appendRanks(b []byte, g *group.Map) []byte {
	for i := range max(g.Len(), 0) {
		b = binary.LittleEndian.AppendUint32(b, uint32(g.World(i)))
	}
	return b
}

// meeting is one at a rank, the medium of its creation.
type meeting struct {
	in  *Instance
	key letterKey
	all *group.Map // both groups
	k   *creation
	x   *schedule
	box *box

	wrote []int // ranks of the job that it has sent letters
}

// meet returns a meeting of a group, or of two without a rank in common.
func (k *creation) meet(key letterKey, own, remote *group.Map) *meeting {
	m := &meeting{in: k.in, k: k, key: key, all: own}
	if remote != nil {
		first, second := canonical(own, remote)
		m.all = first.Union(second)
	}
	return m
}

func (m *meeting) Instance() *Instance { return m.in }

func (m *meeting) world(peer int) int { return m.all.World(peer) }

func (m *meeting) send(to int, _ int32, d pt2pt.Data, _ [3]uintptr, hook func(*progress.Request, error)) {
	m.in.letters.send(to, m.key, d.Bytes)
	if !slices.Contains(m.wrote, to) {
		m.wrote = append(m.wrote, to)
	}
	hook(nil, nil)
}

func (m *meeting) recv(from int, _ int32, d pt2pt.Data, place [3]uintptr, hook func(*progress.Request, error)) {
	m.in.letters.receive(from, m.key, d.Bytes, place, hook)
}

// hold begins the meeting, or has it wait for an earlier one of this rank with the
// same key.
func (m *meeting) hold(x *schedule) error {
	m.x = x
	l := m.in.letters
	if why, over := l.spent.why[m.key]; over {
		if m.all.Rank(why.by) >= 0 {
			why.all = m.all
			if _, left := l.gone[fabric.Peer(why.by)]; left {
				l.passOn(m.key, why)
			}
			return &SpentError{why.err}
		}
		delete(l.spent.why, m.key) // no rank of the meeting
	}
	if rank, err := l.missing(m.all); err != nil {
		m.end(rank, err)
		return err
	}
	m.box = l.box(m.key)
	if m.box.meeting == nil {
		m.box.meeting = m
		return nil
	}
	m.box.next = append(m.box.next, m)
	x.open++
	return nil
}

// missing returns a rank of a group that is down, and why, or no error.
func (l *letters) missing(all *group.Map) (rank int, err error) {
	for p, why := range l.gone {
		if all.Rank(int(p)) >= 0 && (err == nil || int(p) < rank) {
			rank, err = int(p), why
		}
	}
	return rank, err
}

// release ends the meeting, and has the next one of this rank with the key go on.
func (m *meeting) release(*schedule) {
	b := m.box
	if b == nil || b.meeting != m {
		return
	}
	b.meeting = nil
	if len(b.next) == 0 {
		m.in.letters.tidyBox(b)
		return
	}
	b.meeting, b.next = b.next[0], b.next[1:]
	b.meeting.x.messageEnded(nil, nil)
}

// failed breaks the meeting off.
func (m *meeting) failed(_ *schedule, err error) error {
	m.end(m.in.World.Rank, err)
	return err
}

// end breaks the meeting off because of a rank. If that is news it tells the others,
// but for a death, of which they learn: then only those that it has sent letters are
// told, since they may not be going to ask for these.
func (m *meeting) end(by int, err error) {
	switch news := m.in.letters.breakOff(m.key, by, err); {
	case !news || errors.Is(err, fabric.ErrClosed):
	case allLearn(err):
		for _, w := range m.wrote {
			m.in.Loop.Conn(fabric.Peer(w)).Post(wire.Letter, wire.LetterVoid, m.key[:])
		}
	default:
		m.tell(err)
	}
}

// tell has all other ranks end the meeting.
func (m *meeting) tell(err error) {
	reason := wire.MakeLetterReason(int32(m.in.class(err)), m.k.id, err.Error())
	for i := range m.all.Len() {
		if w := m.all.World(i); w != m.in.World.Rank {
			m.in.Loop.Conn(fabric.Peer(w)).PostBody(wire.Letter, wire.LetterOff, m.key[:], reason[:min(len(reason), m.in.letters.piece(w))])
		}
	}
}

// spentKeys are the keys of the last meetings that were broken off. Letters that come for
// them are dropped.
type spentKeys struct {
	why  map[letterKey]*spentKey
	keys []letterKey // a ring, once it is full
	next int         // the oldest of a full ring
}

// spentKey says which rank has broken a meeting off, and why.
type spentKey struct {
	by  int
	err error

	made   uint32     // the context of the communicator, at the rank that has told, or 0
	all    *group.Map // the ranks of the meeting, or nil: this rank has not begun it
	passed bool       // see passOn
}

// mostSpent is how many keys are remembered.
const mostSpent = 4096

// add reports whether the key is a new one.
func (e *spentKeys) add(key letterKey, why *spentKey) bool {
	if _, old := e.why[key]; old {
		return false
	}
	e.why[key] = why
	if len(e.keys) < mostSpent {
		e.keys = append(e.keys, key)
		return true
	}
	delete(e.why, e.keys[e.next])
	e.keys[e.next] = key
	e.next = (e.next + 1) % mostSpent
	return true
}

// breakOff ends the meetings of a key at this rank, and reports whether it had not been
// done.
func (l *letters) breakOff(key letterKey, by int, err error) (news bool) {
	b, spent := l.boxes[key], &spentKey{by: by, err: err}
	if b != nil && b.meeting != nil {
		spent.all = b.meeting.all
	}
	if !l.spent.add(key, spent) {
		return false
	}
	if b == nil {
		return true
	}
	delete(l.boxes, key)
	var waiting []*inbox
	for _, i := range b.from {
		l.empty(i)
		waiting = append(waiting, i)
	}
	next := b.next
	b.next = nil
	for _, m := range next {
		m.x.messageEnded(nil, &SpentError{err})
	}
	why := err
	if by == l.in.World.Rank { // the end of a meeting's context, say, is not another's
		why = &SpentError{err}
	}
	for _, i := range waiting {
		i.fail(why)
	}
	return true
}

// passOn tells the other ranks of a meeting what one has told that has left: not all of it
// may have left with it.
func (l *letters) passOn(key letterKey, why *spentKey) {
	var told *cause.CallError
	if why.passed || why.all == nil || !errors.As(why.err, &told) {
		return
	}
	why.passed = true
	reason := wire.MakeLetterReason(told.Code, why.made, told.Error())
	for i := range why.all.Len() {
		if w := why.all.World(i); w != l.in.World.Rank {
			l.in.Loop.Conn(fabric.Peer(w)).PostBody(wire.Letter, wire.LetterOff, key[:], reason[:min(len(reason), l.piece(w))])
		}
	}
}

// breakMade ends the collective calls on a communicator that a rank of it has not got,
// since it has broken its meeting off at the last moment.
func (in *Instance) breakMade(id uint32, by int, err error) {
	in.mu.Lock()
	var made *Comm
	for c := range in.live {
		if c.ID == id && id != 0 && (c.rankOf(by) >= 0 || c.Remote != nil && c.Remote.Rank(by) >= 0) {
			made = c
		}
	}
	in.mu.Unlock()
	if made != nil {
		made.breakFrom(1, err)
	}
}

// class is the class of an error, as other ranks are told of it.
func (in *Instance) class(err error) int {
	if in.classify == nil {
		return 0
	}
	return in.classify(err)
}
