package main

// #include "weft.h"
// void weft_call_op(uintptr_t f, uintptr_t in, uintptr_t inout, int64_t n, uint64_t datatype, int large);
// uintptr_t weft_raw_op(uint32_t op, uint32_t datatype);
import "C"

import "github.com/weft-mpi/weft/internal/capi"

func init() {
	capi.CallOp = func(f, in, inout uintptr, n int, datatype uint64, large bool) {
		counts := C.int(0)
		if large {
			counts = 1
		}
		C.weft_call_op(C.uintptr_t(f), C.uintptr_t(in), C.uintptr_t(inout), C.int64_t(n), C.uint64_t(datatype), counts)
	}
	capi.RawOp = func(op, datatype uint32) uintptr {
		return uintptr(C.weft_raw_op(C.uint32_t(op), C.uint32_t(datatype)))
	}
}
