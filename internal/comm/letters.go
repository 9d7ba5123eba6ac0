package comm

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/mpi/cause"
	"github.com/weft-mpi/weft/progress"
)

// letters are what ranks send that have no communicator of the ranks concerned, see
// wire.Letter. Those of one rank with one key are received in their order. A letter
// may come before this rank asks for it: it is kept.
//
// It is the sink of letters. All of it belongs to the owner of the loop.
type letters struct {
	progress.Passive
	in    *Instance
	size  int                   // of the job
	boxes map[letterKey]*box    // those in use
	kept  map[fabric.Peer]int   // bytes that are kept of a rank's letters
	gone  map[fabric.Peer]error // ranks that are down, and why
	spent spentKeys             // keys of meetings that were broken off
	links map[*connecting]bool  // Connects under way
}

type letterKey [wire.LetterSize]byte

// box holds what has one key.
type box struct {
	key     letterKey
	from    map[fabric.Peer]*inbox
	meeting *meeting   // under way
	next    []*meeting // of other goroutines, which wait for its end
}

// inbox holds the letters of one rank with one key.
type inbox struct {
	box     *box
	from    fabric.Peer
	whole   [][]byte
	part    []byte // what has come of a letter in pieces
	waiting []*reception
}

// letterCost is what a letter counts that is kept, in bytes, besides its own: a box
// may be kept for it.
const letterCost = 256

// mostKept is how many bytes are kept of a rank's letters. Before this rank has begun
// a meeting, another one sends it at most three letters of 8 bytes, so a rank that
// keeps to the rules may be ahead in ten thousand meetings at once. Long letters go to
// ranks that have asked for them (connect.go): of those one may be kept, in pieces.
func (l *letters) mostKept() int { return 8<<20 + 8*l.size }

func newLetters(in *Instance, size int) *letters {
	return &letters{in: in, size: size, boxes: map[letterKey]*box{}, kept: map[fabric.Peer]int{}, gone: map[fabric.Peer]error{},
		spent: spentKeys{why: map[letterKey]*spentKey{}}, links: map[*connecting]bool{}}
}

// box returns the box of a key.
func (l *letters) box(key letterKey) *box {
	b := l.boxes[key]
	if b == nil {
		b = &box{key: key, from: map[fabric.Peer]*inbox{}}
		l.boxes[key] = b
	}
	return b
}

// inbox returns the inbox of a key and a rank.
func (l *letters) inbox(key letterKey, from fabric.Peer) *inbox {
	b := l.box(key)
	i := b.from[from]
	if i == nil {
		i = &inbox{box: b, from: from}
		b.from[from] = i
	}
	return i
}

// tidy drops an inbox that holds nothing, and then its box.
func (l *letters) tidy(i *inbox) {
	if len(i.whole)+len(i.waiting) == 0 && i.part == nil && i.box.from[i.from] == i {
		delete(i.box.from, i.from)
		l.tidyBox(i.box)
	}
}

func (l *letters) tidyBox(b *box) {
	if len(b.from) == 0 && b.meeting == nil && l.boxes[b.key] == b {
		delete(l.boxes, b.key)
	}
}

// send sends a letter to a rank of the job, which is another one. Local.
func (l *letters) send(to int, key letterKey, body []byte) {
	piece := l.piece(to)
	c := l.in.Loop.Conn(fabric.Peer(to))
	for ; len(body) > piece; body = body[piece:] {
		c.PostBody(wire.Letter, 0, key[:], body[:piece])
	}
	c.PostBody(wire.Letter, wire.LetterLast, key[:], body)
}

// piece is how many bytes a packet to a rank of the job takes.
func (l *letters) piece(to int) int { return l.in.Loop.Via(fabric.Peer(to)).Caps().MaxEager }

