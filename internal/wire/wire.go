// Package wire is the layout of Weft's packets: the kinds of message that the
// engine sends over a fabric and the headers they carry, as byte slices with
// accessors. It imports nothing of Weft. Each protocol has a file and a range of
// kinds.
//
// A header is little-endian. The imm of every matched kind (the Eagers and RTS)
// holds the communication context in its upper and the tag in its lower
// 32 bits, so that a small message needs no header at all.
package wire

import "encoding/binary"

// Version is that of all packets. Ranks compare it when they meet.
const Version = 16

// Urgent is the bit of a kind that wakes a computing receiver; it equals
// fabric.Urgent.
const Urgent uint8 = 0x80

// The kinds of a protocol, without Urgent, are from its number here up to the
// next one's. 0 is no kind, and from kindTests on they are for tests.
const (
	kindPt2pt       = 1
	kindRMA         = 32
	kindPartitioned = 64
	kindComm        = 80 // communicators, collectives and what follows a failure
	kindSpare       = 96
	kindTests       = 112
)

// Library reports whether a context is one of the library's own, in which the
// messages of collective calls go: the odd ones.
func Library(context uint32) bool { return context&1 != 0 }

// User is the context of a communicator's own messages, given that or the
// library's beside it.
func User(context uint32) uint32 { return context &^ 1 }

// Imm packs a communication context and a tag.
func Imm(context uint32, tag int32) uint64 { return uint64(context)<<32 | uint64(uint32(tag)) }

// Match unpacks them.
func Match(imm uint64) (context uint32, tag int32) { return uint32(imm >> 32), int32(uint32(imm)) }

// NumberHeader is the header of a packet that says one number besides its imm.
type NumberHeader []byte

// NumberSize is the length of a NumberHeader.
const NumberSize = 8

// MakeNumber fills b, which has at least NumberSize bytes.
func MakeNumber(b []byte, n uint64) NumberHeader {
	le.PutUint64(b, n)
	return NumberHeader(b[:NumberSize])
}

func (h NumberHeader) Valid() bool    { return len(h) == NumberSize }
func (h NumberHeader) Number() uint64 { return le.Uint64(h) }

// FlagHeader is the header of a packet that says yes or no.
type FlagHeader []byte

// FlagSize is the length of a FlagHeader.
const FlagSize = 8

// MakeFlag fills b, which has at least FlagSize bytes.
func MakeFlag(b []byte, yes bool) FlagHeader {
	putBool(b, yes)
	return FlagHeader(b[:FlagSize])
}

func (h FlagHeader) Valid() bool { return len(h) == FlagSize }
func (h FlagHeader) Yes() bool   { return h[0] != 0 }

var le = binary.LittleEndian

func putBool(b []byte, v bool) {
	n := uint64(0)
	if v {
		n = 1
	}
	le.PutUint64(b, n)
}
