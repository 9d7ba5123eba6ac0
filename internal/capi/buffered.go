package capi

import (
	"context"
	"reflect"
	"sync"
	"syscall"

	"github.com/weft-mpi/weft/mpi"
)

func bufferAttach(a *Args) error     { return a.attach(0, world.BufferAttach) }
func commAttachBuffer(a *Args) error { return a.attach(1, a.comm(0).BufferAttach) }

func bufferDetach(a *Args) error {
	return a.detach(0, func() ([]byte, error) { return world.BufferDetach(context.Background()) })
}

func commDetachBuffer(a *Args) error { return a.detach(1, a.comm(0).BufferDetach) }

func bufferFlush(*Args) error       { return world.BufferFlush(context.Background()) }
func commFlushBuffer(a *Args) error { return a.comm(0).BufferFlush() }

func bufferIflush(a *Args) error {
	r, err := world.BufferIflush()
	return a.setRequest(0, r, err)
}

func commIflushBuffer(a *Args) error {
	r, err := a.comm(0).BufferIflush()
	return a.setRequest(1, r, err)
}

// automatic has the memory that is attached where the program leaves that to the library
// (MPI_BUFFER_AUTOMATIC, MPI-4.1 §3.6).
var automatic struct {
	mu sync.Mutex
	at map[uintptr]bool
}

// automaticSize is the address space of such a buffer, which bounds the messages under way.
// Memory comes as it is used.
const automaticSize = 256 << 20

// attach attaches the memory of two arguments in a row, address and size.
func (a *Args) attach(i int, call func([]byte) error) error {
	n := a.count(i + 1)
	switch {
	case a.words[i] == bufferAutomatic:
		return attachAutomatic(call)
	case n < 0:
		return fail(mpi.ErrArg, "a buffer of %d bytes", n)
	case n > 0 && (a.pointer(i) == nil || n > room || a.words[i] > room):
		return fail(mpi.ErrBuffer, "the buffer of %d bytes is at an address that no memory has", n)
	}
	return call(array[byte](a, i, n))
}

func attachAutomatic(call func([]byte) error) error {
	b, err := syscall.Mmap(-1, 0, automaticSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return fail(mpi.ErrNoMem, "memory for buffered sends: %w", err)
	}
	automatic.mu.Lock()
	defer automatic.mu.Unlock()
	if err := call(b); err != nil {
		_ = syscall.Munmap(b)
		return err
	}
	if automatic.at == nil {
		automatic.at = map[uintptr]bool{}
	}
	automatic.at[addressOf(b)] = true
	return nil
}

// detach sets two arguments in a row to the address and size of what call detaches.
func (a *Args) detach(i int, call func() ([]byte, error)) error {
	p := a.handleAt(i)
	if p == nil {
		return errNull
	}
	b, err := call()
	if err != nil {
		return err
	}
	at := addressOf(b)
	automatic.mu.Lock()
	defer automatic.mu.Unlock()
	if automatic.at[at] {
		delete(automatic.at, at)
		*p = bufferAutomatic
		a.setCount(i+1, 0)
		return syscall.Munmap(b)
	}
	*p = uint64(at)
	a.setCount(i+1, len(b))
	return nil
}

func addressOf(b []byte) uintptr { return reflect.ValueOf(b).Pointer() }
