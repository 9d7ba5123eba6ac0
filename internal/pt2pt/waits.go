package pt2pt

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/match"
	"github.com/weft-mpi/weft/progress"
)

// Wait is an operation that a goroutine of some rank is blocked in.
type Wait struct {
	What    What
	Peer    int // the other rank, or AnySource
	Tag     int32
	Context uint32
	Bytes   uint64
	Age     time.Duration // to a second
	Op      uint64        // identifies it among the rank's operations
	Who     uint8         // the goroutine: operations of one have the same number

	// Stuck: it can't complete before Peer makes another call. Either: the
	// goroutine also continues when another of its operations completes.
	Stuck, Either bool
}

// goroutine is a waiting goroutine, with the number of its operations and of
// those that must complete.
type goroutine struct {
	who        uint8
	open, need int
}

// waits lists what this rank is blocked in, for a rank that asks, or -1: first
// what is stuck, of that first what needs the asking rank, of that the oldest.
// For the owner.
func (e *Engine) waits(asker int) (t Told) {
	t.From = e.rank
	t.Untold = e.loop.Detachments() > 0
	all := map[any]*goroutine{}
	var by []*goroutine // of t.Waits
	add := func(r *progress.Request, g *goroutine, began uint32, op fabric.Op) {
		cid, tag := wire.Match(r.Imm)
		t.Waits = append(t.Waits, Wait{What: kinds[r.Kind], Peer: int(r.Peer), Tag: tag, Context: cid, Bytes: r.Size(),
			Age: progress.Since(began), Op: uint64(op), Who: g.who, Stuck: e.stuck(r)})
		by = append(by, g)
	}
	e.loop.Blocked(func(r *progress.Request, who any, need int) {
		g := all[who]
		if g == nil {
			g = &goroutine{who: uint8(min(len(all), math.MaxUint8)), need: need}
			all[who] = g
		}
		g.open++
		switch {
		case !r.Of(e):
			peer, cid, ok := e.loop.Needs(r)
			if !ok {
				t.Untold = true
				return
			}
			t.Waits = append(t.Waits, Wait{What: Collective, Peer: int(peer), Context: cid,
				Age: progress.Since(r.Began), Op: uint64(r.Op()) ^ uint64(peer+1)<<62>>8, Who: g.who, Stuck: true})
			by = append(by, g)
		case r.Step == stepPair:
			for _, part := range r.Halves {
				if part != nil {
					add(part, g, r.Began, part.Op())
				}
			}
		default:
			add(r, g, r.Began, r.Op())
		}
	})
	for i := range t.Waits {
		t.Waits[i].Either = by[i].need < by[i].open
	}
	slices.SortStableFunc(t.Waits, func(a, b Wait) int { return cmp.Compare(b.weight(asker), a.weight(asker)) })
	if len(t.Waits) > wire.MaxTells || len(all) > math.MaxUint8 {
		t.Waits, t.Untold = t.Waits[:min(len(t.Waits), wire.MaxTells)], true
	}
	if asker < 0 {
		return t
	}
	e.loop.Each(e, func(r *progress.Request) {
		if int(r.Peer) != asker {
			return
		}
		switch r.Kind {
		case kindSend:
			t.sending = true
		case kindRecv, kindMrecv:
			t.receiving = t.receiving || r.Step != stepPosted
		}
	})
	return t
}

func (w Wait) weight(asker int) int {
	n := int(w.Age / time.Second)
	if w.Peer == asker || w.Peer == AnySource {
		n += 1 << 40
	}
	if w.Stuck {
		n += 1 << 41
	}
	return n
}

// stuck reports whether a request waits for a call of its peer, as far as this
// rank knows: a receive or a probe without a message, or a send that waits for
// its receiver.
func (e *Engine) stuck(r *progress.Request) bool {
	if int(r.Peer) == e.rank || r.Peer == match.AnySource {
		return false
	}
	switch r.Step {
	case stepPosted, stepProbing:
		return true
	case stepAwait:
		_, asked := e.asked[uint64(r.Op())]
		return !asked
	}
	return false
}

// needs lists the ranks that the stuck operations need.
func (t Told) needs() (ranks []int) {
	for _, w := range t.Waits {
		if w.Stuck && !slices.Contains(ranks, w.Peer) {
			ranks = append(ranks, w.Peer)
		}
	}
	return ranks
}

// confirm keeps stuck only those operations that the replies of the ranks they
// need confirm: a receive whose source is not sending to this rank, a send whose
// destination is not receiving from it, a collective call that still needs the
// rank that it names.
func (t *Told) confirm(told []Told) {
	for i := range t.Waits {
		w := &t.Waits[i]
		if !w.Stuck {
			continue
		}
		k := slices.IndexFunc(told, func(o Told) bool { return o.From == w.Peer })
		w.Stuck = k >= 0 && (w.What == Collective || w.What == Send && !told[k].receiving || w.What != Send && !told[k].sending)
	}
}