// Deliver takes a piece of a letter.
func (l *letters) Deliver(from fabric.Peer, kind uint8, imm uint64, hdr, body []byte) {
	h := wire.LetterHeader(hdr)
	if kind != wire.Letter || !h.Valid(imm, body) {
		l.end(from, "it sent a letter that is none")
		return
	}
	key := letterKey(h)
	b := l.boxes[key]
	_, over := l.spent.why[key]
	switch {
	case b != nil && b.meeting != nil && b.meeting.all.Rank(int(from)) < 0:
		l.end(from, "it sent a letter to a meeting of other ranks")
	case over:
	case imm == wire.LetterOff:
		r := wire.LetterReason(body)
		err := &cause.CallError{Rank: int(from), InJob: true, World: int(from), Code: r.Code(), Text: r.Text()}
		l.breakOff(key, int(from), err)
		l.spent.why[key].made = r.Context()
		l.in.breakMade(r.Context(), int(from), err)
	case imm == wire.LetterVoid:
		if b != nil && b.meeting == nil && b.from[from] != nil {
			l.empty(b.from[from])
			l.tidy(b.from[from])
		}
	default:
		l.take(from, key, body, imm == wire.LetterLast)
	}
}

// take takes a piece of a letter, the last one or not.
func (l *letters) take(from fabric.Peer, key letterKey, body []byte, last bool) {
	i := l.inbox(key, from)
	if last && i.part == nil && len(i.waiting) > 0 {
		i.hand(body)
		l.tidy(i)
		return
	}
	cost := len(body)
	if i.part == nil {
		cost += letterCost
	}
	if l.kept[from]+cost > l.mostKept() {
		l.tidy(i)
		l.end(from, "it sent more letters than can be kept before this rank asks for them: end a creation of a communicator on all its ranks before the next ones")
		return
	}
	l.kept[from] += cost
	i.part = append(i.part, body...)
	if !last {
		return
	}
	whole := slices.Clip(i.part)
	if whole == nil {
		whole = []byte{}
	}
	i.part, i.whole = nil, append(i.whole, whole)
	l.serve(i)
}

// serve hands over what has come.
func (l *letters) serve(i *inbox) {
	for len(i.whole) > 0 && len(i.waiting) > 0 {
		letter := i.whole[0]
		i.whole[0], i.whole = nil, i.whole[1:]
		l.uncount(i.from, letterCost+len(letter))
		i.hand(letter)
	}
	l.tidy(i)
}

func (l *letters) uncount(from fabric.Peer, bytes int) {
	if l.kept[from] -= bytes; l.kept[from] <= 0 {
		delete(l.kept, from)
	}
}

// empty drops the letters of an inbox.
func (l *letters) empty(i *inbox) {
	for _, letter := range i.whole {
		l.uncount(i.from, letterCost+len(letter))
	}
	l.loosen(i)
	i.whole = nil
}

// loosen drops what has come of a letter in pieces.
func (l *letters) loosen(i *inbox) {
	if i.part != nil {
		l.uncount(i.from, letterCost+len(i.part))
		i.part = nil
	}
}

// end ends a rank that breaks the rules.
func (l *letters) end(p fabric.Peer, why string) {
	l.in.Loop.EndPeer(p, &fabric.Error{Op: "receive", Peer: p, HasPeer: true, Err: fmt.Errorf("%w: %s", fabric.ErrPeerDown, why)})
}

// PeerDown ends what needs the rank: the receives of its letters, and the meetings
// that it is in. What it has sent to a meeting that is under way counts, if it has
// left in order.
func (l *letters) PeerDown(p fabric.Peer, err error) {
	l.gone[p] = err
	died := !errors.Is(err, fabric.ErrPeerLeft)
	all := slices.SortedFunc(maps.Values(l.boxes), func(a, b *box) int { return bytes.Compare(a.key[:], b.key[:]) }) // the same in each run of a simulation
	for _, b := range all {
		i := b.from[p]
		if i != nil {
			l.loosen(i)
			if died || b.meeting == nil {
				l.empty(i)
			}
		}
		switch {
		case b.meeting != nil && died && b.meeting.all.Rank(int(p)) >= 0:
			b.meeting.end(int(p), err)
		case i != nil:
			i.fail(err)
			l.tidy(i)
		}
	}
	if !died {
		for _, key := range slices.SortedFunc(maps.Keys(l.spent.why), func(a, b letterKey) int { return bytes.Compare(a[:], b[:]) }) {
			if why := l.spent.why[key]; why.by == int(p) {
				l.passOn(key, why)
			}
		}
	} else {
		for k := range l.links {
			if k.c.rankOf(int(p)) >= 0 && k.c.rankOf(int(p)) < k.c.Size {
				k.abort(err)
			}
		}
	}
}
