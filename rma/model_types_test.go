package rma

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"github.com/weft-mpi/weft/internal/datatype"
)

// Half of the operations of a program are on elements that lie apart, at the target and
// at the origin. The model knows where each byte lies, as it has drawn that itself.

// scattered is elements of a type and the places that they have: in slots of one element
// each, in the order in which they are packed.
type scattered struct {
	t     *datatype.Type
	count int
	slots []int
}

// modelTyped is what an operation has besides a Transfer.
type modelTyped struct {
	x        Typed
	shift    int   // of displacement 0, from the beginning of the block on
	cells    []int // where each byte lies in the part
	src, old *modelSide
}

// modelSide is memory of an origin.
type modelSide struct {
	Elements
	cells []int // where each byte lies in Mem
}

// must is the type that a constructor has made, which can't fail.
func must(t *datatype.Type, err error) *datatype.Type {
	if err == nil {
		err = t.Commit()
	}
	if err != nil {
		panic(err)
	}
	return t
}

// scatter draws m of n slots, and a type of them. With again some may come twice.
func scatter(r *rand.Rand, elem *datatype.Type, n, m int, again bool) (s scattered) {
	size := elem.Size()
	s.count = 1
	if again && r.IntN(2) == 0 {
		for range m {
			s.slots = append(s.slots, r.IntN(n))
		}
		s.t = must(datatype.IndexedBlock(1, s.slots, elem))
		return s
	}
	switch r.IntN(6) {
	case 0: // blocks at a stride, forwards or backwards
		if s.strided(r, elem, n, m) {
			return s
		}
	case 1: // several elements of a type
		if s.several(r, elem, n, m) {
			return s
		}
	case 2: // a part of a matrix
		if s.matrix(r, elem, n, m) {
			return s
		}
	}
	s.slots = r.Perm(n)[:m]
	if r.IntN(3) == 0 { // most runs are longer than one
		from := r.IntN(n - m + 1)
		for i := range s.slots {
			s.slots[i] = from + (i+m/3)%m
		}
	}
	bytes := make([]int, m)
	for i, at := range s.slots {
		bytes[i] = at * size
	}
	if half := m / 2; half > 0 && r.IntN(3) == 0 {
		a, b := must(datatype.IndexedBlock(1, s.slots[:half], elem)), must(datatype.HIndexedBlock(1, bytes[half:], elem))
		s.t = must(datatype.Struct([]int{1, 1}, []int{0, 0}, []*datatype.Type{a, b}))
		return s
	}
	s.t = must(datatype.IndexedBlock(1, s.slots, elem))
	return s
}

// divisor draws one of m.
func divisor(r *rand.Rand, m int) int {
	for {
		if d := 1 + r.IntN(m); m%d == 0 {
			return d
		}
	}
}

func (s *scattered) strided(r *rand.Rand, elem *datatype.Type, n, m int) bool {
	block := divisor(r, m)
	blocks := m / block
	if blocks == 1 || n == m {
		return false
	}
	stride := block + r.IntN((n-m)/(blocks-1)+1)
	extent := (blocks-1)*stride + block
	from := r.IntN(n - extent + 1)
	if r.IntN(2) == 0 {
		from, stride = from+extent-block, -stride
	}
	v := must(datatype.Vector(blocks, block, stride, elem))
	s.t = must(datatype.HIndexed([]int{1}, []int{from * elem.Size()}, v))
	for b := range blocks {
		for i := range block {
			s.slots = append(s.slots, from+b*stride+i)
		}
	}
	return true
}

func (s *scattered) several(r *rand.Rand, elem *datatype.Type, n, m int) bool {
	each := divisor(r, m)
	count := m / each
	room := n / count // slots of one
	if room < each {
		return false
	}
	inner := scatter(r, elem, room, each, false)
	if inner.count != 1 {
		return false
	}
	lb, _ := inner.t.Extent()
	s.t, s.count = must(datatype.Resized(inner.t, lb, room*elem.Size())), count
	for i := range count {
		for _, at := range inner.slots {
			s.slots = append(s.slots, i*room+at)
		}
	}
	return true
}

