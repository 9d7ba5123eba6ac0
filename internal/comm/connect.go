package comm

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/weft-mpi/weft/internal/coll"
	"github.com/weft-mpi/weft/internal/group"
)

// A Connect makes an intercommunicator of two groups that each have a communicator,
// and whose leaders have another one in common (MPI_Intercomm_create). The ranks of a
// group
//
//	agree     that none of them has failed, and on their leader
//	exchange  groups with the other one: the leaders write letters (exchange.go)
//	share     what their leader has heard
//	meet      with the other group, as in meeting.go
//
// The first three are parts of one collective call on the group's communicator, which
// remains usable if a rank of either group fails.

// Connection is what the ranks of a communicator give that connect it to another one.
// Peer, RemoteLeader and Tag are significant at the rank Leader.
type Connection struct {
	Leader            int   // rank in the communicator, the same at all
	Peer              *Comm // of both leaders
	RemoteLeader, Tag int   // rank in Peer; of two Connects of the same leaders at the same time each has another tag
	Failed            error // as Spec.Failed
	Place             [3]uintptr
}

// LeaderError is the error of a Connect whose ranks name different leaders.
type LeaderError struct{ Leader, Other int }

func (e *LeaderError) Error() string {
	return fmt.Sprintf("this rank says that rank %d leads its group, another one says rank %d: all give the same leader", e.Leader, e.Other)
}

var (
	errBetween  = errors.New("the local communicator is an intercommunicator: it has to be of one group")
	errNoLeader = errors.New("the leader of the other group is no rank of the peer communicator")
)

// connecting is a Connect under way at a rank. Its fields belong to the owner of the
// loop, once the call has begun.
type connecting struct {
	*creation
	c    *Comm // the local communicator
	at   Connection
	mine *group.Map // its ranks
	exchange
	met *meeting // of both groups, once they meet
}

// Connect makes an intercommunicator of the ranks of c, which all call it, and of
// those of the remote leader's group (MPI_Intercomm_create, MPI-4.0 §7.6.2).
// Non-local.
func (c *Comm) Connect(ctx context.Context, x Connection) (*Comm, error) {
	if c.Remote != nil {
		return nil, errBetween
	}
	j := &connecting{creation: c.creationOfAll(coll.IntercommCreate, x.Failed), c: c, at: x, mine: c.in.listed(c.Ranks)}
	j.part, j.x.closed = j.agreeHere, j.close
	if c.Rank == x.Leader {
		j.failed = cmp.Or(j.failed, j.find())
	}
	return j.wait(ctx, x.Place)
}

// find finds the remote leader and returns why there is none.
func (j *connecting) find() error {
	p, r := j.at.Peer, j.at.RemoteLeader
	if p == nil || r < 0 || r >= p.Peers() {
		return errNoLeader
	}
	if p.Remote != nil {
		r += p.Size
	}
	me, other := j.in.World.Rank, p.world(r)
	if other == me {
		return &OverlapError{me}
	}
	leaders, _ := group.New([]int{min(me, other), max(me, other)}) // two ranks
	j.exchange.begin(j, other, keyOf("leaders", fmt.Sprint(p.ID, " ", j.at.Tag), leaders, nil))
	return nil
}

// agreeHere has the ranks of the group agree on the worst outcome, and hear of the
// greatest and the least leader.
func (j *connecting) agreeHere() (*coll.Plan, *Operands, error) {
	j.in.letters.links[j] = true
	j.part = j.agreedHere
	p, o := j.agree(j.in.outcomeOf(j.failed), uint64(uint32(j.at.Leader)), uint64(^uint32(j.at.Leader)))
	return p, o, nil
}

// agreedHere begins the exchange at the leader. The others wait for what comes of it.
func (j *connecting) agreedHere() (*coll.Plan, *Operands, error) {
	le := binary.LittleEndian
	outcome, greatest, least := le.Uint64(j.out), int(int32(le.Uint64(j.out[8:]))), int(int32(^uint32(le.Uint64(j.out[16:]))))
	switch {
	case j.failed != nil:
	case greatest != j.at.Leader:
		j.failed = &LeaderError{j.at.Leader, greatest}
	case least != j.at.Leader:
		j.failed = &LeaderError{j.at.Leader, least}
	case outcome != outcomeWell:
		j.failed, j.outcome = j.failure(outcome), outcome
	}
	switch {
	case j.failed != nil:
		return nil, nil, j.failed
	case j.c.Rank == j.at.Leader:
		j.part = j.share
		j.exchange.hello()
		p, o := emptyPlan()
		return p, o, nil
	}
	return j.share()
}

