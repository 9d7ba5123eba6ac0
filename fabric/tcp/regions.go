package tcp

import (
	"crypto/rand"
	"encoding/binary"
	"errors"

	"github.com/weft-mpi/weft/fabric"
)

// regions are the registrations of a domain. A key has the place of the region in
// its lower half and a generation in its upper half, both disguised by a random
// word of the domain, so that a peer does not hit another region by accident. They
// belong to the owner.
type regions struct {
	table  []region
	free   []uint32
	secret uint64
}

// region is a registration, or a free place.
type region struct {
	bytes      []byte
	access     fabric.Access
	generation uint32
	open       bool
	busy       int // transfers under way that have part of bytes
}

// firstAddr is the address of the first byte of every region: 0 is none.
const firstAddr = 1 << 20

var errNotRegistered = errors.New("region is not registered here")

func (r *regions) init() {
	var b [8]byte
	rand.Read(b[:])
	r.secret = binary.NativeEndian.Uint64(b[:])
}

func (r *regions) register(b []byte, a fabric.Access) fabric.Region {
	if len(r.free) == 0 {
		r.table = append(r.table, region{})
		r.free = append(r.free, uint32(len(r.table)-1))
	}
	i := r.free[len(r.free)-1]
	r.free = r.free[:len(r.free)-1]
	g := &r.table[i]
	g.generation++
	g.bytes, g.access, g.open = b, a, true
	key := (uint64(g.generation)<<32 | uint64(i+1)) ^ r.secret
	return fabric.Region{Remote: fabric.Remote{Addr: firstAddr, Len: uint64(len(b)), Key: key}, Handle: key}
}

// of returns the registration with a key, or nil.
func (r *regions) of(key uint64) *region {
	key ^= r.secret
	i := uint32(key) - 1
	if uint64(i) >= uint64(len(r.table)) {
		return nil
	}
	if g := &r.table[i]; g.open && g.generation == uint32(key>>32) {
		return g
	}
	return nil
}

func (r *regions) deregister(key uint64) error {
	g := r.of(key)
	if g == nil {
		return &fabric.Error{Op: "deregister memory", Err: errNotRegistered}
	}
	g.bytes, g.open, g.busy = nil, false, 0
	r.free = append(r.free, uint32(key^r.secret)-1)
	return nil
}

// find returns the n bytes at the beginning of m if they are registered for a.
func (r *regions) find(m fabric.Remote, n uint64, a fabric.Access) (*region, []byte) {
	g := r.of(m.Key)
	if g == nil || g.access&a != a {
		return nil, nil
	}
	size, off := uint64(len(g.bytes)), m.Addr-firstAddr // wraps to something large below
	if off > size || m.Len > size-off || n > m.Len {
		return nil, nil
	}
	return g, g.bytes[off : off+n : off+n]
}
