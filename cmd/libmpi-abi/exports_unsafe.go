// Command libmpi-abi is the C library libmpi_abi.so: MPI with the standard ABI (MPI-5.0
// chapter 20) on package mpi. It is built by make capi, with -buildmode=c-shared. The C files
// define the functions; what they can't answer themselves comes here, and goes on to package
// capi.
package main

// #cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -fvisibility=hidden
// #include "weft.h"
import "C"

import (
	"unsafe"

	"github.com/weft-mpi/weft/internal/capi"
)

func init() { capi.Use(unsafe.Pointer(C.weft_slots), unsafe.Pointer(&C.weft_late)) }

func main() {}

//export weft_go
func weft_go(function C.int, a *C.struct_weft_args) C.int {
	return C.int(capi.Call(int(function), capi.ArgsAt(unsafe.Pointer(a))))
}

//export weft_text
func weft_text(code C.int, out *C.char, size C.int) {
	capi.Text(int32(code), unsafe.Slice((*byte)(unsafe.Pointer(out)), int(size)))
}

//export weft_start_late
func weft_start_late() { capi.StartLate() }

//export weft_may_start
func weft_may_start(again C.int) C.int { return C.int(capi.MayStart(again != 0)) }
