package wire

// The kinds of windows. All are Urgent: a rank that computes serves them too. An
// imm is the window's id, or the origin's request.
const (
	RAcc      uint8 = kindRMA + 0 | Urgent // operands for elements of the window; header RAccHeader, body: operands
	RGet      uint8 = kindRMA + 1 | Urgent // the same, and the elements as they were are wanted; header RGetHeader, body: operands, or none
	RCas      uint8 = kindRMA + 2 | Urgent // compare and swap; header RGetHeader, body: the operand, then the comparand
	RData     uint8 = kindRMA + 3 | Urgent // elements as they were; imm: the request; header NumberHeader, where they belong
	RFlush    uint8 = kindRMA + 4 | Urgent // reply when everything before it is done; header NumberHeader, the request
	RFlushed  uint8 = kindRMA + 5 | Urgent // imm: the request; header RRefusedHeader, of no bytes if all was well
	RRefused  uint8 = kindRMA + 6 | Urgent // in the place of an RData: the memory is not the window's; header RRefusedHeader
	RPost     uint8 = kindRMA + 7 | Urgent // the sender has exposed its part to this rank
	RComplete uint8 = kindRMA + 8 | Urgent // the sender's access to this rank's part has ended
)

// Piece is a piece of an operation on elements of a window.
type Piece struct {
	At     uint64 // of its first element in the target's part, in bytes
	Offset uint64 // of that in the operation
	Total  uint64 // bytes of the operation
	Code   uint8  // the operator
	Kind   uint8  // of the elements
}

// RAccHeader describes a piece whose operands are the body.
type RAccHeader []byte

const (
	raccAt     = 0
	raccOffset = 8
	raccTotal  = 16
	raccCode   = 24
	raccKind   = 25
	RAccSize   = 32
)

// MakeRAcc fills b, which has at least RAccSize bytes.
func MakeRAcc(b []byte, p Piece) RAccHeader {
	le.PutUint64(b[raccAt:], p.At)
	le.PutUint64(b[raccOffset:], p.Offset)
	le.PutUint64(b[raccTotal:], p.Total)
	le.PutUint64(b[raccCode:], 0)
	b[raccCode], b[raccKind] = p.Code, p.Kind
	return RAccHeader(b[:RAccSize])
}

// Valid also checks that the piece begins within the operation.
func (h RAccHeader) Valid() bool {
	if len(h) != RAccSize {
		return false
	}
	p := h.Piece()
	return p.Total <= MaxLength && p.Offset < p.Total && p.At >= p.Offset
}

func (h RAccHeader) Piece() Piece {
	return Piece{At: le.Uint64(h[raccAt:]), Offset: le.Uint64(h[raccOffset:]), Total: le.Uint64(h[raccTotal:]), Code: h[raccCode], Kind: h[raccKind]}
}

// RGetHeader describes a piece with a result.
type RGetHeader []byte

const (
	rgetBytes   = 32
	rgetRequest = 40
	RGetSize    = 48
)

// MakeRGet fills b, which has at least RGetSize bytes. The piece has bytes bytes.
func MakeRGet(b []byte, p Piece, bytes, request uint64) RGetHeader {
	MakeRAcc(b, p)
	le.PutUint64(b[rgetBytes:], bytes)
	le.PutUint64(b[rgetRequest:], request)
	return RGetHeader(b[:RGetSize])
}

// Valid also checks that the piece lies within the operation.
func (h RGetHeader) Valid() bool {
	return len(h) == RGetSize && h.acc().Valid() && h.Bytes() <= h.Piece().Total-h.Piece().Offset
}

func (h RGetHeader) acc() RAccHeader { return RAccHeader(h[:RAccSize]) }
func (h RGetHeader) Piece() Piece    { return h.acc().Piece() }
func (h RGetHeader) Bytes() uint64   { return le.Uint64(h[rgetBytes:]) }
func (h RGetHeader) Request() uint64 { return le.Uint64(h[rgetRequest:]) }

// RGone is where memory lies, in an RRefusedHeader, of a window that has been freed.
const RGone = ^uint64(0)

// RRefusedHeader names memory that is not the window's.
type RRefusedHeader []byte

// RRefusedSize is the length of an RRefusedHeader.
const RRefusedSize = 16

// MakeRRefused fills b, which has at least RRefusedSize bytes.
func MakeRRefused(b []byte, at, bytes uint64) RRefusedHeader {
	le.PutUint64(b, at)
	le.PutUint64(b[8:], bytes)
	return RRefusedHeader(b[:RRefusedSize])
}

func (h RRefusedHeader) Valid() bool   { return len(h) == RRefusedSize }
func (h RRefusedHeader) At() uint64    { return le.Uint64(h) }
func (h RRefusedHeader) Bytes() uint64 { return le.Uint64(h[8:]) }
