package capi

import (
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Slots are in memory that is not Go's, as in the library.
func TestMain(m *testing.M) {
	mem, err := unix.Mmap(-1, 0, int(uintptr(kinds)*slots*unsafe.Sizeof(slot{})), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		panic(err)
	}
	Use(unsafe.Pointer(&mem[0]), unsafe.Pointer(new(lateReceives)))
	os.Exit(m.Run())
}

// newArgs is the arguments of a call, in memory that is not Go's: integers, and addresses in
// such memory.
func newArgs(t testing.TB, words ...any) *Args {
	a := (*Args)(outside(t, int(unsafe.Sizeof(Args{}))))
	for i, w := range words {
		switch w := w.(type) {
		case int:
			a.words[i] = uint64(w)
		case uint64:
			a.words[i] = w
		case unsafe.Pointer:
			a.words[i] = uint64(uintptr(w))
		default:
			t.Fatalf("argument %d is of type %T", i, w)
		}
	}
	return a
}

// outside is n bytes of memory that is not Go's, until the test ends.
func outside(t testing.TB, n int) unsafe.Pointer {
	mem, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Munmap(mem) })
	return unsafe.Pointer(&mem[0])
}
