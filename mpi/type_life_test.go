package mpi_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weft-mpi/weft/mpi"
)

func TestATypeHasAttributesUntilItsFree(t *testing.T) {
	d, other := get(mpi.TypeContiguous(2, mpi.TypeInt32)), get(mpi.TypeContiguous(2, mpi.TypeInt32))
	var deleted []string
	stays := true
	first := mpi.NewTypeKeyval(nil, func(of *mpi.Datatype, v string) error {
		if of != d {
			return errors.New("another type")
		}
		if _, err := mpi.TypeContiguous(1, of); err != nil {
			return err // the type can be used until the last one is deleted
		}
		deleted = append(deleted, v)
		return nil
	})
	last := mpi.NewTypeKeyval(nil, func(_ *mpi.Datatype, v int) error {
		deleted = append(deleted, fmt.Sprint(v))
		if stays {
			return errors.New("it stays")
		}
		return nil
	})
	ok(first.Set(d, "one"))
	ok(last.Set(d, 2))
	if v, is, err := first.Get(d); v != "one" || !is || err != nil {
		t.Errorf("the value is %q, %t, %v", v, is, err)
	}
	if _, is, err := first.Get(other); is || err != nil {
		t.Errorf("another type has the attribute: %v", err)
	}
	want(t, "Free with an attribute that stays", d.Free(), mpi.ErrOther)
	want(t, "Delete of it", last.Delete(d), mpi.ErrOther)
	if err := d.Commit(); err != nil || !d.Committed() {
		t.Errorf("after a Free that has failed the type can't be used: %v", err)
	}
	ok(first.Set(d, "two"))
	ok(first.Free())
	want(t, "Set with a freed key", first.Set(d, "three"), mpi.ErrKeyval)
	want(t, "a second Free of the key", first.Free(), mpi.ErrKeyval)
	stays, deleted = false, nil
	ok(d.Free())
	if !slices.Equal(deleted, []string{"two", "2"}) {
		t.Errorf("Free has deleted %q", deleted)
	}
	want(t, "a second Free", d.Free(), mpi.ErrType)
	want(t, "Set on a freed type", last.Set(d, 1), mpi.ErrType)
	want(t, "Get on a freed type", third(last.Get(d)), mpi.ErrType)
	want(t, "Delete on no type", last.Delete(nil), mpi.ErrType)
	want(t, "Get with no key", third((*mpi.TypeKeyval[int])(nil).Get(other)), mpi.ErrKeyval)
	want(t, "Free of no key", (*mpi.TypeKeyval[int])(nil).Free(), mpi.ErrKeyval)
	ok(last.Delete(other))
	ok(other.Free())
}

func third[A, B any](_ A, _ B, err error) error { return err }

// Predefined types have attributes, which all of the program shares.
func TestAPredefinedTypeHasAttributes(t *testing.T) {
	deleted := 0
	k := mpi.NewTypeKeyval(nil, func(*mpi.Datatype, int) error { deleted++; return nil })
	ok(k.Set(mpi.TypeInt32, 1))
	ok(k.Set(mpi.TypeInt32, 2))
	if v, is, err := k.Get(get(mpi.TypeOf[int32]())); v != 2 || !is || err != nil || deleted != 1 {
		t.Errorf("%d, %t, %v, and %d deleted", v, is, err, deleted)
	}
	ok(k.Delete(mpi.TypeInt32))
	if deleted != 2 {
		t.Errorf("%d deleted", deleted)
	}
}

func TestDupCopiesAttributesThatCanBeCopied(t *testing.T) {
	column := get(mpi.TypeVector(3, 1, 4, mpi.TypeInt32))
	ok(column.SetName("column"))
	type pair struct{ copied, deleted int }
	counts, fails := pair{}, false
	stay := mpi.NewTypeKeyval[string](nil, nil)
	follow := mpi.NewTypeKeyval(func(of *mpi.Datatype, v int) (int, bool, error) {
		counts.copied++
		return v + 1, of == column, nil
	}, func(*mpi.Datatype, int) error { counts.deleted++; return nil })
	refuse := mpi.NewTypeKeyval(func(_ *mpi.Datatype, v any) (any, bool, error) {
		if fails {
			return nil, false, errors.New("no copy")
		}
		return nil, true, nil
	}, nil)
	ok(stay.Set(column, "here"))
	ok(follow.Set(column, 7))
	ok(refuse.Set(column, nil))
	fresh := get(column.Dup())
	if fresh.Committed() || fresh.Name() != "" {
		t.Errorf("the duplicate of a type that is not committed is %t, named %q", fresh.Committed(), fresh.Name())
	}
	ok(column.Commit())
	dup := get(column.Dup())
	if !dup.Committed() || dup.Size() != 12 {
		t.Errorf("the duplicate of a committed type is %t, of %d bytes", dup.Committed(), dup.Size())
	}
	if v, is, err := follow.Get(dup); v != 8 || !is || err != nil || counts.copied != 2 {
		t.Errorf("the copy is %d, %t, %v after %d copies", v, is, err, counts.copied)
	}
	if _, is, err := stay.Get(dup); is || err != nil {
		t.Errorf("an attribute without a copy function is copied: %v", err)
	}
	if v, is, err := refuse.Get(dup); v != nil || !is || err != nil {
		t.Errorf("the nil is %v, %t, %v", v, is, err)
	}
	ok(dup.Free())
	fails, counts = true, pair{}
	_, err := column.Dup()
	want(t, "Dup with a copy function that fails", err, mpi.ErrOther)
	if !strings.Contains(err.Error(), "no copy") || counts != (pair{1, 1}) {
		t.Errorf("%v; %+v", err, counts)
	}
	if _, _, _, parts := fresh.Contents(); !slices.Equal(parts, []*mpi.Datatype{column}) {
		t.Errorf("the duplicate is of %v", parts)
	}
}

