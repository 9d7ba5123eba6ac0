package verbs

import (
	"crypto/rand"
	"encoding/binary"

	"github.com/weft-mpi/weft/fabric"
)

// A Remote's key: the device's rkey in bits 0-31, what the memory may be used
// for in bits 32-35, and above a tag that its owner's token makes of these. A
// key that is not its owner's is so refused without the device, whose refusal
// would cost the connection. The device judges the rest, bounds included.

// tagKey is what a rank's token makes its tags with.
type tagKey [2]uint64

func newToken() (t [16]byte) {
	rand.Read(t[:])
	return t
}

func tagSeed(token [16]byte) tagKey {
	return tagKey{binary.LittleEndian.Uint64(token[:]), binary.LittleEndian.Uint64(token[8:])}
}

func (k tagKey) key(rkey uint32, a fabric.Access) uint64 {
	v := uint64(rkey) | uint64(a&0xf)<<32
	x := v ^ k[0]
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x = (x ^ x>>31 ^ k[1]) * 0x9e3779b97f4a7c15
	return v | x>>36<<36
}

// made says whether a key is of this rank's making.
func (k tagKey) made(key uint64) bool { return k.key(uint32(key), purpose(key)) == key }

// permits says whether a key is for a.
func permits(key uint64, a fabric.Access) bool { return purpose(key)&a == a }

func purpose(key uint64) fabric.Access { return fabric.Access(key >> 32 & 0xf) }
