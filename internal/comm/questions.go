package comm

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/diagnose"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// questions are those of this rank to others, and it replies to theirs: about what they
// wait for. It is the sink of Asks and Tells. Its fields belong to the owner of the loop.
type questions struct {
	progress.Passive
	in       *Instance
	last     uint64
	open     map[uint64]*question
	settling int // replies that wait for those of others
}

// question is one to some ranks. The replies are the caller's once done is closed.
type question struct {
	replies map[fabric.Peer]*reply
	missing int
	done    chan struct{}
}

type reply struct {
	state []byte
	said  wire.Told // with TellLast once it is complete
	why   string    // there is none
}

// Bounds of questions and replies.
const (
	mostTold     = 64       // entries of each list of a state in a reply
	mostReply    = 64 << 10 // bytes of it
	mostSettling = 64       // replies under way that wait for those of others
	mostAsked    = 64       // ranks that Job asks
	askTime      = time.Second
	settledTime  = hearTime + time.Second/2
)

const noReply = "no reply: it has no progress thread and is in no call, or its process is busy or stopped"

// ask asks ranks and returns the replies, those that have not come in time with the
// reason. The progress threads there reply. Non-local.
func (k *questions) ask(ranks []int, a wire.Asked, within time.Duration) map[fabric.Peer]*reply {
	in := k.in
	q := &question{replies: map[fabric.Peer]*reply{}, done: make(chan struct{})}
	number := uint64(0)
	in.Loop.Exclusive(func() {
		k.last++
		number = k.last
		k.open[number] = q
		q.missing = 1 // until all are asked
		for _, r := range ranks {
			p := fabric.Peer(r)
			if in.Loop.Over() || r < 0 || r >= in.World.Size || r == in.World.Rank || q.replies[p] != nil {
				continue
			}
			q.replies[p] = &reply{why: noReply}
			q.missing++
			if down := in.Loop.Conn(p).Down(); down != nil {
				k.end(q, p, down)
				continue
			}
			in.Loop.Conn(p).Post(wire.Ask, wire.MakeAsk(number, a), nil)
		}
		q.count()
	})
	t := time.NewTimer(within)
	defer t.Stop()
	select {
	case <-q.done:
	case <-t.C:
	}
	in.Loop.Exclusive(func() { delete(k.open, number) })
	return q.replies
}

// count notes that one more rank has replied, or never will.
func (q *question) count() {
	if q.missing--; q.missing == 0 {
		close(q.done)
	}
}

// end ends a question to a rank that is down.
func (k *questions) end(q *question, p fabric.Peer, err error) {
	if t := q.replies[p]; t != nil && t.said&wire.TellLast == 0 {
		t.said, t.why = wire.TellLast, err.Error()
		q.count()
	}
}

func (k *questions) PeerDown(p fabric.Peer, err error) {
	for _, q := range k.open {
		k.end(q, p, err)
	}
}

func (k *questions) Deliver(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
	number, asked, ok := wire.ParseAsk(imm)
	if kind == wire.Ask && ok && len(hdr)+len(body) == 0 {
		k.reply(from, number, asked)
		return
	}
	number, said, ok := wire.ParseTell(imm)
	if kind == wire.Ask || !ok || len(hdr) > 0 || !k.take(from, number, said, body) {
		k.in.Loop.EndPeer(from, &fabric.Error{Op: "receive", Peer: from, HasPeer: true,
			Err: fmt.Errorf("%w: malformed question or reply about what a rank waits for", fabric.ErrPeerDown)})
	}
}

// take takes a piece of a reply. A late one is dropped.
func (k *questions) take(from fabric.Peer, number uint64, said wire.Told, body []byte) bool {
	q := k.open[number]
	if q == nil || q.replies[from] == nil || q.replies[from].said&wire.TellLast != 0 {
		return true
	}
	t := q.replies[from]
	t.state, t.said = append(t.state, body...), said
	if said&wire.TellLast != 0 {
		t.why = ""
		q.count()
	}
	return len(t.state) <= mostReply
}