// While one goroutine frees a type, its attributes do not change, and no other one frees
// it.
func TestOneGoroutineFreesAType(t *testing.T) {
	d := get(mpi.TypeContiguous(2, mpi.TypeInt32))
	other := mpi.NewTypeKeyval[int](nil, nil)
	key := mpi.NewTypeKeyval(nil, func(d *mpi.Datatype, _ int) error {
		want(t, "Free in Free", d.Free(), mpi.ErrType)
		want(t, "Set in Free", other.Set(d, 1), mpi.ErrType)
		return nil
	})
	ok(key.Set(d, 1))
	ok(d.Free())

	deleted := 0
	count := mpi.NewTypeKeyval(nil, func(*mpi.Datatype, int) error { deleted++; return nil })
	d = get(mpi.TypeContiguous(2, mpi.TypeInt32))
	ok(count.Set(d, 1))
	var all sync.WaitGroup
	var freed [8]bool
	for i := range freed {
		all.Go(func() { freed[i] = d.Free() == nil })
	}
	all.Wait()
	if n := len(slices.DeleteFunc(freed[:], func(f bool) bool { return !f })); n != 1 || deleted != 1 {
		t.Errorf("%d goroutines have freed the type, %d times its attribute was deleted", n, deleted)
	}
}

func TestWhatBelongsToAllIsNotFreed(t *testing.T) {
	s := make([]int32, 4)
	for what, d := range map[string]*mpi.Datatype{
		"a predefined type": mpi.TypeInt32, "a pair": mpi.TypeDoubleInt, "a type of TypeOf": get(mpi.TypeOf[particle]()),
		"a view's": mpi.Strided(s, 2, 1, 2).Type(), "a list's": mpi.Indexed(s, []int{1}, []int{1}).Type(),
	} {
		err := d.Free()
		want(t, "Free of "+what, err, mpi.ErrType)
		if !strings.Contains(err.Error(), "belongs to all of the program") || !d.Committed() {
			t.Errorf("%s: %v", what, err)
		}
	}
	want(t, "Free of nil", (*mpi.Datatype)(nil).Free(), mpi.ErrType)
}

// Operations under way go on when the type is freed, and so do types made of it.
func TestAFreedTypeIsOutOfUse(t *testing.T) {
	onEach(t, func(t *testing.T, fabric string) {
		act(t, fabric, 2, func(w *mpi.World, c *mpi.Comm) {
			const n = 50_000
			d := get(mpi.TypeVector(n, 1, 2, mpi.TypeInt32))
			ok(d.Commit())
			pair := get(mpi.TypeContiguous(2, d))
			mine, its := upTo[int32](2*n), make([]int32, 2*n)
			in := get(c.Irecv(mpi.As(d, its, 1), 1-c.Rank(), 0))
			out := get(c.Isend(mpi.As(d, mine, 1), 1-c.Rank(), 0))
			old := mpi.As(d, mine, 1)
			ok(d.Free())
			want(t, "Send of a Buf of a freed type", c.Send(old, 1-c.Rank(), 0), mpi.ErrType)
			want(t, "Recv into it", second(c.Recv(old, 1-c.Rank(), 0)), mpi.ErrType)
			want(t, "Commit", d.Commit(), mpi.ErrType)
			want(t, "Dup", second(d.Dup()), mpi.ErrType)
			want(t, "SetName", d.SetName("x"), mpi.ErrType)
			want(t, "As", mpi.As(d, mine, 1).Err(), mpi.ErrType)
			want(t, "Memory", mpi.Memory(d, nil, 1, 0).Err(), mpi.ErrType)
			if d.Committed() {
				t.Error("a freed type is committed")
			}
			get(mpi.Wait(&in))
			get(mpi.Wait(&out))
			for i := range its {
				if got := its[i]; i%2 == 0 && got != int32(i) || i%2 == 1 && got != 0 {
					stop(fmt.Errorf("element %d is %d", i, got))
				}
			}
			ok(pair.Commit())
			if _, _, _, parts := pair.Contents(); pair.Size() != 8*n || parts[0] != d {
				t.Errorf("a type that was made of it has %d bytes, of %v", pair.Size(), parts)
			}
		})
	})
}