func (s *scattered) matrix(r *rand.Rand, elem *datatype.Type, n, m int) bool {
	columns := divisor(r, m)
	rows := m / columns
	wide := columns + r.IntN(3)
	high := n / wide
	if high < rows {
		return false
	}
	top, left := r.IntN(high-rows+1), r.IntN(wide-columns+1)
	s.t = must(datatype.Subarray([]int{high, wide}, []int{rows, columns}, []int{top, left}, datatype.OrderC, elem))
	for row := range rows {
		for c := range columns {
			s.slots = append(s.slots, (top+row)*wide+left+c)
		}
	}
	return true
}

// cells are the places of the bytes of slots, from a byte on.
func (s *scattered) cells(from, size int) (all []int) {
	for _, at := range s.slots {
		for i := range size {
			all = append(all, from+at*size+i)
		}
	}
	return all
}

// spread has the elements of an operation lie apart.
func (d planner) spread(o *modelOp) {
	x, b := &o.x, o.b
	n := x.bytes()
	if x.Compare != nil || n == 0 {
		return
	}
	kind := datatype.Byte
	grid, room := 1, b.n
	if size := b.kind.Size(); x.Kind != 0 || b.role == ofOne && x.Old == nil && n%size == 0 {
		kind, grid, room = datatype.Kind(b.kind), size, b.n/size
	}
	elem := datatype.Of(kind)
	there := scatter(d.r, elem, room, n/grid, x.Src == nil && x.Kind == 0)
	y := &modelTyped{x: Typed{Code: x.Code, Kind: x.Kind, Target: x.Target, Type: there.t, Count: there.count}, cells: there.cells(b.at, grid)}
	if d.r.IntN(2) == 0 {
		y.shift = d.r.IntN(300) - min(b.at, 150)
		lb, extent := there.t.Extent()
		shifted := must(datatype.HIndexed([]int{1}, []int{-y.shift}, there.t))
		y.x.Type = must(datatype.Resized(shifted, lb-y.shift, extent))
	}
	side := func(value []byte) *modelSide {
		s := scatter(d.r, elem, n/grid+d.r.IntN(9), n/grid, x.Old == nil)
		m := &modelSide{Elements: Elements{Type: s.t, Count: s.count}}
		lo, hi, err := s.t.Span(s.count)
		if err != nil {
			panic(err)
		}
		m.Origin = max(0, -lo) + d.r.IntN(9)
		m.Mem, m.cells = bytes.Repeat([]byte{0xAA}, m.Origin+hi+d.r.IntN(9)), s.cells(m.Origin, grid)
		for i := range value {
			m.Mem[m.cells[i]] = value[i]
		}
		return m
	}
	if x.Src != nil {
		y.src = side(x.Src)
		for i, at := range y.src.cells { // an element that comes twice has one value
			o.value[i] = y.src.Mem[at]
		}
		y.x.Src = y.src.Elements
	}
	if x.Old != nil {
		y.old = side(nil)
		y.x.Old = y.old.Elements
	}
	o.typed = y
}

// gather are the bytes of the elements, if nothing between them has changed.
func (s *modelSide) gather() (b []byte, err error) {
	there := map[int]bool{}
	for _, at := range s.cells {
		b = append(b, s.Mem[at])
		there[at] = true
	}
	for at, v := range s.Mem {
		if !there[at] && v != 0xAA {
			return b, fmt.Errorf("byte %d of an origin's memory is %#x, which no element is at", at, v)
		}
	}
	return b, nil
}

// cell is where a byte of the operation lies in the part.
func (o *modelOp) cell(i int) int {
	if o.typed != nil {
		return o.typed.cells[i]
	}
	return o.place + i
}

// index is which byte of the operation lies at a place of the part, or -1.
func (o *modelOp) index(place int) int {
	if o.typed == nil {
		if i := place - o.place; i >= 0 && i < max(len(o.value), len(o.got)) {
			return i
		}
		return -1
	}
	if o.indices == nil {
		o.indices = map[int]int{}
		for i, at := range o.typed.cells {
			o.indices[at] = i
		}
	}
	if i, ok := o.indices[place]; ok {
		return i
	}
	return -1
}
