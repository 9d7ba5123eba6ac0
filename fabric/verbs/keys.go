package verbs

import "encoding/binary"

// A Remote has room for one key, that of its owner's first port. What the other
// ports call the same memory is in a table that peers read: a hash table
// without chains, since a miss costs no more than the other ports. An entry is
// 32 bytes, little-endian: the keys of the ports in their order, a check over
// them against half-written ones, and zeroes.
const (
	keyEntries   = 4096
	keyEntrySize = 32
)

func keyOffset(rkey uint32) uint64 {
	return uint64(rkey*0x9e3779b1>>20%keyEntries) * keyEntrySize
}

func keyCheck(keys [maxPorts]uint32) uint64 {
	x := uint64(0x6b65797461626c65)
	for _, k := range keys {
		x = (x ^ uint64(k)) * 0x9e3779b97f4a7c15
		x ^= x >> 29
	}
	return x
}

func encodeKeys(b []byte, keys [maxPorts]uint32) {
	le := binary.LittleEndian
	for i, k := range keys {
		le.PutUint32(b[4*i:], k)
	}
	le.PutUint64(b[4*maxPorts:], keyCheck(keys))
}

// decodeKeys finds the keys of the memory that the first port calls rkey.
func decodeKeys(b []byte, rkey uint32) (keys [maxPorts]uint32, ok bool) {
	le := binary.LittleEndian
	for i := range keys {
		keys[i] = le.Uint32(b[4*i:])
	}
	return keys, keys[0] == rkey && le.Uint64(b[4*maxPorts:]) == keyCheck(keys)
}

// moreNICs are the further ports' sides of a registration.
type moreNICs struct {
	nics  []nic
	table []byte // nil where there is one port
}

// register adds a region to the further ports. Where one does not take it, it
// goes without.
func (m *moreNICs) register(g *region, length int, access uint32) {
	keys := [maxPorts]uint32{g.mr.rkey}
	for i, n := range m.nics {
		x, err := n.register(g.start, length, access)
		if err != nil {
			continue
		}
		g.more[i], keys[i+1] = x, x.rkey
	}
	if m.table != nil && access&^accessLocalWrite != 0 {
		encodeKeys(m.table[keyOffset(g.mr.rkey):], keys)
	}
}

// deregister takes a region from the further ports.
func (m *moreNICs) deregister(g *region) (err error) {
	if m.table != nil {
		if b := m.table[keyOffset(g.mr.rkey):][:keyEntrySize]; binary.LittleEndian.Uint32(b) == g.mr.rkey {
			clear(b)
		}
	}
	for i, n := range m.nics {
		if g.more[i].id != 0 {
			if derr := n.deregister(g.more[i]); derr != nil {
				err = derr
			}
		}
	}
	return err
}
