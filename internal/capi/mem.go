package capi

import "github.com/weft-mpi/weft/mpi"

// allocMem is MPI_Alloc_mem. Memory of no bytes has an address too, which freeMem takes. It
// begins at a page, which is more than the hint mpi_minimum_memory_alignment asks for.
func allocMem(a *Args) error {
	n := a.count(0)
	if n < 0 {
		return fail(mpi.ErrSize, "%d bytes of memory: ask for 0 or more", n)
	}
	b, err := mpi.Alloc[byte](max(n, 1))
	if err == nil {
		a.setAint(2, startOf(b))
	}
	return err
}

// freeMem is MPI_Free_mem.
func freeMem(a *Args) error { return mpi.Free(bytesAt(a.words[0], 1)) }

// bytes is as many bytes of the program's memory as argument size says.
func (a *Args) bytes(addr, size int) ([]byte, error) {
	switch n := a.count(size); {
	case n < 0:
		return nil, fail(mpi.ErrSize, "the memory has %d bytes: give 0 or more", n)
	case n > 0 && a.pointer(addr) == nil:
		return nil, fail(mpi.ErrArg, "no program has memory at %#x", a.words[addr])
	case n > 0 && (n > room || a.words[addr] > room):
		return nil, fail(mpi.ErrSize, "no memory has %d bytes from %#x on", n, a.words[addr])
	default:
		return bytesAt(a.words[addr], n), nil
	}
}
