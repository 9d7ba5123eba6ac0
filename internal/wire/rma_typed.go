package wire

import "math"

// The kinds of operations whose elements lie apart at the target. Their imm is the
// window's id, but for RType, which has none: a type that a rank has been sent serves
// all windows.
const (
	RType        uint8 = kindRMA + 16 | Urgent // a piece of an encoded type; header RTypeHeader
	RAccTyped    uint8 = kindRMA + 17 | Urgent // as RAcc, for elements of a type; header RAccTypedHeader, body: operands
	RGetTyped    uint8 = kindRMA + 18 | Urgent // as RGet; header RGetTypedHeader
	RAccessTyped uint8 = kindRMA + 19 | Urgent // as RAccess, before each packet of those; header RAccessTypedHeader, body: the origin's line
)

// MaxType is how long an encoded type may be that is sent, in bytes.
const MaxType = 32 << 10

// RUnknown is where memory lies, in an RRefusedHeader, of elements whose type the target
// does not have.
const RUnknown = ^uint64(0) - 1

// RTypeHeader describes a piece of an encoded type, which the sender calls id from the
// last piece on.
type RTypeHeader []byte

const (
	rtypeID     = 0
	rtypeOffset = 4
	rtypeTotal  = 8
	RTypeSize   = 16
)

// MakeRType fills b, which has at least RTypeSize bytes. The type has total bytes.
func MakeRType(b []byte, id, offset, total uint32) RTypeHeader {
	le.PutUint32(b[rtypeID:], id)
	le.PutUint32(b[rtypeOffset:], offset)
	le.PutUint64(b[rtypeTotal:], uint64(total))
	return RTypeHeader(b[:RTypeSize])
}

// Valid also checks that the piece begins within the type.
func (h RTypeHeader) Valid() bool {
	return len(h) == RTypeSize && le.Uint64(h[rtypeTotal:]) <= MaxType && h.Offset() < h.Total()
}

func (h RTypeHeader) ID() uint32     { return le.Uint32(h[rtypeID:]) }
func (h RTypeHeader) Offset() uint32 { return le.Uint32(h[rtypeOffset:]) }
func (h RTypeHeader) Total() uint32  { return le.Uint32(h[rtypeTotal:]) }

// TypedPiece is a piece of an operation on elements of a type.
type TypedPiece struct {
	At     uint64 // where displacement 0 is in the target's part, or would be
	Count  uint64 // elements of the type
	Offset uint64 // of the piece in their packed bytes
	Type   uint32 // the type's id
	Code   uint8  // the operator
	Kind   uint8  // of the basic elements
}

const (
	rtypedAt     = 0
	rtypedCount  = 8
	rtypedOffset = 16
	rtypedType   = 24
	rtypedCode   = 28
	rtypedKind   = 29
	rtypedCall   = 30 // of RAccessTyped
	rtypedEnds   = 31 // of RAccessTyped
	rtypedSize   = 32
)

func makeTyped(b []byte, p TypedPiece) {
	le.PutUint64(b[rtypedAt:], p.At)
	le.PutUint64(b[rtypedCount:], p.Count)
	le.PutUint64(b[rtypedOffset:], p.Offset)
	le.PutUint64(b[rtypedType:], uint64(p.Type))
	b[rtypedCode], b[rtypedKind] = p.Code, p.Kind
}

func typedPiece(h []byte) TypedPiece {
	return TypedPiece{At: le.Uint64(h[rtypedAt:]), Count: le.Uint64(h[rtypedCount:]), Offset: le.Uint64(h[rtypedOffset:]),
		Type: le.Uint32(h[rtypedType:]), Code: h[rtypedCode], Kind: h[rtypedKind]}
}

// validTyped reports whether a header of size bytes has numbers that an engine can
// compute with.
func validTyped(h []byte, size int) bool {
	if len(h) != size {
		return false
	}
	p := typedPiece(h)
	return p.At <= math.MaxInt64 && p.Count <= MaxLength && p.Offset < MaxLength
}

// RAccTypedHeader describes a piece whose operands are the body.
type RAccTypedHeader []byte

// RAccTypedSize is the length of an RAccTypedHeader.
const RAccTypedSize = rtypedSize

// MakeRAccTyped fills b, which has at least RAccTypedSize bytes.
func MakeRAccTyped(b []byte, p TypedPiece) RAccTypedHeader {
	makeTyped(b, p)
	return RAccTypedHeader(b[:RAccTypedSize])
}

func (h RAccTypedHeader) Valid() bool       { return validTyped(h, RAccTypedSize) }
func (h RAccTypedHeader) Piece() TypedPiece { return typedPiece(h) }

// RGetTypedHeader describes a piece with a result.
type RGetTypedHeader []byte

const (
	rgetTypedBytes   = 32
	rgetTypedRequest = 40
	RGetTypedSize    = 48
)

// MakeRGetTyped fills b, which has at least RGetTypedSize bytes. The piece has bytes bytes.
func MakeRGetTyped(b []byte, p TypedPiece, bytes, request uint64) RGetTypedHeader {
	makeTyped(b, p)
	le.PutUint64(b[rgetTypedBytes:], bytes)
	le.PutUint64(b[rgetTypedRequest:], request)
	return RGetTypedHeader(b[:RGetTypedSize])
}

// Valid also checks that the piece has an end.
func (h RGetTypedHeader) Valid() bool {
	return validTyped(h, RGetTypedSize) && h.Bytes() <= MaxLength
}

func (h RGetTypedHeader) Piece() TypedPiece { return typedPiece(h) }
func (h RGetTypedHeader) Bytes() uint64     { return le.Uint64(h[rgetTypedBytes:]) }
func (h RGetTypedHeader) Request() uint64   { return le.Uint64(h[rgetTypedRequest:]) }

// RAccessTypedHeader tells of a piece of an operation.
type RAccessTypedHeader []byte

const (
	raccessTypedBytes = 32
	raccessTypedPhase = 40
	RAccessTypedSize  = 48
)

// MakeRAccessTyped fills b, which has at least RAccessTypedSize bytes. Of a the place and
// length in memory, the operator and the kind are those of the piece, which has bytes
// bytes.
func MakeRAccessTyped(b []byte, p TypedPiece, bytes uint64, a Access) RAccessTypedHeader {
	makeTyped(b, p)
	b[rtypedCall], b[rtypedEnds] = a.Call, a.Ends
	le.PutUint64(b[raccessTypedBytes:], bytes)
	le.PutUint64(b[raccessTypedPhase:], a.Phase)
	return RAccessTypedHeader(b[:RAccessTypedSize])
}

// Valid also checks that the piece has an end.
func (h RAccessTypedHeader) Valid() bool {
	return validTyped(h, RAccessTypedSize) && h.Bytes() <= MaxLength
}

func (h RAccessTypedHeader) Piece() TypedPiece { return typedPiece(h) }
func (h RAccessTypedHeader) Bytes() uint64     { return le.Uint64(h[raccessTypedBytes:]) }

// Access is the operation, without its place.
func (h RAccessTypedHeader) Access() Access {
	return Access{Phase: le.Uint64(h[raccessTypedPhase:]), Call: h[rtypedCall], Code: h[rtypedCode], Kind: h[rtypedKind], Ends: h[rtypedEnds]}
}
