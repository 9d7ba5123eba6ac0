package mpi

import (
	"unsafe"

	"github.com/weft-mpi/weft/progress"
)

// A Request is a Handle in memory, and a Status one of package progress.
const (
	_ = uint(unsafe.Sizeof(Request{})-unsafe.Sizeof(progress.Handle{})) + uint(unsafe.Sizeof(progress.Handle{})-unsafe.Sizeof(Request{}))
	_ = uint(unsafe.Offsetof(Request{}.h))
)

var _ = Status(progress.Status{}) // the same fields in the same order

// handles is the same memory as handles of package progress, nil if rs is.
func handles(rs []Request) []progress.Handle {
	return unsafe.Slice((*progress.Handle)(unsafe.Pointer(unsafe.SliceData(rs))), len(rs))
}

// statusesOf is the same memory as statuses of package progress, nil if sts is.
func statusesOf(sts []Status) []progress.Status {
	return unsafe.Slice((*progress.Status)(unsafe.Pointer(unsafe.SliceData(sts))), len(sts))
}
