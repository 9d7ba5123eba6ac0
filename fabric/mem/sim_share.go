package mem

import (
	"bytes"
	"fmt"

	"github.com/weft-mpi/weft/fabric"
)

// simShare is memory of Share: the memory itself, which one-sided operations act
// on, and what each rank loads and stores instead.
type simShare struct {
	memory []byte
	views  []simView // by rank
}

// simView is a rank's view of a share: its own stores, and of all else what the
// memory holds.
type simView struct {
	bytes []byte // nil until the rank shares or reaches it
	known []byte // the same as of the Sim's last look: what differs has been stored since
}

// simBuffer is a rank's store buffer.
type simBuffer struct {
	stores []simStores // not visible to others, in the order they were made
	stored uint64      // how many there have been
}

// simStores are stores that become visible at once.
type simStores struct{ words []simWord }

// simWord is a store of a word, or of less where a share ends.
type simWord struct {
	share *simShare
	at    int
	bytes []byte
}

func (d *simDomain) Share(n int) (fabric.Segment, error) {
	s := d.sim
	switch {
	case !s.Caps.Reach:
		return fabric.Segment{}, fabric.ErrUnsupported
	case d.dead:
		return fabric.Segment{}, fabric.ErrClosed
	case n < 0 || n > maxShare-d.shared:
		return fabric.Segment{}, &fabric.Error{Op: "share memory", Err: fmt.Errorf("%d of %d bytes are in use", d.shared, maxShare)}
	}
	d.shared += n
	share := &simShare{memory: aligned(n), views: make([]simView, s.Size)}
	s.shares = append(s.shares, share)
	return fabric.Segment{Bytes: s.view(share, d.rank), Region: d.register(simRegion{bytes: share.memory, share: share,
		access: fabric.LocalWrite | fabric.RemoteRead | fabric.RemoteWrite | fabric.RemoteAtomic})}, nil
}

// aligned returns zeroed bytes at a multiple of addrAlign.
func aligned(n int) []byte {
	b := make([]byte, n+addrAlign)
	at := -address(b) & (addrAlign - 1)
	return b[at : at+n : at+n]
}

// view returns what the rank loads and stores, the same each time.
func (s *Sim) view(share *simShare, rank int) []byte {
	v := &share.views[rank]
	if v.bytes == nil {
		v.bytes, v.known = aligned(len(share.memory)), bytes.Clone(share.memory)
		copy(v.bytes, share.memory)
	}
	return v.bytes
}

// look finds what the ranks have stored since the last look.
func (s *Sim) look() {
	if len(s.shares) == 0 {
		return
	}
	for r, d := range s.domains {
		var found []simWord
		for _, share := range s.shares {
			v := &share.views[r]
			if d.dead || bytes.Equal(v.bytes, v.known) {
				continue
			}
			for at := 0; at < len(v.bytes); at += 8 {
				end := min(at+8, len(v.bytes))
				if now := v.bytes[at:end]; !bytes.Equal(now, v.known[at:end]) {
					copy(v.known[at:end], now)
					found = append(found, simWord{share, at, bytes.Clone(now)})
				}
			}
		}
		if found != nil {
			d.stores = append(d.stores, simStores{found})
			d.stored++
		}
	}
}

// publish moves the oldest of a rank's stores into the memory.
func (s *Sim) publish(d *simDomain) {
	s.tell(SimEvent{What: SimStore, Rank: d.rank, Peer: d.rank})
	words := d.stores[0].words
	d.stores = d.stores[1:]
	for _, w := range words {
		copy(w.share.memory[w.at:], w.bytes)
		s.show(w.share, w.at, w.at+len(w.bytes))
	}
}

// fence makes visible what a rank had stored when its stores were so many. The
// Sim has looked before.
func (s *Sim) fence(d *simDomain, stored uint64) {
	for len(d.stores) > 0 && d.stored-uint64(len(d.stores)) < stored {
		s.publish(d)
	}
}

// show brings the words from one place of a share to another into the views of
// all, but for what a rank has stored there itself and is not in the memory yet.
func (s *Sim) show(share *simShare, from, to int) {
	for r, d := range s.domains {
		v := &share.views[r]
		if v.bytes == nil {
			continue
		}
		for at := from &^ 7; at < to; at += 8 {
			if !d.buffers(share, at) {
				end := min(at+8, len(v.bytes))
				copy(v.bytes[at:end], share.memory[at:end])
				copy(v.known[at:end], share.memory[at:end])
			}
		}
	}
}

// buffers reports whether a store to the word is in the buffer.
func (b *simBuffer) buffers(share *simShare, at int) bool {
	for _, s := range b.stores {
		for _, w := range s.words {
			if w.share == share && w.at == at {
				return true
			}
		}
	}
	return false
}

// written brings what a one-sided operation has written into the views. The Sim
// has looked before.
func (d *simDomain) written(m fabric.Remote) {
	if r := d.regions[m.Key]; r.share != nil {
		at := int(m.Addr - r.base)
		d.sim.show(r.share, at, at+int(m.Len))
	}
}
