package pin

import (
	"encoding/binary"

	"github.com/weft-mpi/weft/fabric/verbs/internal/ibv"
)

// A Remote has room for one key, that of its owner's first port. What the other
// ports call the same memory is in a table that peers read: a hash table
// without chains, since a miss costs no more than the other ports. An entry is
// KeySize bytes, little-endian: the keys of the ports in their order, a check over
// them against half-written ones, and zeroes.
const (
	MaxPorts   = 4    // over which a region is registered
	KeyEntries = 4096 // of a table
	KeySize    = 32   // bytes of an entry
)

// KeyOffset is where in the table the entry of memory is that the first port calls
// rkey.
func KeyOffset(rkey uint32) uint64 {
	return uint64(rkey*0x9e3779b1>>20%KeyEntries) * KeySize
}

func keyCheck(keys [MaxPorts]uint32) uint64 {
	x := uint64(0x6b65797461626c65)
	for _, k := range keys {
		x = (x ^ uint64(k)) * 0x9e3779b97f4a7c15
		x ^= x >> 29
	}
	return x
}

// EncodeKeys writes an entry.
func EncodeKeys(b []byte, keys [MaxPorts]uint32) {
	le := binary.LittleEndian
	for i, k := range keys {
		le.PutUint32(b[4*i:], k)
	}
	le.PutUint64(b[4*MaxPorts:], keyCheck(keys))
}

// DecodeKeys reads the entry of memory that the first port calls rkey. It answers
// false for another's, or one that is half written.
func DecodeKeys(b []byte, rkey uint32) (keys [MaxPorts]uint32, ok bool) {
	le := binary.LittleEndian
	for i := range keys {
		keys[i] = le.Uint32(b[4*i:])
	}
	return keys, keys[0] == rkey && le.Uint64(b[4*MaxPorts:]) == keyCheck(keys)
}

// morePorts are the further ports' sides of a registration.
type morePorts struct {
	devices []Device
	table   []byte // nil where there is one port
}

// register adds a region to the further ports. Where one does not take it, it
// goes without.
func (m *morePorts) register(g *region, length int, access uint32) {
	keys := [MaxPorts]uint32{g.mr.RKey}
	for i, d := range m.devices {
		x, err := d.RegMR(g.start, length, access)
		if err != nil {
			continue
		}
		g.more[i], keys[i+1] = x, x.RKey
	}
	if m.table != nil && access&^ibv.LocalWrite != 0 {
		EncodeKeys(m.table[KeyOffset(g.mr.RKey):], keys)
	}
}

// deregister takes a region from the further ports.
func (m *morePorts) deregister(g *region) (err error) {
	if m.table != nil {
		if b := m.table[KeyOffset(g.mr.RKey):][:KeySize]; binary.LittleEndian.Uint32(b) == g.mr.RKey {
			clear(b)
		}
	}
	for i, d := range m.devices {
		if g.more[i].Handle != 0 {
			if derr := d.DeregMR(g.more[i]); derr != nil {
				err = derr
			}
		}
	}
	return err
}
