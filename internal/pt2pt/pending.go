package pt2pt

import (
	"cmp"
	"slices"
	"time"

	"github.com/weft-mpi/weft/internal/coarseclock"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// What is the kind of a pending operation.
type What uint8

const (
	Receive What = iota + 1
	Send
	Probing
	Flushing    // of attached memory
	SendReceive // Isendrecv
	Unexpected  // a message without a receive
	Matched     // a message that a matched probe has taken and that has not been received
	Operation   // of another protocol
	Collective  // a collective call that needs another rank's
)

var whats = [...]string{Receive: "receive", Send: "send", Probing: "probe", Flushing: "flush of attached memory",
	SendReceive: "send and receive", Unexpected: "unexpected message", Matched: "matched message", Operation: "operation", Collective: "collective call"}

func (w What) String() string {
	if int(w) < len(whats) && whats[w] != "" {
		return whats[w]
	}
	return "nothing"
}

// Pending is an operation in flight, or a message that waits for one.
type Pending struct {
	What    What
	Words   string        // of an Operation whose protocol says so: what it is
	Peer    int           // the other rank, or AnySource
	Tag     int32         // or AnyTag
	Context uint32        // of the communicator
	Bytes   uint64        // of the message, or of the receive's buffer
	Age     time.Duration // to a second
	Blocked bool          // a goroutine waits for it
	State   string        // how far it has come
	Op      uint64        // identifies it among the rank's operations
	Callers [3]uintptr    // program counters around the call that made it
}

// steps are the words for how far an operation has come.
var steps = [...]string{
	stepEager: "waits for room towards its peer", stepSync: "waits for room towards its peer",
	stepChunks: "is being copied to its peer", stepRTS: "waits for room to be announced",
	stepHeld:  "held back: its peer has as many messages as it takes",
	stepAwait: "waits for its receive", stepFrags: "is being sent in fragments",
	stepPut: "waits for room to be written to its receive", stepPutting: "is being written to its receive", stepSelf: "waits for a receive of this rank",
	stepPosted: "no message has matched", stepChunked: "its message arrives", stepGet: "waits for room to fetch its message",
	stepGetting: "fetches its message", stepGranted: "its sender writes its message", stepData: "its message arrives in fragments",
	stepProbing: "no message has matched", stepFlush: "messages are on their way", stepPair: "is under way",
}

var kinds = [...]What{kindSend: Send, kindRecv: Receive, kindMrecv: Receive, kindProbe: Probing, kindMprobe: Probing, kindFlush: Flushing, kindPair: SendReceive}

// Pending lists what waits at this rank, the oldest first. Local.
func (e *Engine) Pending() (all []Pending) {
	e.loop.Exclusive(func() {
		e.loop.EachOfAll(func(r *progress.Request) { all = append(all, e.pending(r)) })
		for id := range e.arrivals.used {
			a := e.arrivals.at(id)
			if a.kind == 0 {
				continue
			}
			cid, tag := wire.Match(a.imm)
			p := Pending{What: Unexpected, Peer: int(a.from), Tag: tag, Context: cid, Bytes: e.length(cid, a.total),
				Age: coarseclock.Since(a.began), Op: uint64(a.gen)<<32 | uint64(id), State: "is here"}
			if a.matched {
				p.What = Matched
			}
			if a.kind == wire.RTS || a.kind == kindOwn {
				p.State = "is announced"
			}
			all = append(all, p)
		}
	})
	slices.SortStableFunc(all, func(a, b Pending) int { return cmp.Compare(b.Age, a.Age) })
	return all
}

func (e *Engine) pending(r *progress.Request) Pending {
	p := Pending{What: Operation, Peer: int(r.Peer), Bytes: r.Size(),
		Age: coarseclock.Since(r.Began), Blocked: r.Waited(), Op: uint64(r.Op()), Callers: r.Place}
	if r.Of(e) {
		p.Context, p.Tag = wire.Match(r.Imm)
		p.What, p.State = kinds[r.Kind], steps[r.Step]
	} else if i := r.Describe(true); i.Needs {
		p.What, p.Peer, p.Context, p.State = Collective, int(i.Caller), i.Context, "waits for that rank's call"
	} else {
		p.Words, p.State = i.What, i.State
	}
	return p
}
