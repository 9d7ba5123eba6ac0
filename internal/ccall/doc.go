// Package ccall calls C functions that return at once, in a few instructions
// where cgo takes some fifty nanoseconds to tell the scheduler of a call and of
// its return.
//
// The scheduler is not told: the processor (P) stays with the call, and a
// collection waits for its end. So a function called this way must neither wait
// nor call back into Go; what it takes should be microseconds. It runs on memory
// that the caller gives as its stack, since a goroutine's is too small for C.
// Signals are taken on the stacks of the Go runtime, as everywhere, but those
// that end the program, a fault in the function or SIGQUIT, may do so without
// the stacks of the goroutines. A profile has the time as runtime._ExternalCode.
//
// It exists on amd64 under Linux only, see Available.
package ccall
