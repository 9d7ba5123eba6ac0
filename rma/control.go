package rma

import (
	"github.com/weft-mpi/weft/fabric"
)

// A control block has the words of a rank's part of a window, those of its lock and of
// the signals to it.
// Ranks that reach the part reach them too. Blocks are cut from slabs, so that a
// window takes two cache lines and no page, and are used again: a window has ended
// when nobody can store to its words any more. Between goroutines slabs are on Go's
// heap: the race detector sees no atomics elsewhere, and would take accesses that they
// order for races.

// controlSize is the length in bytes of the blocks of a window of n ranks.
func controlSize(n int) int { return (8*(lockBlockLen(n)+signalKinds*n) + 63) &^ 63 }

// blocksOf are the two parts of a control block.
func (w *Win) blocksOf(control []byte) (lockBlock, signalBlock) {
	words, n := wordsOf[uint64](control), lockBlockLen(len(w.targets))
	return lockBlock(words[:n]), signalBlock(words[n:][:signalKinds*len(w.targets)])
}

// slabSize is about how long a slab is, in bytes.
const slabSize = 64 << 10

// slab is memory for control blocks.
type slab struct {
	block   int // bytes of each
	mem     []byte
	regions []held
	idle    []int // places of blocks that nobody uses
}

// control gives a window's control block. For the owner.
func (e *Engine) control(w *Win) ([]byte, error) {
	size := controlSize(len(w.targets))
	var s *slab
	for _, old := range e.slabs {
		if old.block == size && len(old.idle) > 0 {
			s = old
		}
	}
	if s == nil {
		n := max(slabSize/size, 1)
		mem, err := e.alloc(n * size)
		if err != nil {
			return nil, err
		}
		s = &slab{block: size, mem: mem, idle: make([]int, n)}
		for i := range s.idle {
			s.idle[i] = (n - 1 - i) * size
		}
		e.slabs = append(e.slabs, s)
	}
	for i := range w.targets {
		if d := w.targets[i].dom; d != nil && w.targets[i].caps.Reach && heldBy(s.regions, d) == nil {
			region, err := d.Register(s.mem, fabric.LocalWrite|fabric.RemoteRead|fabric.RemoteWrite|fabric.RemoteAtomic)
			if err != nil {
				return nil, err
			}
			s.regions = append(s.regions, held{d, region})
		}
	}
	last := len(s.idle) - 1
	at := s.idle[last]
	s.idle = s.idle[:last]
	w.slab, w.block = s, at
	b := s.mem[at : at+size : at+size]
	clear(b)
	return b, nil
}

// heldBy is the registration with a fabric, nil if there is none.
func heldBy(all []held, d fabric.Domain) *held {
	for i := range all {
		if all[i].dom == d {
			return &all[i]
		}
	}
	return nil
}

// controlOf names a window's control block to the ranks of a fabric.
func (w *Win) controlOf(d fabric.Domain) fabric.Remote {
	h := heldBy(w.slab.regions, d)
	if h == nil {
		return fabric.Remote{}
	}
	return fabric.Remote{Addr: h.region.Addr + uint64(w.block), Len: uint64(w.slab.block), Key: h.region.Key}
}

// giveControl takes it back. For the owner.
func (w *Win) giveControl() { w.slab.idle = append(w.slab.idle, w.block) }
