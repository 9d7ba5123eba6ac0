package mpi

import (
	"unsafe"

	"github.com/weft-mpi/weft/fabric"
)

// flagAt is the flag at off of memory that ranks share; it is aligned.
func flagAt(b []byte, off int) *uint64 { return (*uint64)(unsafe.Pointer(&b[off : off+8][0])) }

// aligned reports whether a flag can lie there.
func aligned(r fabric.Remote) bool { return r.Addr%8 == 0 }
