package datatype

import "encoding/binary"

// encodingVersion begins each encoded type.
const encodingVersion = 1

// Bounds of an encoded type, in the byte behind the version.
const (
	flagLB   = 1 << iota // the lower bound comes from a marker
	flagUB               // the upper one
	flagNode             // there are elements
)

// Encode appends the typemap and the bounds of the type to b, in a form that Decode
// understands on every rank. It holds kinds but not how the type was made. Types
// that are alike but made differently may differ in it. Its length is about that
// of the constructors' arguments, small numbers in one byte each, and does not
// depend on counts.
func (t *Type) Encode(b []byte) []byte {
	flags := byte(0)
	if t.lbSet {
		flags |= flagLB
	}
	if t.ubSet {
		flags |= flagUB
	}
	if t.place.node != nil {
		flags |= flagNode
	}
	b = append(b, encodingVersion, flags)
	b = binary.AppendVarint(b, int64(t.lb))
	b = binary.AppendVarint(b, int64(t.ub))
	if t.place.node == nil {
		return b
	}
	b = binary.AppendVarint(b, int64(t.at))
	e := encoder{number: map[*node]int{}}
	e.node(t.place.node)
	b = binary.AppendUvarint(b, uint64(len(e.number)))
	return append(b, e.b...)
}

// encoder writes nodes, each behind its children. Parents name a child by its
// number, counted backwards, so a node with several parents is written once.
type encoder struct {
	b      []byte
	number map[*node]int
}

func (e *encoder) node(n *node) {
	if _, done := e.number[n]; done {
		return
	}
	if n.op == opRep {
		e.node(n.child)
	}
	for _, c := range n.kids {
		e.node(c)
	}
	e.b = append(e.b, byte(n.op))
	switch n.op {
	case opRun:
		e.b = append(e.b, byte(n.kind))
		e.uint(n.n)
	case opRep:
		e.uint(n.n)
		e.b = binary.AppendVarint(e.b, int64(n.stride))
		e.ref(n.child)
	case opRuns:
		e.b = append(e.b, byte(n.kind))
		e.disps(n.disps)
		e.uint(len(n.lens))
		for _, l := range n.lens {
			e.uint(l)
		}
	case opSeq:
		e.disps(n.disps)
		e.uint(len(n.kids))
		for _, c := range n.kids {
			e.ref(c)
		}
	}
	e.number[n] = len(e.number)
}

func (e *encoder) uint(n int) { e.b = binary.AppendUvarint(e.b, uint64(n)) }

func (e *encoder) ref(c *node) { e.uint(len(e.number) - e.number[c]) }

// disps writes displacements, the first of which is 0, as differences.
func (e *encoder) disps(list []int) {
	e.uint(len(list))
	for i := 1; i < len(list); i++ {
		e.b = binary.AppendVarint(e.b, int64(list[i])-int64(list[i-1]))
	}
}
