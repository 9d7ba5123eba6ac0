package mem

import (
	"runtime"
	"sync/atomic"
)

// guard counts the users of something that can end, so that the end can wait for
// them: copies from a region before Deregister returns, copies out of and by a
// domain before Close returns. A user is inside for one copy.
type guard struct {
	// state is generation<<32 | live | users. The CompareAndSwap in enter pairs
	// with the store in open (stores before open are seen inside) and with the
	// CompareAndSwap in shut (one of them comes first). The Add in leave pairs
	// with the load in shut: everything done inside is over for the goroutine
	// that shut it.
	state atomic.Uint64
}

const (
	guardLive  = 1 << 31
	guardUsers = guardLive - 1
)

func (g *guard) open(generation uint32) {
	g.state.Store(uint64(generation)<<32 | guardLive)
}

func (g *guard) live(generation uint32) bool {
	s := g.state.Load()
	return s&guardLive != 0 && uint32(s>>32) == generation
}

// enter reports whether the guard is open in this generation; if so, the caller
// is inside until leave.
func (g *guard) enter(generation uint32) bool {
	for {
		s := g.state.Load()
		if s&guardLive == 0 || uint32(s>>32) != generation {
			return false
		}
		if g.state.CompareAndSwap(s, s+1) {
			return true
		}
	}
}

func (g *guard) leave() { g.state.Add(^uint64(0)) }

// shut ends the generation and waits until the guard has no users. It reports
// whether the guard was open in it.
func (g *guard) shut(generation uint32) bool {
	for {
		s := g.state.Load()
		if s&guardLive == 0 || uint32(s>>32) != generation {
			return false
		}
		if g.state.CompareAndSwap(s, s&^guardLive) {
			break
		}
	}
	for g.state.Load()&guardUsers != 0 {
		runtime.Gosched()
	}
	return true
}