// reply replies to a question. One that is to settle first does so on a goroutine of its
// own, as it waits.
func (k *questions) reply(to fabric.Peer, number uint64, a wire.Asked) {
	switch {
	case a == wire.AskReply:
		k.tell(to, number, nil)
	case a == wire.AskState:
		s := k.in.newState(nil)
		s.collect()
		k.tell(to, number, encode(s.finish(mostTold)))
	case k.settling < mostSettling:
		k.settling++
		go func() {
			state := encode(k.in.Settled())
			k.in.Loop.Exclusive(func() {
				if k.settling--; !k.in.Loop.Over() {
					k.tell(to, number, state)
				}
			})
		}()
	}
}

// tell sends a reply in pieces.
func (k *questions) tell(to fabric.Peer, number uint64, state []byte) {
	c := k.in.Loop.Conn(to)
	if c.Down() != nil {
		return
	}
	said := wire.Told(0)
	sending, receiving := k.in.P2P.UnderWay(int(to))
	if sending {
		said |= wire.Sending
	}
	if receiving {
		said |= wire.Receiving
	}
	for piece := k.in.letters.piece(int(to)); len(state) > piece; state = state[piece:] {
		c.PostBody(wire.Tell, wire.MakeTell(number, said), nil, state[:piece])
	}
	c.PostBody(wire.Tell, wire.MakeTell(number, said|wire.TellLast), nil, state)
}

// encode is the state of a rank for a reply. The members of communicators, which no
// sentence needs, are left out, and as much as is too long.
func encode(r diagnose.Rank) []byte {
	for i := range r.Comms {
		r.Comms[i].Members, r.Comms[i].Remote = nil, nil
	}
	for most := mostTold; ; most /= 2 {
		r.Cut(most)
		if b, _ := json.Marshal(&r); len(b) <= mostReply || most == 0 {
			return b
		}
	}
}

// Job returns what this rank, those that it waits for, those that these wait for, and so
// on, wait for. It asks each twice: what both replies have has waited at the moment in
// between. Ranks that seem to wait for one another first hear from those that they need.
// Non-local: it may wait for ranks that do not reply.
func (in *Instance) Job() *diagnose.Job {
	until := time.Now().Add(askTime)
	first := &diagnose.Job{}
	first.Add(in.State())
	for time.Now().Before(until) {
		next := first.Unknown()
		next = next[:min(len(next), mostAsked-len(first.Ranks)-len(first.Silent))]
		if len(next) == 0 {
			break
		}
		in.questions.states(first, next, wire.AskState, time.Until(until))
	}
	a, own := wire.AskState, in.State
	if first.Stuck() {
		a, own = wire.AskSettled, in.Settled
	}
	var ranks []int
	for _, r := range first.Ranks {
		ranks = append(ranks, r.Rank)
	}
	second := &diagnose.Job{Silent: first.Silent}
	var mine diagnose.Rank
	var others sync.WaitGroup
	others.Go(func() { in.questions.states(second, ranks, a, settledTime) })
	mine = own()
	others.Wait()
	second.Add(mine)
	return second.Lasting(first)
}

// states asks ranks for their states and adds these to a job.
func (k *questions) states(j *diagnose.Job, ranks []int, a wire.Asked, within time.Duration) {
	replies := k.ask(ranks, a, within)
	for _, r := range ranks {
		t := replies[fabric.Peer(r)]
		var s diagnose.Rank
		switch {
		case r == k.in.World.Rank:
		case t == nil:
			j.Silent = append(j.Silent, diagnose.Silent{Rank: r, Why: "there is no such rank"})
		case t.why != "":
			j.Silent = append(j.Silent, diagnose.Silent{Rank: r, Why: t.why})
		case json.Unmarshal(t.state, &s) != nil || s.Rank != r:
			j.Silent = append(j.Silent, diagnose.Silent{Rank: r, Why: "its reply can't be read"})
		default:
			j.Add(s)
		}
	}
}