func TestTypesHaveNames(t *testing.T) {
	for d, name := range map[*mpi.Datatype]string{
		mpi.TypeBool: "MPI_C_BOOL", mpi.TypeInt8: "MPI_INT8_T", mpi.TypeUint8: "MPI_UINT8_T", mpi.TypeInt16: "MPI_INT16_T", mpi.TypeUint16: "MPI_UINT16_T",
		mpi.TypeInt32: "MPI_INT32_T", mpi.TypeUint32: "MPI_UINT32_T", mpi.TypeInt64: "MPI_INT64_T", mpi.TypeUint64: "MPI_UINT64_T",
		mpi.TypeFloat32: "MPI_FLOAT", mpi.TypeFloat64: "MPI_DOUBLE", mpi.TypeComplex64: "MPI_C_FLOAT_COMPLEX", mpi.TypeComplex128: "MPI_C_DOUBLE_COMPLEX",
		mpi.TypeByte: "MPI_BYTE", mpi.TypePacked: "MPI_PACKED",
		mpi.TypeFloatInt: "MPI_FLOAT_INT", mpi.TypeDoubleInt: "MPI_DOUBLE_INT", mpi.TypeLongInt: "MPI_LONG_INT", mpi.Type2Int: "MPI_2INT",
		mpi.TypeShortInt: "MPI_SHORT_INT", mpi.Type2Real: "MPI_2REAL", mpi.Type2Double: "MPI_2DOUBLE_PRECISION",
		get(mpi.TypeOf[particle]()): "mpi_test.particle",
	} {
		if d.Name() != name || d.String() != name {
			t.Errorf("the name of %s is %q, the text %q", name, d.Name(), d)
		}
	}
	d := get(mpi.TypeVector(3, 1, 4, mpi.TypeInt32))
	if d.Name() != "" || d.String() != "vector of 12 bytes, lb 0, extent 36" {
		t.Errorf("a new type has the name %q and the text %q", d.Name(), d)
	}
	ok(d.SetName("column"))
	want(t, "a long name", d.SetName(strings.Repeat("x", mpi.MaxObjectName+1)), mpi.ErrArg)
	want(t, "a name with a zero", d.SetName("a\x00"), mpi.ErrArg)
	if d.Name() != "column" || d.String() != "column" {
		t.Errorf("the name is %q, the text %q", d.Name(), d)
	}
	ok(d.SetName(""))
	if d.String() != "vector of 12 bytes, lb 0, extent 36" || (*mpi.Datatype)(nil).String() != "nil" || (*mpi.Datatype)(nil).Name() != "" {
		t.Errorf("the text is %q, that of nil %q", d, (*mpi.Datatype)(nil))
	}
}

func TestTypesOfGoTypesHaveContents(t *testing.T) {
	c, _, addrs, types := get(mpi.TypeOf[particle]()).Contents()
	if c != mpi.CombinerStruct || !slices.Equal(addrs, []int{0, 8, 40}) || len(types) != 3 || types[0] != mpi.TypeInt8 || types[2] != mpi.TypeFloat32 {
		t.Errorf("a struct is %v at %v of %v", c, addrs, types)
	}
	if c, n, _, of := types[1].Contents(); c != mpi.CombinerContiguous || n[0] != 3 || of[0] != mpi.TypeFloat64 {
		t.Errorf("an array is %v %v of %v", c, n, of)
	}
	if c, _, _, of := mpi.Strided(upTo[int32](4), 2, 1, 2).Type().Contents(); c != mpi.CombinerVector || of[0] != mpi.TypeInt32 {
		t.Errorf("a view is %v of %v", c, of)
	}
	lb, extent := (*mpi.Datatype)(nil).Extent()
	trueLb, trueExtent := (*mpi.Datatype)(nil).TrueExtent()
	if (*mpi.Datatype)(nil).Size() != mpi.Undefined || lb != mpi.Undefined || extent != mpi.Undefined || trueLb != mpi.Undefined || trueExtent != mpi.Undefined {
		t.Error("nil has a size or bounds")
	}
	if c, ints, adds, types := (*mpi.Datatype)(nil).Contents(); c != 0 || ints != nil || adds != nil || types != nil {
		t.Errorf("nil is %v", c)
	}
}

// What Contents returns is the caller's, and the lists of a constructor stay his.
func TestListsOfTypesAreCopied(t *testing.T) {
	lens, disps, types := []int{1, 2}, []int{0, 8}, []*mpi.Datatype{mpi.TypeInt32, mpi.TypeFloat64}
	d := get(mpi.TypeStruct(lens, disps, types))
	lens[0], disps[0], types[0] = math.MaxInt, -1, nil
	for range 2 {
		_, ints, addrs, of := d.Contents()
		if !slices.Equal(ints, []int{2, 1, 2}) || !slices.Equal(addrs, []int{0, 8}) || !slices.Equal(of, []*mpi.Datatype{mpi.TypeInt32, mpi.TypeFloat64}) {
			t.Errorf("the contents are %v, %v, %v", ints, addrs, of)
		}
		ints[0], addrs[0], of[0] = 9, 9, nil
	}
}
