package datatype

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// entry is an element of the naive typemap, or a marker.
type entry struct {
	kind Kind
	disp int
}

const (
	lbMarker Kind = 200
	ubMarker Kind = 201
)

// naive is MPI's definition of a datatype: a list. It is the model.
type naive []entry

// at is a copy of the list further on.
func (m naive) at(disp int) naive {
	r := make(naive, len(m))
	for i, e := range m {
		r[i] = entry{e.kind, e.disp + disp}
	}
	return r
}

// block is n copies, one extent apart.
func (m naive) block(n, disp int) (r naive) {
	lb, ub := m.bounds()
	for i := range n {
		r = append(r, m.at(disp+i*(ub-lb))...)
	}
	return r
}

// data is the list without markers, with pairs as their two parts.
func (m naive) data() (r naive) {
	for _, e := range m {
		switch {
		case e.kind >= lbMarker:
		case traits[e.kind].pair:
			a, b, disp, _ := e.kind.Pair()
			r = append(r, entry{a, e.disp}, entry{b, e.disp + disp})
		default:
			r = append(r, e)
		}
	}
	return r
}

func (m naive) trueBounds() (lb, ub int) {
	for i, e := range m.data() {
		if i == 0 {
			lb, ub = e.disp, e.disp+e.kind.Size()
		}
		lb, ub = min(lb, e.disp), max(ub, e.disp+e.kind.Size())
	}
	return lb, ub
}

// bounds is the definition of MPI-4.0 §5.1.7.
func (m naive) bounds() (lb, ub int) {
	lb, ub = m.trueBounds()
	var lbSet, ubSet bool
	align := 1
	for _, e := range m {
		switch {
		case e.kind == lbMarker && (!lbSet || e.disp < lb):
			lb, lbSet = e.disp, true
		case e.kind == ubMarker && (!ubSet || e.disp > ub):
			ub, ubSet = e.disp, true
		case e.kind < lbMarker:
			align = max(align, traits[e.kind].align)
		}
	}
	for ; !ubSet && (ub-lb)%align != 0; ub++ {
	}
	return lb, ub
}

// predefinedMap is the list of a predefined type. That of a pair has no markers:
// its extent is a multiple of its alignment.
func predefinedMap(k Kind) naive { return naive{{k, 0}} }

// tree is a random type, its list, and its text for testdata/pack.c.
type tree struct {
	t    *Type
	m    naive
	text string
}

// mostEntries bounds the list of a random type.
const mostEntries = 300

// draws is where random types come from.
type draws struct {
	*rapid.T
	least int // of counts and lengths of blocks
	grain int // of displacements in bytes
}

func wild(rt *rapid.T) draws { return draws{rt, 0, 1} }

// tame draws what C MPIs get right: without empty parts and steps backwards, and
// aligned.
func tame(rt *rapid.T) draws { return draws{rt, 1, 16} }

// bytes draws a displacement.
func (d draws) bytes(name string) int {
	n := 100 / d.grain
	return rapid.IntRange(-n, n).Draw(d.T, name) * d.grain
}

// drawTree draws a type of at most depth constructors above each predefined one.
func drawTree(rt draws, depth int) tree {
	if depth == 0 || rapid.IntRange(0, 5).Draw(rt.T, "leaf") == 0 {
		k := Kind(rapid.IntRange(int(Bool), int(TwoInt)+1).Draw(rt.T, "kind"))
		return tree{Of(k), predefinedMap(k), " " + k.String()}
	}
	old := drawTree(rt, depth-1)
	r := drawOver(rt, depth, old)
	if len(r.m) > mostEntries || rt.least > r.t.Size() {
		return old
	}
	if err := r.t.Commit(); err != nil {
		rt.Fatal(err)
	}
	return r
}

func drawOver(rt draws, depth int, old tree) tree {
	lb, ub := old.m.bounds()
	extent := ub - lb
	most := min(5, 1+mostEntries/max(1, len(old.m)))
	small := rapid.IntRange(rt.least, most)
	signed := rapid.IntRange(-6+7*rt.least, 6)
	switch op := rapid.IntRange(0, 11).Draw(rt.T, "constructor"); op {
	case 0:
		n := small.Draw(rt.T, "count")
		t, err := Contiguous(n, old.t)
		return made(rt, t, err, old.m.block(n, 0), "contiguous", []int{n}, old)
	case 1, 2:
		n, blen, stride, unit, name := small.Draw(rt.T, "count"), small.Draw(rt.T, "blocklen"), signed.Draw(rt.T, "stride"), extent, "vector"
		var t *Type
		var err error
		if op == 1 {
			t, err = Vector(n, blen, stride, old.t)
		} else {
			stride, unit, name = rt.bytes("stride"), 1, "hvector"
			t, err = HVector(n, blen, stride, old.t)
		}
		var m naive
		for i := range n {
			m = append(m, old.m.block(blen, i*stride*unit)...)
		}
		return made(rt, t, err, m, name, []int{n, blen, stride}, old)
	case 3, 4, 5, 6:
		return drawIndexed(rt, op, old, extent)
	case 7:
		return drawStruct(rt, depth, old)
	case 8, 9:
		return drawArray(rt, op == 9, old, extent)
	case 10:
		lb, extent := rt.bytes("lb"), rt.bytes("extent")
		t, err := Resized(old.t, lb, extent)
		m := append(naive{{lbMarker, lb}}, old.m.withoutMarkers()...)
		return made(rt, t, err, append(m, entry{ubMarker, lb + extent}), "resized", []int{lb, extent}, old)
	default:
		t, err := Dup(old.t)
		return made(rt, t, err, old.m, "dup", nil, old)
	}
}

