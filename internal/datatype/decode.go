package datatype

import (
	"encoding/binary"
	"fmt"
	"math"
)

// DecodeError says why bytes are no encoded type.
type DecodeError struct {
	At  int // the byte
	Why string
	Err error // ErrTooLarge or ErrTooDeep, or nil
}

func (e *DecodeError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("no encoded type: byte %d: %v", e.At, e.Err)
	}
	return fmt.Sprintf("no encoded type: byte %d: %s", e.At, e.Why)
}

func (e *DecodeError) Unwrap() error { return e.Err }

// Decode returns the type that Encode has written, which is committed. All of b is
// read and nothing of it is kept. Bytes from anywhere are safe to decode: the
// result or a *DecodeError comes in time and memory in proportion to the length of
// b, and every number in the type has been checked as a constructor does.
func Decode(b []byte) (*Type, error) {
	d := decoder{b: b}
	t := d.typ()
	if d.err == nil && d.at < len(b) {
		d.fail("the type ends here")
	}
	if d.err != nil {
		return nil, d.err
	}
	t.commit()
	return t, nil
}

// decoder reads numbers until one is bad; from then on they are 0.
type decoder struct {
	b     []byte
	at    int
	err   error
	nodes []*node
	k     checked
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = &DecodeError{At: d.at, Why: fmt.Sprintf(format, args...)}
	}
}

// sound reports whether the numbers so far are good.
func (d *decoder) sound() bool {
	if err := d.k.err(); err != nil && d.err == nil {
		d.err = &DecodeError{At: d.at, Err: err}
	}
	return d.err == nil
}

func (d *decoder) byte() byte {
	if d.err != nil {
		return 0
	}
	if d.at == len(d.b) {
		d.fail("the bytes end here")
		return 0
	}
	d.at++
	return d.b[d.at-1]
}

func (d *decoder) int() int {
	if d.err != nil {
		return 0
	}
	v, n := binary.Varint(d.b[d.at:])
	if n <= 0 || v > math.MaxInt || v < math.MinInt {
		d.fail("no number")
		return 0
	}
	d.at += n
	return int(v)
}

// uint is a number from 1 to most.
func (d *decoder) uint(most int) int {
	if d.err != nil {
		return 0
	}
	v, n := binary.Uvarint(d.b[d.at:])
	if n <= 0 || v > math.MaxInt {
		d.fail("no number")
		return 0
	}
	if v < 1 || int(v) > most {
		d.fail("the number %d is not from 1 to %d", v, most)
		return 0
	}
	d.at += n
	return int(v)
}

func (d *decoder) typ() *Type {
	if v := d.byte(); d.err == nil && v != encodingVersion {
		d.fail("version %d, and this rank reads version %d", v, encodingVersion)
	}
	flags := d.byte()
	if flags&^(flagLB|flagUB|flagNode) != 0 {
		d.fail("unknown flags %#x", flags)
	}
	t := &Type{from: &args{combiner: CombinerDecoded}}
	t.lbSet, t.ubSet = flags&flagLB != 0, flags&flagUB != 0
	t.lb, t.ub = d.int(), d.int()
	d.k.sub(t.ub, t.lb)
	if flags&flagNode != 0 {
		t.at = d.int()
		for range d.uint(max(len(d.b)-d.at, 1)) { // each takes a byte or more
			if d.node(); d.err != nil {
				break
			}
		}
		if d.err == nil {
			t.place.node = d.nodes[len(d.nodes)-1]
			d.k.add(t.at, t.lo)
			d.k.add(t.at, t.hi)
		}
	}
	d.sound()
	return t
}

// node reads a node, whose children have been read.
func (d *decoder) node() {
	n := &node{op: nodeOp(d.byte())}
	switch n.op {
	case opRun:
		n.kind = d.kind()
		n.n = d.uint(math.MaxInt)
	case opRep:
		n.n = d.uint(math.MaxInt)
		n.stride = d.int()
		n.child = d.child()
	case opRuns:
		n.kind = d.kind()
		n.disps = d.disps()
		n.lens = make([]int, d.alike(len(n.disps)))
		for i := range n.lens {
			n.lens[i] = d.uint(math.MaxInt)
		}
	case opSeq:
		n.disps = d.disps()
		n.kids = make([]*node, d.alike(len(n.disps)))
		for i := range n.kids {
			n.kids[i] = d.child()
		}
	default:
		d.fail("unknown node %d", n.op)
	}
	if !d.sound() {
		return
	}
	d.k.finish(n)
	d.sound()
	d.nodes = append(d.nodes, n)
}

func (d *decoder) kind() Kind {
	k := Kind(d.byte())
	if !k.known() {
		d.fail("unknown kind %d", k)
		return Byte
	}
	return k
}

func (d *decoder) child() *node {
	if len(d.nodes) == 0 {
		d.fail("a node without children before it names one")
		return nil
	}
	back := d.uint(len(d.nodes))
	return d.nodes[len(d.nodes)-max(back, 1)]
}

// disps reads displacements. Each takes a byte or more, which bounds their number.
func (d *decoder) disps() []int {
	list := make([]int, d.uint(len(d.b)-d.at+1))
	for i := 1; i < len(list); i++ {
		list[i] = d.k.add(list[i-1], d.int())
	}
	return list
}

// alike reads how many of a list's items are there: all, or one for all.
func (d *decoder) alike(n int) int {
	most := min(n, len(d.b)-d.at)
	if v := d.uint(max(most, 1)); v == n || v == 1 {
		return v
	}
	d.fail("a list is neither whole nor one item for all")
	return 0
}
