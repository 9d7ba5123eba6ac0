package wire

import "math"

// The kinds of windows that check accesses. Their imm is the window's id.
const (
	RAccess   uint8 = kindRMA + 14 | Urgent // comes before the packets of an operation, and ends operations; header RAccessHeader, body: the origin's line
	RConflict uint8 = kindRMA + 15 | Urgent // two accesses to the sender's part conflict; header RConflictHeader, body: the line of the first, then that of the second
)

// Access is an operation as its target is told of it. What the numbers mean is rma's.
type Access struct {
	At, Bytes              uint64 // in the target's part
	Phase                  uint64 // fences before it
	Call, Code, Kind, Ends uint8
}

// RAccessHeader describes an operation.
type RAccessHeader []byte

const (
	raccessAt    = 0
	raccessBytes = 8
	raccessPhase = 16
	raccessCall  = 24
	raccessCode  = 25
	raccessKind  = 26
	raccessEnds  = 27
	RAccessSize  = 32
)

// MakeRAccess fills b, which has at least RAccessSize bytes.
func MakeRAccess(b []byte, a Access) RAccessHeader {
	le.PutUint64(b[raccessAt:], a.At)
	le.PutUint64(b[raccessBytes:], a.Bytes)
	le.PutUint64(b[raccessPhase:], a.Phase)
	le.PutUint64(b[raccessCall:], 0)
	b[raccessCall], b[raccessCode], b[raccessKind], b[raccessEnds] = a.Call, a.Code, a.Kind, a.Ends
	return RAccessHeader(b[:RAccessSize])
}

// Valid also checks that the bytes have an end.
func (h RAccessHeader) Valid() bool {
	return len(h) == RAccessSize && bounded(h.Access().At, h.Access().Bytes)
}

func (h RAccessHeader) Access() Access {
	return Access{At: le.Uint64(h[raccessAt:]), Bytes: le.Uint64(h[raccessBytes:]), Phase: le.Uint64(h[raccessPhase:]),
		Call: h[raccessCall], Code: h[raccessCode], Kind: h[raccessKind], Ends: h[raccessEnds]}
}

// bounded reports whether bytes from an address on are ones that memory can have.
func bounded(at, bytes uint64) bool { return bytes <= MaxLength && at <= math.MaxUint64-bytes }

// Party is one of two accesses that conflict.
type Party struct {
	Rank             uint32
	Call, Code, Kind uint8
}

// Conflict is two accesses that conflict, in the order in which their target has heard
// of them. Split is the length of the first one's line.
type Conflict struct {
	At, Bytes uint64
	Parties   [2]Party
	Split     uint16
}

// RConflictHeader describes two accesses that conflict.
type RConflictHeader []byte

const (
	rconflictAt      = 0
	rconflictBytes   = 8
	rconflictParties = 16 // each of 8 bytes: its rank, call, code and kind
	rconflictSplit   = 32
	RConflictSize    = 40
)

// MakeRConflict fills b, which has at least RConflictSize bytes.
func MakeRConflict(b []byte, c Conflict) RConflictHeader {
	le.PutUint64(b[rconflictAt:], c.At)
	le.PutUint64(b[rconflictBytes:], c.Bytes)
	for i, p := range c.Parties {
		to := b[rconflictParties+8*i:][:8]
		le.PutUint64(to, uint64(p.Rank))
		to[4], to[5], to[6] = p.Call, p.Code, p.Kind
	}
	le.PutUint64(b[rconflictSplit:], uint64(c.Split))
	return RConflictHeader(b[:RConflictSize])
}

// Valid also checks that the bytes have an end.
func (h RConflictHeader) Valid() bool {
	return len(h) == RConflictSize && bounded(h.Conflict().At, h.Conflict().Bytes)
}

func (h RConflictHeader) Conflict() (c Conflict) {
	c.At, c.Bytes, c.Split = le.Uint64(h[rconflictAt:]), le.Uint64(h[rconflictBytes:]), le.Uint16(h[rconflictSplit:])
	for i := range c.Parties {
		from := h[rconflictParties+8*i:]
		c.Parties[i] = Party{Rank: le.Uint32(from), Call: from[4], Code: from[5], Kind: from[6]}
	}
	return c
}
