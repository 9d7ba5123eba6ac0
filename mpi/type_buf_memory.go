package mpi

import (
	"sync"

	"github.com/weft-mpi/weft/internal/datatype"
	"github.com/weft-mpi/weft/internal/pt2pt"
)

// memory is the memory of a checked Buf: bytes wherever the elements are one range of it.
func (b *Buf) memory() (d pt2pt.Data) {
	if b.t == nil {
		return d
	}
	if off, n, ok := b.t.t.Range(b.n); ok {
		if n > 0 {
			d.Bytes = b.mem[b.origin+off : b.origin+off+n : b.origin+off+n]
		}
		return d
	}
	p := unused.Get().(*pieces)
	_ = p.at.Reset(b.t.t, b.n, b.mem, b.origin) // checked: it would have no bytes
	d.Layout, d.Size = p, uint64(p.at.Size())
	return d
}

// part is n packed bytes of a checked Buf, from at on, as the memory of a message.
func (b *Buf) part(at, n int) (d pt2pt.Data) {
	p := unused.Get().(*pieces)
	_ = p.at.Reset(b.t.t, b.n, b.mem, b.origin) // checked
	p.at.Seek(at)
	if off, one := p.at.Next(n); one == n {
		d.Bytes = b.mem[off : off+n : off+n]
		p.Free()
		return d
	}
	p.from = at
	d.Layout, d.Size = p, uint64(n)
	return d
}

// pieces is memory with gaps as the engine uses it: the message is the packed bytes of the
// elements from from on.
type pieces struct {
	at   datatype.Cursor
	from int
}

// unused has the pieces that the engine has freed.
var unused = sync.Pool{New: func() any { return new(pieces) }}

func (p *pieces) Pack(dst []byte, at uint64) {
	p.at.Seek(p.from + int(at))
	p.at.Pack(dst)
}

func (p *pieces) Unpack(src []byte, at uint64) {
	p.at.Seek(p.from + int(at))
	p.at.Unpack(src)
}

// Free also lets go of the memory.
func (p *pieces) Free() {
	*p = pieces{}
	unused.Put(p)
}