func (m naive) withoutMarkers() (r naive) {
	for _, e := range m {
		if e.kind < lbMarker {
			r = append(r, e)
		}
	}
	return r
}

func made(rt draws, t *Type, err error, m naive, name string, ints []int, olds ...tree) tree {
	if err != nil {
		rt.Fatalf("%s %v: %v", name, ints, err)
	}
	return tree{t, m, text(name, ints, olds...)}
}

func text(name string, ints []int, olds ...tree) string {
	var b strings.Builder
	fmt.Fprintf(&b, " %s", name)
	for _, i := range ints {
		fmt.Fprintf(&b, " %d", i)
	}
	for _, o := range olds {
		b.WriteString(o.text)
	}
	return b.String()
}

func drawIndexed(rt draws, op int, old tree, extent int) tree {
	n := rapid.IntRange(rt.least, 5).Draw(rt.T, "blocks")
	lens, disps := make([]int, n), make([]int, n)
	unit, same := extent, op >= 5
	if op == 4 || op == 6 {
		unit = 1
	}
	blen := rapid.IntRange(rt.least, 3).Draw(rt.T, "blocklen")
	var m naive
	for i := range n {
		lens[i] = blen
		if !same {
			lens[i] = rapid.IntRange(rt.least, 3).Draw(rt.T, "len")
		}
		disps[i] = rapid.IntRange(-8, 8).Draw(rt.T, "disp")
		if unit == 1 {
			disps[i] = rt.bytes("disp")
		}
		m = append(m, old.m.block(lens[i], disps[i]*unit)...)
	}
	var t *Type
	var err error
	switch op {
	case 3:
		t, err = Indexed(lens, disps, old.t)
	case 4:
		t, err = HIndexed(lens, disps, old.t)
	case 5:
		t, err = IndexedBlock(blen, disps, old.t)
	case 6:
		t, err = HIndexedBlock(blen, disps, old.t)
	}
	name := []string{"indexed", "hindexed", "indexed_block", "hindexed_block"}[op-3]
	if same {
		return made(rt, t, err, m, name, append([]int{n, blen}, disps...), old)
	}
	return made(rt, t, err, m, name, append(append([]int{n}, lens...), disps...), old)
}

func drawStruct(rt draws, depth int, old tree) tree {
	n := rapid.IntRange(rt.least, 4).Draw(rt.T, "fields")
	lens, disps, types, olds := make([]int, n), make([]int, n), make([]*Type, n), make([]tree, n)
	var m naive
	for i := range n {
		olds[i] = old
		if i > 0 {
			olds[i] = drawTree(rt, depth-1)
		}
		lens[i], types[i] = rapid.IntRange(rt.least, 3).Draw(rt.T, "len"), olds[i].t
		disps[i] = rt.bytes("disp")
		m = append(m, olds[i].m.block(lens[i], disps[i])...)
	}
	t, err := Struct(lens, disps, types)
	return made(rt, t, err, m, "struct", append(append([]int{n}, lens...), disps...), olds...)
}

func TestRandomTypesAreWhatTheirListsSay(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tr := drawTree(wild(rt), 4)
		size := 0
		for _, e := range tr.m.data() {
			size += e.kind.Size()
		}
		if got := tr.t.Size(); got != size {
			rt.Fatalf("the size is %d, not %d:%s", got, size, tr.text)
		}
		lb, ub := tr.m.bounds()
		if l, e := tr.t.Extent(); l != lb || e != ub-lb {
			rt.Fatalf("lb and extent are %d and %d, not %d and %d:%s", l, e, lb, ub-lb, tr.text)
		}
		lo, hi := tr.m.trueBounds()
		if l, e := tr.t.TrueExtent(); l != lo || e != hi-lo {
			rt.Fatalf("true lb and extent are %d and %d, not %d and %d:%s", l, e, lo, hi-lo, tr.text)
		}
		if got := tr.t.Basics(); got != len(tr.m.data()) {
			rt.Fatalf("there are %d basic elements, not %d:%s", got, len(tr.m.data()), tr.text)
		}
		align := 1
		for _, e := range tr.m.data() {
			align = max(align, traits[e.kind].align)
		}
		if got := tr.t.Align(); got != align {
			rt.Fatalf("the alignment is %d, not %d:%s", got, align, tr.text)
		}
		var sole Kind
		for i, e := range tr.m.withoutMarkers() {
			if i == 0 {
				sole = e.kind
			} else if e.kind != sole {
				sole = 0
			}
		}
		if k, ok := tr.t.Kind(); k != sole || ok != (sole != 0) {
			rt.Fatalf("the kind of all elements is %v, %v, not %v:%s", k, ok, sole, tr.text)
		}
	})
}
