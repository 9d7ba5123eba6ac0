//go:build linux && !asan && !msan

package ccall

import (
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// weigh is the machine code of a C function: a + 2b + 4c + 8d + 16e + 32f. It
// overwrites every register that C does not keep.
var weigh = []byte{
	0x48, 0x8d, 0x04, 0x77, // lea rax, [rdi+rsi*2]
	0x48, 0x8d, 0x04, 0x90, // lea rax, [rax+rdx*4]
	0x48, 0x8d, 0x04, 0xc8, // lea rax, [rax+rcx*8]
	0x49, 0xc1, 0xe0, 0x04, // shl r8, 4
	0x4c, 0x01, 0xc0, // add rax, r8
	0x49, 0xc1, 0xe1, 0x05, // shl r9, 5
	0x4c, 0x01, 0xc8, // add rax, r9
	0x31, 0xff, 0x31, 0xf6, 0x31, 0xd2, 0x31, 0xc9, // xor edi, esi, edx, ecx
	0x45, 0x31, 0xc0, 0x45, 0x31, 0xc9, 0x45, 0x31, 0xd2, 0x45, 0x31, 0xdb, // r8 to r11
	0x66, 0x45, 0x0f, 0x76, 0xff, // pcmpeqd xmm15, xmm15
	0xc3,
}

// where answers its stack pointer after it has written 32 KB below it.
var where = []byte{
	0x48, 0x89, 0xe0, // mov rax, rsp
	0x48, 0x8d, 0xbc, 0x24, 0x00, 0x80, 0xff, 0xff, // lea rdi, [rsp-32768]
	0x48, 0xc7, 0x07, 0x01, 0x00, 0x00, 0x00, // loop: mov qword [rdi], 1
	0x48, 0x83, 0xc7, 0x08, // add rdi, 8
	0x48, 0x39, 0xe7, // cmp rdi, rsp
	0x72, 0xf0, // jb loop
	0xc3,
}

// spin counts its argument down to zero and answers 7.
var spin = []byte{
	0x48, 0xff, 0xcf, // loop: dec rdi
	0x75, 0xfb, // jnz loop
	0xb8, 0x07, 0x00, 0x00, 0x00, // mov eax, 7
	0xc3,
}

// load makes code callable and a stack for it.
func load(t *testing.T, code []byte) (fn, top uintptr) {
	t.Helper()
	m, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(m) })
	copy(m, code)
	switch err := unix.Mprotect(m, unix.PROT_READ|unix.PROT_EXEC); {
	case err == nil:
	case os.Getenv("WEFT_CI") != "":
		t.Fatal(err)
	default:
		t.Skip("this system lets no program make code: ", err)
	}
	s, err := unix.Mmap(-1, 0, 64<<10, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Munmap(s) })
	at := func(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
	return at(m), at(s) + uintptr(len(s))
}

// zeros is made of XMM15, which is zero in Go code.
//
//go:noinline
func zeros() (z [64]byte) { return z }

func TestArgumentsAndResult(t *testing.T) {
	fn, top := load(t, weigh)
	for i := range uintptr(1000) {
		if got, want := Call(fn, top, i, 1, 2, 3, 4, 5), uint64(i+2+8+24+64+160); got != want {
			t.Fatalf("%d, want %d", got, want)
		}
		if z := zeros(); z != [64]byte(make([]byte, 64)) {
			t.Fatalf("new memory holds %v behind a call", z)
		}
	}
}

func TestTheStackIsTheCallersMemory(t *testing.T) {
	fn, top := load(t, where)
	for _, odd := range []uintptr{0, 8, 15} {
		sp := uintptr(Call(fn, top-odd, 0, 0, 0, 0, 0, 0))
		if sp >= top || top-sp > 256 {
			t.Fatalf("the stack pointer is %#x, its memory ends at %#x", sp, top)
		}
		if sp%16 != 8 {
			t.Fatalf("the stack pointer %#x is not as C has it behind a call", sp)
		}
	}
}

// Collections, profiles and preemption come as signals while C runs, on its own
// stack, and at each instruction before and behind it.
func TestSignals(t *testing.T) {
	if err := pprof.StartCPUProfile(io.Discard); err == nil {
		defer pprof.StopCPUProfile()
	}
	var done atomic.Bool
	collected := make(chan int)
	go func() {
		n := 0
		for ; !done.Load(); n++ {
			runtime.GC()
		}
		collected <- n
	}()
	calls := make(chan struct{})
	for range 2 {
		fn, top := load(t, spin)
		go func() {
			var grown func(int) uint64
			grown = func(depth int) uint64 { // the goroutine's stack moves in between
				if depth > 0 {
					return grown(depth-1) + Call(fn, top, uintptr(depth), 0, 0, 0, 0, 0)
				}
				return 0
			}
			for i := range 300 {
				if got := Call(fn, top, 500_000, 0, 0, 0, 0, 0); got != 7 {
					t.Errorf("call %d answers %d", i, got)
				}
				if got := grown(i % 200); got != uint64(7*(i%200)) {
					t.Errorf("%d calls answer %d", i%200, got)
				}
			}
			calls <- struct{}{}
		}()
	}
	<-calls
	<-calls
	done.Store(true)
	if <-collected == 0 {
		t.Error("no collection came in between")
	}
}
