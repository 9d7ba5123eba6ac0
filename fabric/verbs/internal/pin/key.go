package pin

import (
	"encoding/binary"

	"github.com/weft-mpi/weft/fabric"
)

// A Remote's key: the device's rkey in bits 0-31, what the memory may be used
// for in bits 32-35, and above a tag that its owner's token makes of these. A
// key that is not its owner's is so refused without the device, whose refusal
// would cost the connection. The device judges the rest, bounds included.

// Signer makes the keys of one rank, and tells them from others.
type Signer [2]uint64

// NewSigner is that of the rank with a token.
func NewSigner(token [16]byte) Signer {
	return Signer{binary.LittleEndian.Uint64(token[:]), binary.LittleEndian.Uint64(token[8:])}
}

// Key is the key of memory that the device calls rkey, for a.
func (s Signer) Key(rkey uint32, a fabric.Access) uint64 {
	v := uint64(rkey) | uint64(a&0xf)<<32
	x := v ^ s[0]
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x = (x ^ x>>31 ^ s[1]) * 0x9e3779b97f4a7c15
	return v | x>>36<<36
}

// Made reports whether a key is of this rank's making.
func (s Signer) Made(key uint64) bool { return s.Key(uint32(key), purpose(key)) == key }

// Permits reports whether a key is for a.
func Permits(key uint64, a fabric.Access) bool { return purpose(key)&a == a }

func purpose(key uint64) fabric.Access { return fabric.Access(key >> 32 & 0xf) }

// Reaches reports whether a peer's memory has n bytes, and an end.
func Reaches(m *fabric.Remote, n uint64) bool { return n <= m.Len && m.Addr+m.Len >= m.Addr }
