package main

// #include "weft.h"
// void weft_call_op(uintptr_t f, void *in, void *inout, int64_t at, int64_t n, uint64_t datatype, int large);
// uintptr_t weft_raw_op(uint32_t op, uint32_t datatype);
import "C"

import (
	"unsafe"

	"github.com/weft-mpi/weft/internal/capi"
)

func init() {
	capi.CallOp = func(f uintptr, in, inout []byte, at, n int, datatype uint64, large bool) {
		counts := C.int(0)
		if large {
			counts = 1
		}
		lower, upper := unsafe.Pointer(unsafe.SliceData(in)), unsafe.Pointer(unsafe.SliceData(inout))
		C.weft_call_op(C.uintptr_t(f), lower, upper, C.int64_t(at), C.int64_t(n), C.uint64_t(datatype), counts)
	}
	capi.RawOp = func(op, datatype uint32) uintptr {
		return uintptr(C.weft_raw_op(C.uint32_t(op), C.uint32_t(datatype)))
	}
}