// shareSize is the length of what the leader tells first: the outcome of the exchange,
// the ranks of the other group, and the key.
const shareSize = 16 + len(letterKey{})

// share has the leader tell what has come of the exchange.
func (j *connecting) share() (*coll.Plan, *Operands, error) {
	j.part = j.shareGroup
	j.word = make([]byte, shareSize)
	if j.c.Rank == j.at.Leader {
		binary.LittleEndian.PutUint64(j.word, j.outcome)
		binary.LittleEndian.PutUint64(j.word[8:], uint64(max(j.theirs.Len(), 0)))
		copy(j.word[16:], j.key[:])
	}
	return j.plan(coll.Bcast, shareSize, j.at.Leader), &Operands{In: j.word, Out: j.word, Elem: shareSize}, nil
}

// shareGroup has the leader tell the other group.
func (j *connecting) shareGroup() (*coll.Plan, *Operands, error) {
	j.part = j.meetThem
	outcome := binary.LittleEndian.Uint64(j.word)
	switch {
	case j.failed != nil:
		return nil, nil, j.failed
	case outcome != outcomeWell:
		return nil, nil, j.failure(outcome)
	}
	if j.c.Rank == j.at.Leader {
		j.out = appendRanks(nil, j.theirs)
	} else {
		j.key = letterKey(j.word[16:])
		j.out = make([]byte, rankSize*min(binary.LittleEndian.Uint64(j.word[8:]), uint64(j.in.World.Size)))
	}
	return j.plan(coll.Bcast, len(j.out), j.at.Leader), &Operands{In: j.out, Out: j.out, Elem: len(j.out)}, nil
}

// meetThem has both groups meet. The local communicator is held until the end, so that
// a failure there ends the meeting.
func (j *connecting) meetThem() (*coll.Plan, *Operands, error) {
	j.part = j.draw
	var err error
	if j.theirs, err = ranksIn(j.out); err == nil {
		err = overlap(j.mine, j.theirs)
	}
	if err != nil {
		return nil, nil, err // at all ranks of both groups
	}
	j.met = j.meet(j.name(), j.mine, j.theirs)
	j.of(j.met.all)
	j.makeOf(j.mine, j.theirs)
	j.creation.c, j.x.m = nil, j.met
	if err := j.met.hold(j.x); err != nil {
		return nil, nil, err
	}
	p, o := emptyPlan()
	return p, o, nil
}

// name is the key of the groups' meeting.
func (j *connecting) name() letterKey {
	return keyOf("connection", string(j.key[:]), j.mine, j.theirs)
}

// rankSize is the length of a rank in a message.
const rankSize = 4

// ranksIn returns the group that appendRanks has appended.
func ranksIn(b []byte) (*group.Map, error) {
	worlds := make([]int, len(b)/rankSize)
	for i := range worlds {
		worlds[i] = int(int32(binary.LittleEndian.Uint32(b[rankSize*i:])))
	}
	return group.New(worlds)
}

// abort ends what is not an operation in the local communicator's context, because that
// has failed. For the owner.
func (j *connecting) abort(err error) {
	switch {
	case j.x.over:
	case j.met != nil:
		j.x.goOn(err)
	default:
		j.exchange.abort(err)
	}
}

// close ends a Connect, whatever has become of it. If the other leader has been told
// that all is well its group may have begun to meet.
func (j *connecting) close() {
	delete(j.in.letters.links, j)
	switch {
	case j.met != nil:
		j.c.release(j.x)
	case j.leads && j.sent == mostLetters && overlap(j.mine, j.theirs) == nil:
		if err := cmp.Or(j.x.err, j.failed); j.in.letters.breakOff(j.name(), j.in.World.Rank, err) {
			j.meet(j.name(), j.mine, j.theirs).tell(err) // of a death, too: ranks here do not know the key
		}
	}
	j.exchange.settle()
	j.creation.close()
}
