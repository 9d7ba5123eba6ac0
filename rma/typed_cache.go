package rma

import (
	"fmt"
	"sync"

	"github.com/weft-mpi/weft/fabric"
	"github.com/weft-mpi/weft/internal/datatype"
	"github.com/weft-mpi/weft/internal/wire"
)

// Types at the target. The origin numbers the types that a peer has, of which there are
// at most maxTypes; the number is a place and how many types came before. Packets of one
// origin stay in order, so the origin alone decides which type leaves its place for
// another, and the target has each one when the first operation with it comes. A number
// that the target does not have, or whose type it could not read, makes it refuse the
// operation.

// maxTypes is how many types a rank keeps for each origin.
const maxTypes = 32

// encoding is a type as packets have it.
type encoding struct {
	t    *datatype.Type
	code string // "" if it is too long to be sent
}

// encodings are those of the types that operations have used last, for any goroutine: the
// owner of the loop encodes none that was looked up here before.
type encodings struct {
	longest int // code that is sent, in bytes
	mu      sync.Mutex
	all     map[*datatype.Type]*encoding
}

// of is the encoding of a type.
func (c *encodings) of(t *datatype.Type) *encoding {
	c.mu.Lock()
	e := c.all[t]
	c.mu.Unlock()
	if e != nil {
		return e
	}
	e = &encoding{t: t}
	if b := t.Encode(nil); len(b) <= c.longest {
		e.code = string(b)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all == nil {
		c.all = map[*datatype.Type]*encoding{}
	}
	for old := range c.all {
		if len(c.all) < 2*maxTypes {
			break
		}
		delete(c.all, old) // any
	}
	c.all[t] = e
	return e
}

// sentTypes are the types that a peer has from this rank. The owner's.
type sentTypes struct {
	places [maxTypes]*sentType
	known  map[string]*sentType // by code
	last   uint32               // the number of types so far
	uses   uint64
}

// sentType is one of them.
type sentType struct {
	id   uint32
	code string
	sent int    // bytes of it that have left
	used uint64 // by how many-th use
}

// of is a type that has left whole, or has to before an operation with it. It takes the
// place that was not used for longest, of the first most.
func (s *sentTypes) of(code string, most int) *sentType {
	s.uses++
	t := s.known[code]
	if t == nil {
		at := 0
		for i := range most {
			if s.places[i] == nil {
				at = i
				break
			}
			if s.places[i].used < s.places[at].used {
				at = i
			}
		}
		if old := s.places[at]; old != nil {
			delete(s.known, old.code)
		}
		if s.known == nil {
			s.known = map[string]*sentType{}
		}
		s.last++
		t = &sentType{id: s.last*maxTypes + uint32(at), code: code}
		s.places[at], s.known[code] = t, t
	}
	t.used = s.uses
	return t
}

// send sends the next piece of a type that has not left whole.
func (t *sentType) send(l *lane, ep fabric.Endpoint, room int) error {
	n := min(len(t.code)-t.sent, room)
	l.packed = append(l.packed[:0], t.code[t.sent:][:n]...)
	err := ep.Send(wire.RType, 0, wire.MakeRType(l.e.hdr[:], t.id, uint32(t.sent), uint32(len(t.code))), l.packed)
	if err == nil {
		t.sent += n
	}
	return err
}

// gotTypes are the types that this rank has from a peer. The owner's.
type gotTypes struct {
	places [maxTypes]gotType
	id     uint32 // of the type that is coming
	total  uint32
	code   []byte // of it, as far as it has come
}

type gotType struct {
	id uint32
	t  *datatype.Type // nil if it could not be read
}

// onType takes a piece of a type. One that is no type leaves a number without one.
func (e *Engine) onType(from fabric.Peer, h wire.RTypeHeader, body []byte) bool {
	g := e.types[from]
	if g == nil {
		if e.types == nil {
			e.types = map[fabric.Peer]*gotTypes{}
		}
		g = &gotTypes{}
		e.types[from] = g
	}
	if h.Offset() == 0 {
		g.id, g.total, g.code = h.ID(), h.Total(), g.code[:0]
		g.places[g.id%maxTypes] = gotType{}
	}
	rest := int(g.total) - len(g.code)
	if h.ID() != g.id || h.Total() != g.total || int(h.Offset()) != len(g.code) || len(body) == 0 || len(body) > rest {
		return false
	}
	if g.code = append(g.code, body...); len(body) == rest {
		t, err := datatype.Decode(g.code)
		if err != nil {
			t = nil
		}
		g.places[g.id%maxTypes], g.total = gotType{g.id, t}, 0
	}
	return true
}

// typeOf is the type that a peer calls id, or nil.
func (e *Engine) typeOf(from fabric.Peer, id uint32) *datatype.Type {
	g := e.types[from]
	if g == nil || g.places[id%maxTypes].id != id {
		return nil
	}
	return g.places[id%maxTypes].t
}

// ErrTypeTooLong is the error of an accumulate on pairs whose type is too long to be sent.
var ErrTypeTooLong = fmt.Errorf("the datatype of the pairs at the target is too irregular: encoded it has more than %d bytes: use several of fewer elements", wire.MaxType)

// UnknownTypeError says that a target does not have the type of an operation, which it
// has therefore not carried out.
type UnknownTypeError struct{ Rank int } // in the window

func (e *UnknownTypeError) Error() string {
	return fmt.Sprintf("rank %d has refused an operation: it does not have its datatype, or could not read it", e.Rank)
}
