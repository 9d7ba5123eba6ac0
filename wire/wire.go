// Package wire is the layout of Weft's packets: the kinds of message that the
// engine sends over a fabric and the headers they carry, as byte slices with
// accessors. It imports nothing of Weft.
//
// A header is little-endian. The imm of every matched kind (Eager, EagerFirst,
// RTS) holds the communication context in its upper and the tag in its lower
// 32 bits, so that a small message needs no header at all.
package wire

import "encoding/binary"

// Version is that of the packets below. Ranks compare it when they meet.
const Version = 1

// Urgent is the bit of a kind that wakes a computing receiver; it equals
// fabric.Urgent.
const Urgent uint8 = 0x80

// Kinds of point-to-point packets.
const (
	Eager      uint8 = 1          // imm: context and tag; body: the message
	EagerFirst uint8 = 2          // imm: context and tag; header First; body: the beginning
	EagerMore  uint8 = 3          // body: the next piece of the sender's last EagerFirst
	RTS        uint8 = 4 | Urgent // imm: context and tag; header RTSHeader
	CTS        uint8 = 5 | Urgent // imm: the sender's request; header CTSHeader
	Data       uint8 = 6          // imm: the receiver's request; header DataHeader; body: a fragment
	FIN        uint8 = 7          // imm: the sender's request; header FINHeader
	Xoff       uint8 = 8 | Urgent // the receiver holds too many unexpected bytes: rendezvous only
	Xon        uint8 = 9 | Urgent // eager again
)

// Imm packs a communication context and a tag.
func Imm(context uint32, tag int32) uint64 { return uint64(context)<<32 | uint64(uint32(tag)) }

// Match unpacks them.
func Match(imm uint64) (context uint32, tag int32) { return uint32(imm >> 32), int32(uint32(imm)) }

var le = binary.LittleEndian

// First is the header of an EagerFirst packet.
type First []byte

const (
	firstLen  = 0
	FirstSize = 8
)

// MakeFirst fills b, which has at least FirstSize bytes.
func MakeFirst(b []byte, length uint64) First {
	le.PutUint64(b[firstLen:], length)
	return First(b[:FirstSize])
}

func (h First) Valid() bool    { return len(h) == FirstSize }
func (h First) Length() uint64 { return le.Uint64(h[firstLen:]) } // of the whole message, bytes

// RTSHeader is a request to send: where the message lies and how long it is.
type RTSHeader []byte

const (
	rtsAddr = 0
	rtsLen  = 8
	rtsKey  = 16
	rtsReq  = 24
	RTSSize = 32
)

// MakeRTS fills b, which has at least RTSSize bytes.
func MakeRTS(b []byte, addr, length, key, req uint64) RTSHeader {
	le.PutUint64(b[rtsAddr:], addr)
	le.PutUint64(b[rtsLen:], length)
	le.PutUint64(b[rtsKey:], key)
	le.PutUint64(b[rtsReq:], req)
	return RTSHeader(b[:RTSSize])
}

func (h RTSHeader) Valid() bool     { return len(h) == RTSSize }
func (h RTSHeader) Addr() uint64    { return le.Uint64(h[rtsAddr:]) }
func (h RTSHeader) Length() uint64  { return le.Uint64(h[rtsLen:]) } // bytes
func (h RTSHeader) Key() uint64     { return le.Uint64(h[rtsKey:]) }
func (h RTSHeader) Request() uint64 { return le.Uint64(h[rtsReq:]) } // the sender's, for CTS and FIN

// CTSHeader asks for fragments: the receiver's request and how many bytes of
// the message it has room for.
type CTSHeader []byte

const (
	ctsReq   = 0
	ctsLimit = 8
	CTSSize  = 16
)

// MakeCTS fills b, which has at least CTSSize bytes.
func MakeCTS(b []byte, req, limit uint64) CTSHeader {
	le.PutUint64(b[ctsReq:], req)
	le.PutUint64(b[ctsLimit:], limit)
	return CTSHeader(b[:CTSSize])
}

func (h CTSHeader) Valid() bool     { return len(h) == CTSSize }
func (h CTSHeader) Request() uint64 { return le.Uint64(h[ctsReq:]) }
func (h CTSHeader) Limit() uint64   { return le.Uint64(h[ctsLimit:]) }

// DataHeader says where in the message a fragment belongs.
type DataHeader []byte

const (
	dataOff  = 0
	DataSize = 8
)

// MakeData fills b, which has at least DataSize bytes.
func MakeData(b []byte, offset uint64) DataHeader {
	le.PutUint64(b[dataOff:], offset)
	return DataHeader(b[:DataSize])
}

func (h DataHeader) Valid() bool    { return len(h) == DataSize }
func (h DataHeader) Offset() uint64 { return le.Uint64(h[dataOff:]) }

// FINHeader ends a rendezvous: the sender may use its buffer again.
type FINHeader []byte

const (
	finFailed = 0
	FINSize   = 8
)

// MakeFIN fills b, which has at least FINSize bytes.
func MakeFIN(b []byte, failed bool) FINHeader {
	le.PutUint64(b[finFailed:], 0)
	if failed {
		b[finFailed] = 1
	}
	return FINHeader(b[:FINSize])
}

func (h FINHeader) Valid() bool  { return len(h) == FINSize }
func (h FINHeader) Failed() bool { return h[finFailed] != 0 } // the receiver could not fetch the message
