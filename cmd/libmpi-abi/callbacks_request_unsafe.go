package main

// #include <stdint.h>
// int weft_call_query(uintptr_t function, uintptr_t extra, void *status);
// int weft_call_free(uintptr_t function, uintptr_t extra);
// int weft_call_cancel(uintptr_t function, uintptr_t extra, int complete);
import "C"

import (
	"unsafe"

	"github.com/weft-mpi/weft/internal/capi"
)

func init() {
	capi.CallQuery = func(function, extra uintptr, status unsafe.Pointer) int32 {
		return int32(C.weft_call_query(C.uintptr_t(function), C.uintptr_t(extra), status))
	}
	capi.CallFree = func(function, extra uintptr) int32 {
		return int32(C.weft_call_free(C.uintptr_t(function), C.uintptr_t(extra)))
	}
	capi.CallCancel = func(function, extra uintptr, complete bool) int32 {
		var is C.int
		if complete {
			is = 1
		}
		return int32(C.weft_call_cancel(C.uintptr_t(function), C.uintptr_t(extra), is))
	}
}

//export weft_whole_request
func weft_whole_request(low C.uint32_t) C.uint64_t {
	return C.uint64_t(capi.WholeRequest(uint32(low)))
}
