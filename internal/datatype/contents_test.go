package datatype

import (
	"bytes"
	"slices"
	"testing"

	_ "github.com/weft-mpi/weft/internal/testkit/tier"
	"pgregory.net/rapid"
)

// rebuild makes a type from what Contents says of another one.
func rebuild(t *Type) (*Type, error) { return rebuilder{}.rebuild(t) }

// rebuilder remembers what it has made: types that were used twice are again.
type rebuilder map[*Type]*Type

func (r rebuilder) rebuild(t *Type) (again *Type, err error) {
	if again, ok := r[t]; ok {
		return again, nil
	}
	defer func() { r[t] = again }()
	c, i, a, types := t.Contents()
	for n, old := range types {
		if types[n], err = r.rebuild(old); err != nil {
			return nil, err
		}
	}
	// next takes n integers.
	next := func(n int) (list []int) {
		list, i = i[:n], i[n:]
		return list
	}
	switch c {
	case CombinerDup:
		return Dup(types[0])
	case CombinerContiguous:
		return Contiguous(i[0], types[0])
	case CombinerVector:
		return Vector(i[0], i[1], i[2], types[0])
	case CombinerHVector:
		return HVector(i[0], i[1], a[0], types[0])
	case CombinerIndexed:
		return Indexed(i[1:1+i[0]], i[1+i[0]:], types[0])
	case CombinerHIndexed:
		return HIndexed(i[1:], a, types[0])
	case CombinerIndexedBlock:
		return IndexedBlock(i[1], i[2:], types[0])
	case CombinerHIndexedBlock:
		return HIndexedBlock(i[1], a, types[0])
	case CombinerStruct:
		return Struct(i[1:], a, types)
	case CombinerResized:
		return Resized(types[0], a[0], a[1])
	case CombinerSubarray:
		n := next(1)[0]
		return Subarray(next(n), next(n), next(n), Order(next(1)[0]), types[0])
	case CombinerDarray:
		size, rank, n := next(1)[0], next(1)[0], next(1)[0]
		gsizes, dists := next(n), make([]Dist, n)
		for d, v := range next(n) {
			dists[d] = Dist(v)
		}
		return Darray(size, rank, gsizes, dists, next(n), next(n), Order(next(1)[0]), types[0])
	}
	return t, nil // CombinerNamed
}

func TestContentsMakeTheSameTypeAgain(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawSample(rt)
		again, err := rebuild(s.t)
		if err != nil {
			rt.Fatalf("%v:%s", err, s.text)
		}
		if !bytes.Equal(again.Encode(nil), s.t.Encode(nil)) || again.Sig(3) != s.t.Sig(3) {
			rt.Fatalf("%v again is %v:%s", s.t, again, s.text)
		}
		c, i, a, d := s.t.Contents()
		if ec, ei, ea, ed := s.t.Envelope(); ec != c || ei != len(i) || ea != len(a) || ed != len(d) {
			rt.Fatalf("the envelope says %v, %d, %d, %d of %v, %v, %v, %v", ec, ei, ea, ed, c, i, a, d)
		}
	})
}

// The order of arguments is MPI's (MPI-4.0 §5.1.13).
func TestContentsAreTheArgumentsInMPIsOrder(t *testing.T) {
	f := Of(Float64)
	sub := must(Subarray([]int{4, 5}, []int{2, 3}, []int{1, 0}, OrderFortran, f))
	for _, c := range []struct {
		t          *Type
		combiner   Combiner
		ints, adds []int
		types      []*Type
	}{
		{f, CombinerNamed, nil, nil, nil},
		{must(Dup(f)), CombinerDup, nil, nil, []*Type{f}},
		{must(Contiguous(3, f)), CombinerContiguous, []int{3}, nil, []*Type{f}},
		{must(Vector(3, 2, -4, f)), CombinerVector, []int{3, 2, -4}, nil, []*Type{f}},
		{must(HVector(3, 2, 40, f)), CombinerHVector, []int{3, 2}, []int{40}, []*Type{f}},
		{must(Indexed([]int{1, 0}, []int{5, 6}, f)), CombinerIndexed, []int{2, 1, 0, 5, 6}, nil, []*Type{f}},
		{must(HIndexed([]int{1, 0}, []int{5, 6}, f)), CombinerHIndexed, []int{2, 1, 0}, []int{5, 6}, []*Type{f}},
		{must(IndexedBlock(7, []int{8, 16}, f)), CombinerIndexedBlock, []int{2, 7, 8, 16}, nil, []*Type{f}},
		{must(HIndexedBlock(7, []int{8, 99}, f)), CombinerHIndexedBlock, []int{2, 7}, []int{8, 99}, []*Type{f}},
		{must(Struct([]int{1, 2}, []int{0, 9}, []*Type{f, sub})), CombinerStruct, []int{2, 1, 2}, []int{0, 9}, []*Type{f, sub}},
		{must(Resized(f, -8, 24)), CombinerResized, nil, []int{-8, 24}, []*Type{f}},
		{sub, CombinerSubarray, []int{2, 4, 5, 2, 3, 1, 0, 15}, nil, []*Type{f}},
		{must(Darray(6, 4, []int{9, 8}, []Dist{DistributeCyclic, DistributeBlock}, []int{2, DistributeDfltDarg}, []int{3, 2}, OrderC, f)),
			CombinerDarray, []int{6, 4, 2, 9, 8, 18, 17, 2, -1, 3, 2, 12}, nil, []*Type{f}},
	} {
		combiner, ints, adds, types := c.t.Contents()
		if combiner != c.combiner || !slices.Equal(ints, c.ints) || !slices.Equal(adds, c.adds) || !slices.Equal(types, c.types) {
			t.Errorf("contents are %v, %v, %v, %v; want %v, %v, %v, %v", combiner, ints, adds, types, c.combiner, c.ints, c.adds, c.types)
		}
	}
}

func TestATypeKeepsNothingOfItsCallersLists(t *testing.T) {
	lens, disps, types := []int{1, 2}, []int{0, 100}, []*Type{Of(Int32), Of(Float64)}
	one := must(Struct(lens, disps, types))
	two := must(HIndexed(lens, disps, Of(Int16)))
	before, before2 := one.Encode(nil), two.Encode(nil)
	_, i, a, d := one.Contents()
	for _, list := range [][]int{lens, disps, i, a} {
		list[1] = 77
	}
	types[1], d[0] = nil, nil
	again, again2 := mustRebuild(t, one), mustRebuild(t, two)
	if !bytes.Equal(again.Encode(nil), before) || !bytes.Equal(again2.Encode(nil), before2) {
		t.Error("a type changed with a list of the caller's")
	}
}

func mustRebuild(t *testing.T, old *Type) *Type {
	again, err := rebuild(old)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

func TestADuplicateIsCommittedIfTheOldTypeIs(t *testing.T) {
	old, err := Contiguous(2, Of(Int8))
	if err != nil {
		t.Fatal(err)
	}
	before, err := Dup(old)
	if err != nil || before.Committed() {
		t.Errorf("the duplicate of a type that is not committed is: %v, %v", before.Committed(), err)
	}
	after := must(Dup(must(old, nil)))
	if !after.Committed() || before.Committed() {
		t.Errorf("committed: the later duplicate %v, the earlier %v", after.Committed(), before.Committed())
	}
}
