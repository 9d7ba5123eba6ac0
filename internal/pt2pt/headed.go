package pt2pt

import (
	"sync/atomic"

	"github.com/weft-mpi/weft/internal/wire"
	"github.com/weft-mpi/weft/progress"
)

// Headed is a Layout whose message begins with a header that is not the program's. The
// lengths that the engine tells the program do not count it.
type Headed interface {
	progress.Layout
	// Verdict is called once a message of n bytes, header included, has been received. It
	// returns why the receive fails, or nil.
	Verdict(n uint64) error
}

// Head says that all messages in contexts of the program are of Headed layouts, whose
// headers have n bytes. It is called before the first of them, at all ranks.
func (e *Engine) Head(n int) { e.header = uint64(n) }

// Watch has the number of unexpected messages stored in n whenever it changes. It is called
// before the first of them.
func (e *Engine) Watch(n *atomic.Uint32) { e.match.Watch(n) }

// Header is how many bytes Head has been given, or 0.
func (e *Engine) Header() int { return int(e.header) }

// length is how long a message of total bytes is for the program.
func (e *Engine) length(cid uint32, total uint64) uint64 {
	if e.header == 0 || wire.Library(cid) {
		return total
	}
	return total - min(total, e.header)
}

// verdict returns why a receive fails that has received a message of total bytes, and the
// lengths of message and memory without a header.
func (e *Engine) verdict(r *progress.Request, total uint64) (length, room uint64, err error) {
	h, ok := r.Layout().(Headed)
	if !ok {
		return total, r.Size(), nil
	}
	return total - min(total, e.header), r.Size() - e.header, h.Verdict(total)
}

// overhead is the attached memory that a buffered send takes besides its message. Of one
// that has a header it is less by that, and may be negative: the program does not know of
// headers.
func (e *Engine) overhead() int { return BufferOverhead - int(e.header) }
