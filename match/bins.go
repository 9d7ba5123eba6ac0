package match

import "math/bits"

// minBins is one cache line of slots times two: half of them may be in use.
const minBins = 16

// slot leads from a key to the head of its list. The hash stands here in full,
// so that probing past a neighbour, removing and growing never look at entries.
type slot struct{ hash, head uint32 }

// bins is a hash table from the keys in use to list heads: open addressing with
// linear probing, at most half full, so a look-up ends within the cache line it
// began in nearly always. It stores no keys; those of the head entries serve.
//
// The mask says which parts of an entry's key do not count: it makes the exact
// key into the wildcard key under which a list by source or by tag files it.
type bins struct {
	slots []slot
	keys  uint32
	seen  uint64 // slots that find has looked at
	shift uint32 // hash>>shift is the home slot
	mask
}

// hash mixes a key into 32 bits, of which bins uses the upper ones first. One
// multiplication alone lays some strides of tags onto few slots, hence the
// second, with the halves folded in between so that it sees something new.
// It has no seed: the ranks of a job trust one another, and runs can be repeated.
func hash(ctx uint32, src, tag int32) uint32 {
	x := uint64(uint32(src))<<32 | uint64(uint32(tag))
	x = (x ^ uint64(ctx)*0xd6e8feb86659fd93) * 0x9e3779b97f4a7c15
	x = (x ^ x>>32) * 0xbf58476d1ce4e5b9
	return uint32(x >> 32)
}

// home returns the slot where the search for hash h begins. In a table of few
// keys the search ends there too, so the datapath looks before it calls find or
// claim. Precondition: b has slots.
func (b *bins) home(h uint32) (at uint32, s *slot) {
	at = h >> (b.shift & 31)
	return at, &b.slots[at]
}

// find returns the slot of the key, whose hash is h, and the head of its list;
// head is 0 if the key is not in use. Precondition: b has slots.
func (b *bins) find(es []entry, h, ctx uint32, src, tag int32) (at, head uint32) {
	slots := b.slots
	mask := uint32(len(slots) - 1)
	home := h >> (b.shift & 31)
	for at = home; ; at++ {
		at &= mask
		s := slots[at]
		if s.head == 0 {
			b.seen += uint64((at-home)&mask) + 1
			return at, 0
		}
		if s.hash == h {
			e := &es[s.head]
			if (e.tag^tag)&^b.tagAny == 0 && (e.src^src)&^b.srcAny == 0 && e.ctx == ctx {
				b.seen += uint64((at-home)&mask) + 1
				return at, s.head
			}
		}
	}
}

// reserve makes room for one more key.
func (b *bins) reserve() {
	if 2*int(b.keys) >= len(b.slots) {
		b.grow()
	}
}

// claim makes i the head of the list of its key, whose hash is h, or returns
// the head that this list already has. Precondition: reserve.
func (b *bins) claim(es []entry, h, i uint32) (head uint32) {
	e := &es[i]
	at, head := b.find(es, h, e.ctx, e.src, e.tag)
	if head == 0 {
		b.slots[at] = slot{h, i}
		b.keys++
	}
	return head
}

// clear empties a slot.
func (b *bins) clear(at uint32) {
	b.keys--
	b.slots[at] = slot{}
	if b.slots[(at+1)&uint32(len(b.slots)-1)].head != 0 {
		b.closeGap(at)
	}
}

// closeGap closes the gap at slot gap: a key must be reachable from its home
// without crossing an empty slot. Tombstones would do without moving, but would
// let keys long gone slow down new ones.
func (b *bins) closeGap(gap uint32) {
	slots := b.slots
	mask := uint32(len(slots) - 1)
	for next := gap + 1; ; next++ {
		next &= mask
		s := slots[next]
		if s.head == 0 {
			return
		}
		home := s.hash >> (b.shift & 31)
		if (next-home)&mask >= (next-gap)&mask {
			slots[gap], slots[next] = s, slot{}
			gap = next
		}
	}
}

//go:noinline
func (b *bins) grow() {
	old := b.slots
	n := max(minBins, 2*len(old))
	b.slots = make([]slot, n)
	b.shift = uint32(32 - bits.TrailingZeros(uint(n)))
	mask := uint32(n - 1)
	for _, s := range old {
		if s.head == 0 {
			continue
		}
		at := s.hash >> b.shift
		for b.slots[at&mask].head != 0 {
			at++
		}
		b.slots[at&mask] = s
	}
}
