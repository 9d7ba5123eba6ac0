package transports

import "sync"

// Memory of Alloc takes whole pages, of which a window of one counter would use a cache
// line. Blocks of up to smallMost bytes are cut from slabs instead.

const (
	smallLeast = 64       // a cache line, and the alignment of blocks
	smallMost  = 2 << 10  // bytes
	smallSlab  = 64 << 10 // bytes of a slab
)

// slabs give blocks of memory. They are for all ranks of the process.
type slabs struct {
	alloc func(n int) ([]byte, error) // zeroed
	free  func(b []byte) error

	mu   sync.Mutex
	open map[int][]*slab // with idle blocks, by the length of these
}

// slab is memory for blocks of one length.
type slab struct {
	mem  []byte
	idle []int // places
	used int   // blocks
}

var small = slabs{alloc: Alloc, free: Free}

// AllocBlock is Alloc for memory that may share pages with that of others, as windows'
// does: a short block takes a few cache lines. free gives it back, once. Local.
func AllocBlock(n int) (b []byte, free func(), err error) {
	if n >= 0 && n <= smallMost {
		return small.get(n)
	}
	if b, err = Alloc(n); err != nil {
		return nil, nil, err
	}
	return b, func() { Free(b) }, nil // which was allocated there
}

// get gives a block of n bytes, zeroed, and what gives it back: after that nobody may
// use it.
func (s *slabs) get(n int) (b []byte, free func(), err error) {
	size := smallLeast
	for size < n {
		size *= 2
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open[size]) == 0 {
		mem, err := s.alloc(smallSlab)
		if err != nil {
			return nil, nil, err
		}
		x := &slab{mem: mem}
		for at := smallSlab - size; at >= 0; at -= size {
			x.idle = append(x.idle, at)
		}
		if s.open == nil {
			s.open = map[int][]*slab{}
		}
		s.open[size] = append(s.open[size], x)
	}
	all := s.open[size]
	x := all[len(all)-1]
	at := x.idle[len(x.idle)-1]
	x.idle = x.idle[:len(x.idle)-1]
	x.used++
	if len(x.idle) == 0 {
		s.open[size] = all[:len(all)-1]
	}
	b = x.mem[at : at+n : at+n]
	clear(b)
	return b, func() { s.put(x, at, size) }, nil
}

// put takes a block back, and gives back a slab of which none is used.
func (s *slabs) put(x *slab, at, size int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.idle = append(x.idle, at); len(x.idle) == 1 {
		s.open[size] = append(s.open[size], x)
	}
	if x.used--; x.used > 0 {
		return
	}
	all := s.open[size]
	for i := range all {
		if all[i] == x {
			all[i] = all[len(all)-1]
			s.open[size] = all[:len(all)-1]
			break
		}
	}
	s.free(x.mem) // which was allocated there
}
