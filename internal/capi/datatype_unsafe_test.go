package capi

import (
	"math"
	"testing"
	"unsafe"

	"github.com/weft-mpi/weft/mpi"
)

const (
	intHandle        = 0x209
	charHandle       = 0x243
	longDoubleHandle = 0x220
)

// made is the handle that a constructor's call has set at its last argument.
func made(t *testing.T, constructor func(*Args) error, words ...any) uint64 {
	t.Helper()
	to := outside(t, 8)
	a := newArgs(t, append(words, to)...)
	if err := constructor(a); err != nil {
		t.Fatal(err)
	}
	return *(*uint64)(to)
}

func commit(t *testing.T, handle uint64) uint64 {
	t.Helper()
	if err := types.get(handle).t.Commit(); err != nil {
		t.Fatal(err)
	}
	return handle
}

// Memory that no process has is refused, however large the numbers are.
func TestBufsOfNoMemory(t *testing.T) {
	mem := outside(t, 64)
	huge := commit(t, made(t, typeContiguous, 1<<60, intHandle))
	apart := commit(t, made(t, typeCreateHvector, 2, 1, math.MaxInt/2, intHandle))
	behind := commit(t, made(t, typeCreateHvector, 2, 1, -(1<<46), intHandle))
	for _, c := range []struct {
		addr   any
		n      int
		handle uint64
		class  mpi.Class
	}{
		{mem, 2, intHandle, 0},
		{mem, 0, huge, 0},
		{0, 0, intHandle, 0},
		{0, 1, intHandle, mpi.ErrBuffer},
		{bufferAutomatic, 1, intHandle, mpi.ErrBuffer},
		{mem, -1, intHandle, mpi.ErrCount},
		{mem, math.MaxInt, intHandle, mpi.ErrCount},
		{mem, math.MinInt, intHandle, mpi.ErrCount},
		{mem, 1 << 46, charHandle, 0},
		{mem, 1, huge, mpi.ErrBuffer},
		{mem, 9, huge, mpi.ErrCount},
		{0, 1, huge, mpi.ErrBuffer},
		{mem, 1, apart, mpi.ErrBuffer},
		{0, 1, apart, mpi.ErrBuffer},
		{mem, 7, apart, mpi.ErrCount},
		{0, 1, behind, mpi.ErrBuffer},
		{1 << 46, 2, behind, mpi.ErrBuffer},
		{math.MaxInt, 1, intHandle, mpi.ErrBuffer},
		{-4, 4, intHandle, mpi.ErrBuffer},
		{mem, 1, uint64(datatypeNull), mpi.ErrType},
	} {
		b := newArgs(t, c.addr, c.n, c.handle).buf(0)
		if err := b.Err(); mpi.ErrorClass(err) != c.class {
			t.Errorf("%d elements of type %#x at %v: %v, not of class %v", c.n, c.handle, c.addr, err, c.class)
		}
	}
}

// A handle that has been freed is none for any call, and its slot's next one is another.
func TestStaleTypes(t *testing.T) {
	stale := made(t, typeContiguous, 1, intHandle)
	to, lists := outside(t, 64), outside(t, 64)
	*(*uint64)(to) = stale
	if err := typeFree(newArgs(t, to)); err != nil || *(*uint64)(to) != datatypeNull {
		t.Fatal(err)
	}
	if next := made(t, typeContiguous, 1, intHandle); next == stale || types.get(stale) != nil {
		t.Errorf("the handle %#x lives again: %#x", stale, next)
	}
	*(*uint64)(lists) = stale
	for name, err := range map[string]error{
		"contiguous": typeContiguous(newArgs(t, 1, stale, to)),
		"vector":     typeVector(newArgs(t, 1, 1, 1, stale, to)),
		"struct":     typeCreateStruct(newArgs(t, 1, outside(t, 8), outside(t, 8), lists, to)),
		"resized":    typeCreateResized(newArgs(t, stale, 0, 1, to)),
		"dup":        typeDup(newArgs(t, stale, to)),
		"commit":     typeCommit(newArgs(t, lists)),
		"free":       typeFree(newArgs(t, lists)),
		"envelope":   typeGetEnvelope(newArgs(t, stale, to, to, to, to)),
		"set_name":   typeSetName(newArgs(t, stale, to)),
		"buffer":     func() error { b := newArgs(t, to, 1, stale).buf(0); return b.Err() }(),
	} {
		if mpi.ErrorClass(err) != mpi.ErrType {
			t.Errorf("%s: %v, not of class %v", name, err, mpi.ErrType)
		}
	}
}

// The basic elements of what has raw ones are counted as those of a type of one kind.
func TestRawElements(t *testing.T) {
	lens, disps, parts := outside(t, 16), outside(t, 16), outside(t, 16)
	copy(unsafe.Slice((*int32)(lens), 2), []int32{3, 2})
	copy(unsafe.Slice((*int)(disps), 2), []int{0, 16})
	copy(unsafe.Slice((*uint64)(parts), 2), []uint64{intHandle, longDoubleHandle})
	mixed := types.get(made(t, typeCreateStruct, 2, lens, disps, parts)) // 3 of 4 bytes, 2 of 16
	twice := types.get(made(t, typeVector, 2, 1, 5, made(t, typeCreateStruct, 2, lens, disps, parts)))
	ends := []int{0, 4, 8, 12, 28, 44}
	for _, l := range []*layout{mixed.layout, twice.layout} {
		for n := range 23 {
			want := n/5*44 + ends[n%5]
			if bytes, ok := l.elementBytes(n); !ok || bytes != want {
				t.Errorf("%d elements have %d bytes, not %d", n, bytes, want)
			}
			if got := l.elements(want); got != n {
				t.Errorf("%d bytes have %d elements, not %d", want, got, n)
			}
			if got := l.elements(want + 1); got != mpi.Undefined {
				t.Errorf("%d bytes have %d elements, not a whole number", want+1, got)
			}
		}
	}
}
