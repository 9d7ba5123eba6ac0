package rma

import (
	"sync/atomic"

	"github.com/weft-mpi/weft/internal/membar"
)

// lockBlock is the part of a rank's control block that has its lock words: zeroed
// memory of Domain.Share, in words of 8 bytes. The lock word and the global word,
// which is used at rank 0 only, have a cache line each; behind them are the marks of
// the window's ranks at either.
type lockBlock []uint64

const (
	lockLine  = 8 // words in a cache line
	lockMarks = 2 * lockLine
)

// lockBlockLen is the length of the block of a window of n ranks, in words.
func lockBlockLen(n int) int { return lockMarks + 2*n }

func (b lockBlock) word(at lockAt) *uint64 {
	if at.global {
		return &b[lockLine]
	}
	return &b[0]
}

func (b lockBlock) mark(at lockAt, origin int) *uint64 {
	i := lockMarks + 2*origin
	if at.global {
		i++
	}
	return &b[i]
}

func (b lockBlock) load(at lockAt) lockWord {
	return lockWord(atomic.LoadUint64(b.word(at))) // pairs with cas
}

func (b lockBlock) cas(at lockAt, old, next lockWord) bool {
	return atomic.CompareAndSwapUint64(b.word(at), uint64(old), uint64(next)) // pairs with load and itself
}

// marked is the mark of an origin. What is none is taken for lockShared.
func (b lockBlock) marked(at lockAt, origin int) lockClaim {
	c := atomic.LoadUint64(b.mark(at, origin)) // pairs with setMark
	if c >= uint64(lockClaims) {
		return lockShared
	}
	return lockClaim(c)
}

// setMark stores it, before all that follows but loads.
func (b lockBlock) setMark(at lockAt, origin int, c lockClaim) {
	membar.StoreRelease(b.mark(at, origin), uint64(c)) // pairs with marked
}

// lockPackets is what the locks need of the loop: packets, knocks, wakes, and what it
// knows of deaths. See lockPort.
type lockPackets interface {
	Dead(rank int) bool
	Knock(rank int)
	Wake(op *lockOp)
	Request(op *lockOp)
	Press(at lockAt, c lockClaim)
	Release(at lockAt, c lockClaim)
}

// lockReach is the lockPort of a rank: the blocks of the ranks that it reaches, its
// own among them, and nil for the others.
type lockReach struct {
	lockPackets
	rank   int
	blocks []lockBlock
}

func (m *lockReach) Direct(at lockAt) bool { return m.blocks[at.rank] != nil }

func (m *lockReach) Load(at lockAt) lockWord { return m.blocks[at.rank].load(at) }

func (m *lockReach) CAS(at lockAt, old, next lockWord) bool {
	return m.blocks[at.rank].cas(at, old, next)
}

func (m *lockReach) Mark(at lockAt, c lockClaim) { m.blocks[at.rank].setMark(at, m.rank, c) }

// lockReplies are the replies to the requests for a word.
type lockReplies interface {
	Grant(at lockAt, origin int, c lockClaim)
	Refuse(at lockAt, origin int, c lockClaim, dead int)
}

// lockOwned is the lockOwner of a word of this rank's block.
type lockOwned struct {
	block   lockBlock
	at      lockAt
	replies lockReplies
}

func (m *lockOwned) Load() lockWord              { return m.block.load(m.at) }
func (m *lockOwned) CAS(old, next lockWord) bool { return m.block.cas(m.at, old, next) }
func (m *lockOwned) Mark(origin int) lockClaim   { return m.block.marked(m.at, origin) }
func (m *lockOwned) SetMark(origin int, c lockClaim) {
	m.block.setMark(m.at, origin, c)
}
func (m *lockOwned) Grant(origin int, c lockClaim) { m.replies.Grant(m.at, origin, c) }
func (m *lockOwned) Refuse(origin int, c lockClaim, dead int) {
	m.replies.Refuse(m.at, origin, c, dead)
}
