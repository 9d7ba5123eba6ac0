package tcp

import (
	"cmp"

	"github.com/weft-mpi/weft/fabric"
)

// operation is a Put, Get, Atomic or Flush that is not complete. Operations of an
// endpoint are in a list, in the order in which they were accepted: a Flush
// completes when it is the first.
type operation struct {
	op         fabric.Op
	to         *endpoint
	prev, next *operation

	id         uint64 // names it to the peer: its place, and a generation above
	kind       opKind
	dst        []byte  // of a Get
	end        uint64  // of a Get: bytes that come, all of dst unless err is set
	claimed    uint64  // of a Get: bytes whose frames have begun
	got        uint64  // of a Get: bytes that are in place
	sent       bool    // of a Put: the kernel has it all
	result     *uint64 // of an Atomic, may be nil
	err        error   // of a Get: it was refused; of a Flush: the failure of a NoOp
	generation uint32
}

type opKind uint8

const (
	opPut opKind = iota + 1
	opGet
	opAtomic
	opFlush
)

// opList is a list of operations, oldest first.
type opList struct{ head, tail *operation }

func (l *opList) add(o *operation) {
	o.prev, o.next = l.tail, nil
	if l.tail == nil {
		l.head = o
	} else {
		l.tail.next = o
	}
	l.tail = o
}

func (l *opList) remove(o *operation) {
	if o.prev == nil {
		l.head = o.next
	} else {
		o.prev.next = o.next
	}
	if o.next == nil {
		l.tail = o.prev
	} else {
		o.next.prev = o.prev
	}
	o.prev, o.next = nil, nil
}

// operations is the slab of a domain's operations, found by index. Its chunks are
// never given back. It belongs to the owner.
type operations struct {
	chunks []*[64]operation
	free   *operation
}

func (s *operations) take(e *endpoint, kind opKind, op fabric.Op) *operation {
	if s.free == nil {
		c := new([64]operation)
		for i := range c {
			c[i].id = uint64(len(s.chunks)*len(c) + i)
			c[i].next, s.free = s.free, &c[i]
		}
		s.chunks = append(s.chunks, c)
	}
	o := s.free
	s.free = o.next
	o.generation++
	o.id = uint64(uint32(o.id)) | uint64(o.generation)<<32
	o.op, o.to, o.kind, o.end, o.claimed, o.got, o.sent = op, e, kind, 0, 0, 0, false
	e.list.add(o)
	e.inFlight++
	return o
}

// of returns the operation that the peer of e names, or nil.
func (s *operations) of(e *endpoint, id uint64) *operation {
	i := uint64(uint32(id))
	if i/64 >= uint64(len(s.chunks)) {
		return nil
	}
	if o := &s.chunks[i/64][i%64]; o.id == id && o.to == e {
		return o
	}
	return nil
}

// put gives an operation back.
func (s *operations) put(o *operation) {
	o.to.list.remove(o)
	o.to.inFlight--
	o.to, o.dst, o.result, o.err = nil, nil, nil, nil
	o.next, s.free = s.free, o
}

// completion is what a Poll is to tell.
type completion struct {
	op  fabric.Op
	err error
}

// finish ends an operation and leaves its completion to the Poll. Flushes that
// waited for it end too. The failure of a NoOp is the next Flush's to tell, which may
// have been accepted already.
func (d *Domain) finish(o *operation, err error) {
	e, op := o.to, o.op
	if op == fabric.NoOp {
		if err != nil {
			told := &e.quiet
			for f := o.next; f != nil; f = f.next {
				if f.kind == opFlush {
					told = &f.err
					break
				}
			}
			*told = cmp.Or(*told, err)
		}
	} else {
		d.done = append(d.done, completion{op, err})
	}
	d.ops.put(o)
	for f := e.list.head; f != nil && f.kind == opFlush; f = e.list.head {
		d.done = append(d.done, completion{f.op, cmp.Or(e.down, f.err)})
		d.ops.put(f)
	}
}

// finishAll ends what is under way with a peer that is down.
func (d *Domain) finishAll(e *endpoint, err error) {
	for e.list.head != nil {
		d.finish(e.list.head, err)
	}
}
