package shm

import (
	"testing"
	"unsafe"
)

func at(b []byte, i int) uintptr { return uintptr(unsafe.Pointer(&b[i])) }

func TestAnAllocationIsFoundByAddress(t *testing.T) {
	a, err := Alloc(10000)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Alloc(100)
	if err != nil {
		t.Fatal(err)
	}
	start, size, serial, ok := Allocation(at(a, 9999))
	if !ok || start != at(a, 0) || size < 10000 {
		t.Errorf("found %#x of %d bytes, %t; want %#x", start, size, ok, at(a, 0))
	}
	if s, _, other, ok := Allocation(at(b, 0)); !ok || s != at(b, 0) || other == serial {
		t.Errorf("the other: %#x, serial %d and %d, %t", s, other, serial, ok)
	}
	heap := new([64]byte)
	if _, _, _, ok := Allocation(at(heap[:], 0)); ok {
		t.Error("memory of the heap is found")
	}
	var freed []uintptr
	cancel := OnFree(func(start uintptr) {
		freed = append(freed, start)
		Allocation(start) // takes the locks that a hook may
	})
	first := at(a, 0)
	if err := Free(a); err != nil {
		t.Fatal(err)
	}
	if len(freed) != 1 || freed[0] != first {
		t.Errorf("told of %x, want %x", freed, first)
	}
	if _, _, _, ok := Allocation(first); ok {
		t.Error("what is freed is found")
	}
	cancel()
	c, err := Alloc(10000)
	if err != nil {
		t.Fatal(err)
	}
	if s, _, again, ok := Allocation(at(c, 5)); !ok || s == first && again == serial {
		t.Errorf("memory at the same place has serial %d again, %t", again, ok)
	}
	if Free(c) != nil || Free(b) != nil || len(freed) != 1 {
		t.Errorf("told of %x after the end", freed)
	}
}
