package partitioned

import (
	"context"
	"math/bits"

	"github.com/weft-mpi/weft/internal/group"
)

// A send whose memory does not lie in one piece packs each partition, as it is made
// ready, into memory of its own, and what is transferred is that: so goroutines pack
// at once, each what it makes ready. A receive of that kind can't be read into or
// written to; it says so when it matches, gets everything in packets, and unpacks
// these as they come.

// Layout is the memory of an operation that does not lie in one piece. The message is
// what Pack makes of it. Its methods are called by several goroutines at once, for
// different bytes. They neither block nor call the engine.
type Layout interface {
	// Pack fills dst with the bytes of the message from at on. Unpack puts bytes of
	// the message in their places.
	Pack(dst []byte, at uint64)
	Unpack(src []byte, at uint64)
}

// Data is the memory of an operation: Bytes, or if Layout is not nil that, of Size
// bytes.
type Data struct {
	Bytes  []byte
	Layout Layout
	Size   uint64

	Ranks *group.Map // how the communicator numbers the peers; nil: as the job does
}

// PsendInit is PsendInitData for memory in one piece. Local.
func (e *Engine) PsendInit(ctx context.Context, dest int, cid uint32, tag int32, b []byte, parts int) *Send {
	return e.PsendInitData(ctx, dest, cid, tag, &Data{Bytes: b}, parts)
}

// PrecvInit is PrecvInitData for memory in one piece. Local.
func (e *Engine) PrecvInit(ctx context.Context, source int, cid uint32, tag int32, b []byte, parts int) *Recv {
	return e.PrecvInitData(ctx, source, cid, tag, &Data{Bytes: b}, parts)
}

// pack packs partitions that have become ready, the bits of a word. The caller has
// set them, so nobody else packs these. A goroutine that begins to pack adds to
// writing and then loads fault; the owner stores fault and then loads writing: either
// the round waits for the goroutine, or it leaves the memory alone.
func (s *Send) pack(word int, fresh uint64) {
	s.writing.Add(1)
	if s.fault.Load() == nil {
		part := s.size / uint64(s.parts)
		for fresh != 0 {
			at := bits.TrailingZeros64(fresh)
			n := bits.TrailingZeros64(^(fresh >> at))
			fresh &^= mask(0, at, at+n)
			lo := uint64(64*word+at) * part
			s.layout.Pack(s.buf[lo:lo+uint64(n)*part], lo)
		}
	}
	s.writing.Add(-1)
	if s.fault.Load() != nil {
		s.kick.Do() // the owner may have waited for it
	}
}

// put stores bytes of the message.
func (r *Recv) put(at uint64, b []byte) {
	if r.layout != nil {
		r.layout.Unpack(b, at)
		return
	}
	copy(r.buf[at:], b)
}

// scattered reports whether blocks come in packets only. A send of this rank's own
// unpacks them itself.
func (r *Recv) scattered() bool { return r.layout != nil && int(r.peer) != r.e.rank }
